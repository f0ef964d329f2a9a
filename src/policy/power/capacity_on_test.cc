#include "policy/power/capacity_on.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

// Two small nodes and a large one with memory; the second and the third are in partition 1.
Machine three_nodes() {
  Machine machine = Machine::counted(0);
  machine.partitions.resize(2);
  const auto add = [&](std::uint32_t processors, std::int64_t memory, std::vector<PartitionId> in) {
    Node& node = machine.nodes.emplace_back();
    node.processors = processors;
    node.memory = memory;
    node.partitions = std::move(in);
  };
  add(2, 8, {PartitionId{0}});
  add(2, 8, {PartitionId{0}, PartitionId{1}});
  add(4, 32, {PartitionId{0}, PartitionId{1}});
  return machine;
}

JobSpec asks(std::uint32_t processors, std::uint32_t nodes, std::int64_t memory, std::uint32_t partition) {
  JobSpec spec;
  spec.processors = processors;
  spec.nodes = nodes;
  spec.memory = memory;
  spec.partition = PartitionId{partition};
  return spec;
}

constexpr NodeId kFirst{0};
constexpr NodeId kSecond{1};
constexpr NodeId kLarge{2};

TEST(CapacityOn, lacks_a_node_for_the_smallest_job_of_each_partition) {
  const Machine machine = three_nodes();
  CapacityOn capacity(machine);
  EXPECT_TRUE(capacity.lacks(kFirst));
  capacity.change_on(kFirst, 1);
  EXPECT_FALSE(capacity.lacks(kFirst));
  EXPECT_TRUE(capacity.lacks(kSecond));  // of partition 1
  capacity.change_on(kSecond, 1);
  EXPECT_FALSE(capacity.lacks(kLarge));
  EXPECT_FALSE(capacity.needs(kFirst));
  EXPECT_TRUE(capacity.needs(kSecond));
}

TEST(CapacityOn, a_job_needs_nodes_with_its_accelerators) {
  Machine machine = three_nodes();
  machine.nodes[1].accelerators = 2;
  machine.nodes[1].accelerator_type = AcceleratorTypeId{0};
  machine.nodes[2].accelerators = 1;
  machine.nodes[2].accelerator_type = AcceleratorTypeId{1};
  CapacityOn capacity(machine);
  capacity.change_on(kFirst, 1);
  capacity.change_on(kLarge, 1);
  EXPECT_FALSE(capacity.lacks(kSecond));
  JobSpec any = asks(1, 0, 0, 0);
  any.accelerators = 1;
  capacity.need(any);
  EXPECT_FALSE(capacity.lacks(kSecond)) << "the large one has one too";
  EXPECT_TRUE(capacity.needs(kLarge));
  JobSpec two = any;
  two.accelerators = 2;
  capacity.need(two);
  EXPECT_TRUE(capacity.lacks(kSecond));
  capacity.change_on(kSecond, 1);
  EXPECT_TRUE(capacity.needs(kSecond));
  EXPECT_FALSE(capacity.needs(kFirst));
  JobSpec of_a_type = any;
  of_a_type.accelerator_type = AcceleratorTypeId{1};
  capacity.need(of_a_type);
  EXPECT_TRUE(capacity.needs(kLarge)) << "the second has another type";
}

TEST(CapacityOn, a_job_needs_nodes_with_its_memory) {
  const Machine machine = three_nodes();
  CapacityOn capacity(machine);
  capacity.need(asks(1, 0, 20, 0));
  capacity.change_on(kFirst, 1);
  capacity.change_on(kSecond, 1);
  EXPECT_TRUE(capacity.lacks(kLarge));
  capacity.change_on(kLarge, 1);
  EXPECT_TRUE(capacity.needs(kLarge));
  EXPECT_FALSE(capacity.needs(kFirst));
}

TEST(CapacityOn, a_job_needs_nodes_as_it_wishes_them) {
  Machine machine = three_nodes();
  machine.features = {"ib"};
  machine.nodes[1].features = 1;
  CapacityOn capacity(machine);
  capacity.change_on(kLarge, 1);
  EXPECT_FALSE(capacity.lacks(kSecond));
  JobSpec with_ib = asks(1, 0, 0, 0);
  with_ib.node_wish = std::make_shared<const NodeWish>(NodeWish{{1}, {}, {}});
  capacity.need(with_ib);
  EXPECT_TRUE(capacity.lacks(kSecond));
  EXPECT_FALSE(capacity.lacks(kFirst));
  JobSpec by_name = asks(1, 1, 0, 0);
  by_name.node_wish = std::make_shared<const NodeWish>(NodeWish{{}, {kFirst}, {}});
  capacity.need(by_name);
  EXPECT_TRUE(capacity.lacks(kFirst));
  capacity.change_on(kFirst, 1);
  capacity.change_on(kSecond, 1);
  EXPECT_TRUE(capacity.needs(kFirst));
  EXPECT_TRUE(capacity.needs(kSecond));
  JobSpec later = asks(2, 1, 0, 0);  // of a demand that is told once nodes are on
  later.node_wish = std::make_shared<const NodeWish>(NodeWish{{}, {}, {kFirst, kSecond}});
  capacity.need(later);
  EXPECT_FALSE(capacity.lacks(kLarge));
}

TEST(CapacityOn, a_job_of_several_nodes_needs_its_share_on_each) {
  const Machine machine = three_nodes();
  CapacityOn capacity(machine);
  capacity.need(asks(5, 2, 0, 0));  // 3 and 2
  capacity.change_on(kFirst, 1);
  capacity.change_on(kSecond, 1);
  EXPECT_TRUE(capacity.lacks(kLarge));
  capacity.change_on(kLarge, 1);
  EXPECT_TRUE(capacity.needs(kLarge));
  EXPECT_FALSE(capacity.needs(kFirst));
  capacity.change_on(kFirst, -1);
  EXPECT_TRUE(capacity.needs(kSecond));
}

TEST(CapacityOn, a_job_of_any_spread_needs_processors) {
  const Machine machine = three_nodes();
  CapacityOn capacity(machine);
  capacity.need(asks(6, 0, 0, 1));
  capacity.change_on(kFirst, 1);
  capacity.change_on(kLarge, 1);
  EXPECT_TRUE(capacity.lacks(kSecond));
  EXPECT_FALSE(capacity.needs(kFirst));
}

// Each of two jobs fits on the machine, but nothing would give both their shares at once: nothing is asked beyond what
// there is.
TEST(CapacityOn, wants_no_more_than_there_is) {
  const Machine machine = three_nodes();
  CapacityOn capacity(machine);
  capacity.need(asks(6, 3, 0, 0));
  capacity.need(asks(5, 2, 0, 0));
  for (const NodeId node : {kFirst, kSecond, kLarge}) capacity.change_on(node, 1);
  EXPECT_FALSE(capacity.lacks(kFirst));
  EXPECT_TRUE(capacity.needs(kFirst));
}

}  // namespace
}  // namespace rota
