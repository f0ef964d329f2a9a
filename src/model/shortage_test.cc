#include "model/shortage.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "model/world_test.h"

namespace rota {
namespace {

// Two nodes of 4 processors with two accelerators each in partition gpu, two without in main.
Machine machine() {
  Machine machine;
  machine.processors = 16;
  machine.accelerator_types = {"a100"};
  machine.features = {"ib"};
  machine.licences = {{"matlab", 3}};
  for (const char* name : {"n1", "n2", "g1", "g2"}) {
    Node node;
    node.name = name;
    node.processors = 4;
    node.memory = std::int64_t{8} << 30;
    node.partitions = {PartitionId{*name == 'g' ? 1U : 0U}};
    if (*name == 'g') {
      node.accelerators = 2;
      node.accelerator_type = AcceleratorTypeId{0};
    }
    node.features = node.name == "n2" ? 1 : 0;
    machine.nodes.push_back(node);
  }
  Partition main, gpu;
  main.name = "main";
  main.nodes = {NodeId{0}, NodeId{1}};
  gpu.name = "gpu";
  gpu.nodes = {NodeId{2}, NodeId{3}};
  main.processors = gpu.processors = 8;
  machine.partitions = {main, gpu};
  return machine;
}

class Shortage : public testing::Test {
 protected:
  Shortage() : cluster_(options()) {}

  ClusterOptions options() {
    ClusterOptions options;
    options.processors = machine_.processors;
    options.machine = &machine_;
    return options;
  }
  JobSpec asking(std::uint32_t processors, std::uint32_t nodes, std::uint32_t partition) {
    JobSpec spec;
    spec.number = ++numbers_;
    spec.processors = processors;
    spec.nodes = nodes;
    spec.partition = PartitionId{partition};
    return spec;
  }
  void run(const JobSpec& spec) {
    const JobId id = submit(cluster_, spec);
    Placement where;
    ASSERT_TRUE(cluster_.nodes().find(spec, where));
    where.per_node = spec.per_node();
    copy_licences(spec, where);
    fold(cluster_, Started{id, false, where});
  }

  Machine machine_ = machine();
  std::int64_t numbers_ = 0;
  Cluster cluster_;
};

TEST_F(Shortage, TellsAllThatAJobAsksFor) {
  JobSpec spec = asking(4, 2, 1);
  spec.memory = std::int64_t{2} << 30;
  spec.accelerators = 1;
  spec.accelerator_type = AcceleratorTypeId{0};
  spec.licence = LicenceId{0};
  spec.licences = 2;
  EXPECT_EQ(asked_text(&machine_, spec), fmt::format("4 processors on 2 nodes with {} of memory and 1 accelerator of "
                                                     "type a100 on each node in partition gpu and 2 licences of matlab",
                                                     format_size(spec.memory)));
  EXPECT_EQ(asked_text(nullptr, JobSpec{}), "1 processor");
}

TEST_F(Shortage, SaysThatAcceleratorsLackAndNotProcessors) {
  JobSpec both = asking(1, 1, 1);
  both.accelerators = 2;
  run(both);
  JobSpec spec = asking(2, 2, 1);
  spec.accelerators = 1;
  EXPECT_EQ(lacking(cluster_, spec),
            "2 processors (7 were free in partition gpu, but only 1 node had 1 accelerator free)");
  run(both);
  EXPECT_EQ(shortage(cluster_, spec, false), "6 are free now in partition gpu, but no node has 1 accelerator free");
}

TEST_F(Shortage, CountsOnNodesAsTheJobWishesThem) {
  JobSpec spec = asking(2, 0, 0);
  spec.node_wish = std::make_shared<const NodeWish>(NodeWish{{1}, {}, {}});
  EXPECT_EQ(asked_text(&machine_, spec), "2 processors on nodes with ib in partition main");
  run(spec);
  spec.processors = 3;
  EXPECT_EQ(lacking(cluster_, spec), "3 processors (2 were free in partition main on nodes with ib)");
}

TEST_F(Shortage, CountsWholeNodesOfThePartition) {
  run(asking(1, 1, 0));
  EXPECT_EQ(lacking(cluster_, asking(8, 2, 0)), "2 whole nodes (1 was free in partition main)");
  EXPECT_EQ(lacking(cluster_, asking(8, 2, 1)), "") << "these are free";
}

TEST_F(Shortage, NamesTheLicencesAndTheJobsThatHoldThem) {
  JobSpec holder = asking(1, 1, 0);
  holder.licence = LicenceId{0};
  holder.licences = 2;
  run(holder);
  JobSpec spec = asking(1, 1, 1);
  spec.licence = LicenceId{0};
  spec.licences = 2;
  EXPECT_EQ(lacking(cluster_, spec), "2 licences of matlab (1 was free)");
  EXPECT_EQ(licence_shortage(cluster_, spec, [](JobId id) { return "J" + std::to_string(id.value); }),
            "It needs 2 of the licence matlab, of which 1 is free: job J0 holds 2.");
}

}  // namespace
}  // namespace rota
