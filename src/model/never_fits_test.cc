#include "model/never_fits.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30U;

Machine machine_of(const std::vector<std::pair<std::uint32_t, std::int64_t>>& shapes) {
  Machine machine;
  for (const auto& [processors, memory] : shapes) {
    machine.nodes.push_back({"n" + std::to_string(machine.nodes.size()), processors, memory, {}});
    machine.processors += processors;
  }
  return machine;
}

JobSpec asks(std::uint32_t processors, std::uint32_t nodes = 0, std::int64_t memory = 0) {
  JobSpec spec;
  spec.processors = processors;
  spec.nodes = nodes;
  spec.memory = memory;
  return spec;
}

JobSpec with_accelerators(JobSpec spec, std::uint8_t count, AcceleratorTypeId type = {}) {
  spec.accelerators = count;
  spec.accelerator_type = type;
  return spec;
}

TEST(NeverFits, tells_a_job_that_has_no_room_on_an_empty_machine) {
  const Machine machine = machine_of({{4, 8 * kGiB}, {8, 16 * kGiB}});
  EXPECT_FALSE(never_fits(machine, asks(12)));
  EXPECT_TRUE(never_fits(machine, asks(13)));
  EXPECT_FALSE(never_fits(machine, asks(8, 2)));
  EXPECT_FALSE(never_fits(machine, asks(9, 2))) << "five on the larger one, four on the other";
  EXPECT_TRUE(never_fits(machine, asks(10, 2)));
  EXPECT_TRUE(never_fits(machine, asks(9, 0, 9 * kGiB)));
  EXPECT_TRUE(never_fits(machine, asks(1, 0, 17 * kGiB)));
}

TEST(NeverFits, says_which_quantity_is_too_much_and_the_largest_that_fits) {
  Machine machine = machine_of({{4, 8 * kGiB}, {8, 16 * kGiB}});
  const auto why = [&](const JobSpec& spec) { return never_fits(machine, spec).value_or("it fits"); };
  EXPECT_EQ(why(asks(1, 0, 17 * kGiB)),
            "asks for 17G of memory on each of its nodes; the largest node of the cluster has 16G");
  EXPECT_EQ(
      why(asks(9, 0, 9 * kGiB)),
      "asks for 9 processors on nodes with 9G each; the cluster has 1 such node with 8 processors in all, and with "
      "8 it would fit");
  EXPECT_EQ(why(asks(9, 1)), "asks for 9 processors on one node; the largest node of the cluster has 8");
  EXPECT_EQ(why(asks(3, 3)), "asks for 3 nodes; the cluster has 2");
  EXPECT_EQ(why(asks(12, 2)),
            "asks for 12 processors on 2 nodes; the cluster has 12 processors in all, and with 9 it would fit");
  machine.partitions.resize(1);
  machine.partitions[0] = {.name = "short", .nodes = {NodeId{0}}, .processors = 4, .max_time = seconds(7200)};
  machine.nodes[0].partitions = {PartitionId{0}};
  JobSpec spec = asks(5);
  spec.partition = PartitionId{0};
  spec.limit = seconds(7200);
  EXPECT_EQ(why(spec), "asks for 5 processors; partition short has 4 processors in all, and with 4 it would fit");
  spec.limit = seconds(9000);
  EXPECT_EQ(why(spec), "asks for a time limit of 02:30:00; partition short allows 02:00:00");
}

TEST(NeverFits, knows_which_nodes_a_job_cannot_do_without) {
  const Machine machine = machine_of({{4, 8 * kGiB}, {8, 16 * kGiB}});
  const auto without_the_larger = [](NodeId node) { return node == NodeId{0}; };
  EXPECT_TRUE(fits_when_empty(machine, asks(4), without_the_larger));
  EXPECT_FALSE(fits_when_empty(machine, asks(5), without_the_larger));
  EXPECT_FALSE(fits_when_empty(machine, asks(1, 0, 9 * kGiB), without_the_larger));
  EXPECT_FALSE(may_serve(machine, asks(1, 0, 9 * kGiB), NodeId{0}));
  EXPECT_TRUE(may_serve(machine, asks(1, 0, 9 * kGiB), NodeId{1}));
}

TEST(NeverFits, tells_a_job_that_wishes_for_nodes_that_are_not_there) {
  Machine machine = machine_of({{4, 0}, {4, 0}, {4, 0}});
  machine.features = {"avx512", "rack1"};
  for (std::uint32_t n = 0; n < 3; ++n) machine.nodes[n].features = n;
  const auto why = [&](std::uint32_t processors, std::uint32_t nodes, NodeWish wish) {
    JobSpec spec = asks(processors, nodes);
    spec.node_wish = std::make_shared<const NodeWish>(std::move(wish));
    return never_fits(machine, spec).value_or("it fits");
  };
  const auto with = [](std::vector<std::uint64_t> features) { return NodeWish{std::move(features), {}, {}}; };
  EXPECT_EQ(why(4, 0, with({1})), "it fits");
  EXPECT_EQ(why(8, 0, with({1, 2})), "it fits");
  EXPECT_EQ(why(1, 0, with({3})), "asks for a node with avx512 and rack1; the cluster has none")
      << "each of them some node has";
  EXPECT_EQ(why(3, 3, with({1, 2})), "asks for 3 nodes with avx512, or rack1; the cluster has 2");
  EXPECT_EQ(why(5, 0, with({1})),
            "asks for 5 processors on nodes with avx512; the cluster has 1 such node with 4 processors in all, and "
            "with 4 it would fit");
  EXPECT_EQ(why(1, 2, with({1})), "asks for 1 processor and 2 nodes, and each node gives one at least");
  const std::vector<NodeId> first{NodeId{0}}, all{NodeId{0}, NodeId{1}, NodeId{2}};
  EXPECT_EQ(why(4, 1, {{}, first, {}}), "it fits");
  EXPECT_EQ(why(4, 1, {{1}, first, {}}), "asks for node n0, which has not the features that it asks for");
  EXPECT_EQ(why(4, 1, {{}, first, first}), "asks for node n0, which it does not want either");
  EXPECT_EQ(why(4, 0, {{}, {}, all}), "asks for a node other than n[0-2]; the cluster has none");
  EXPECT_EQ(why(10, 1, {{}, first, {}}), "asks for 10 processors on one node; the largest node of the cluster has 4");
  machine.nodes[0].processors = 0;
  EXPECT_EQ(why(4, 1, {{}, first, {}}), "asks for node n0, which has gone");
}

TEST(NeverFits, tells_a_job_that_asks_for_more_accelerators_than_there_are) {
  Machine machine = machine_of({{4, 0}, {4, 0}, {4, 0}});
  machine.accelerator_types = {"gpu", "fpga"};
  for (std::size_t i = 0; i < 3; ++i) {
    machine.nodes[i].accelerators = i == 0 ? 2 : i == 1 ? 4 : 1;
    machine.nodes[i].accelerator_type = AcceleratorTypeId{static_cast<std::uint8_t>(i == 2 ? 1 : 0)};
  }
  const auto why = [&](const JobSpec& spec) { return never_fits(machine, spec).value_or("it fits"); };
  EXPECT_EQ(why(with_accelerators(asks(1), 4)), "it fits");
  EXPECT_EQ(why(with_accelerators(asks(1), 5)),
            "asks for 5 accelerators on each of its nodes; no node of the cluster has so many");
  EXPECT_EQ(why(with_accelerators(asks(3, 3), 2)),
            "asks for 2 accelerators on each of 3 nodes; 2 nodes of the cluster have so many");
  EXPECT_EQ(why(with_accelerators(asks(1), 2, AcceleratorTypeId{1})),
            "asks for 2 accelerators of type fpga on each of its nodes; no node of the cluster has so many");
  EXPECT_EQ(
      why(with_accelerators(asks(9), 2)),
      "asks for 9 processors on nodes with 2 accelerators each; the cluster has 2 such nodes with 8 processors in "
      "all, and with 8 it would fit")
      << "nine processors are not on the two nodes that have two";
  machine.partitions.resize(1);
  machine.partitions[0].name = "old";
  machine.partitions[0].nodes = {NodeId{0}};
  machine.partitions[0].processors = 4;
  machine.nodes[0].partitions = {PartitionId{0}};
  JobSpec spec = with_accelerators(asks(1), 3);
  spec.partition = PartitionId{0};
  EXPECT_EQ(why(spec), "asks for 3 accelerators on each of its nodes; no node of partition old has so many");
}

}  // namespace
}  // namespace rota
