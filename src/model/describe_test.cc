// Nodes that come, change and go: what facts make of the machine, and what a snapshot keeps of it.
#include "model/describe.h"

#include <gtest/gtest.h>

#include <string>

#include "model/fact_text_test.h"
#include "model/snapshot.h"
#include "model/world_test.h"

namespace rota {
namespace {

Node node_of(const std::string& name, std::uint32_t processors) {
  Node node;
  node.name = name;
  node.processors = processors;
  return node;
}

Machine two_nodes() {
  Machine machine;
  machine.nodes = {node_of("a", 4), node_of("b", 4)};
  machine.processors = 8;
  return machine;
}

ClusterOptions options_of(const Machine& machine) {
  ClusterOptions options;
  options.processors = machine.processors;
  options.machine = &machine;
  return options;
}

MachineKept many_nodes(std::uint32_t count) {
  MachineKept kept;
  for (std::uint32_t n = 0; n < count; ++n) kept.nodes.push_back(node_of("n" + std::to_string(n), 2));
  return kept;
}

std::string state_of(const Cluster& cluster) { return text_of_all(Snapshot::facts_of(cluster)); }

void take_over(const Cluster& from, Cluster& into) {
  for (const Fact& fact : Snapshot::facts_of(from)) {
    ASSERT_EQ(into.objection(fact).value_or(""), "");
    into.fold(fact);
  }
}

TEST(DescribedNodes, HoweverManyAreKeptIndexesAreMadeOnce) {
  constexpr std::uint32_t kNodes = 10'000;
  const Machine machine = two_nodes();
  Cluster before(options_of(machine));
  before.fold({kEpoch, 1, many_nodes(kNodes), Duration{0}});
  Described changed{NodeId{7}, node_of("n7", 3)};
  fold(before, changed);
  Cluster after(options_of(machine));
  take_over(before, after);
  EXPECT_EQ(after.nodes().descriptions(), 1U);
  EXPECT_EQ(after.nodes().size(), kNodes);
  EXPECT_EQ(after.options().processors, std::int64_t{2} * kNodes + 1);
  EXPECT_EQ(difference(state_of(before), state_of(after)), "");
}

TEST(DescribedNodes, ASnapshotKeepsWhatHasGoneAndWhatCameWithTheirIds) {
  const Machine machine = two_nodes();
  Cluster before(options_of(machine));
  fold(before, Described{NodeId{0}, node_of("a", 0)});
  fold(before, Described{NodeId{2}, node_of("c", 6)});
  const Machine in_another_order = [] {
    Machine file;
    file.nodes = {node_of("c", 6), node_of("b", 4)};
    file.processors = 10;
    return file;
  }();
  Cluster after(options_of(in_another_order));
  take_over(before, after);
  ASSERT_EQ(after.nodes().size(), 3U);
  EXPECT_TRUE(after.options().machine->nodes[0].has_gone());
  EXPECT_EQ(after.power().health(NodeId{0}), Health::down);
  EXPECT_EQ(after.options().machine->nodes[2].name, "c");
  EXPECT_EQ(after.nodes().free_on(NodeId{2}), 6);
  EXPECT_EQ(difference(state_of(before), state_of(after)), "");
}

// What a binding was made for may go; a snapshot that kept it could not be read.
TEST(DescribedNodes, BindingsThatCannotBeAnyMoreAreOver) {
  const auto with_accelerator = [](std::uint32_t count) {
    Node node = node_of("b", 4);
    node.accelerators = count;
    return node;
  };
  Machine machine = two_nodes();
  machine.nodes[1] = with_accelerator(1);
  Cluster before(options_of(machine));
  fold(before, Bound{NodeId{0}, NodeId{1}});
  fold(before, Described{NodeId{1}, with_accelerator(2)});
  EXPECT_EQ(before.bindings().all().size(), 1U);
  fold(before, Described{NodeId{1}, with_accelerator(0)});
  EXPECT_EQ(before.bindings().all().size(), 1U) << "a container may run there";
  Node gone = with_accelerator(0);
  gone.processors = 0;
  fold(before, Described{NodeId{1}, gone});
  EXPECT_TRUE(before.bindings().all().empty());
  Cluster after(options_of(machine));
  take_over(before, after);
  EXPECT_EQ(difference(state_of(before), state_of(after)), "");
}

TEST(DescribedNodes, RowsThatCannotBeAreNotTaken) {
  const Machine machine = two_nodes();
  const auto objection = [&](const MachineKept& kept) {
    return Cluster(options_of(machine)).objection(kept).value_or("");
  };
  EXPECT_EQ(objection(many_nodes(3)), "");
  EXPECT_NE(objection({}), "") << "none at all";
  EXPECT_NE(objection({{node_of("a", 1), node_of("a", 1)}}), "") << "a name twice";
  EXPECT_NE(objection({{node_of("", 1)}}), "");
  MachineKept other = many_nodes(1);
  other.nodes[0].partitions = {PartitionId{0}};
  EXPECT_NE(objection(other), "") << "there is no partition";
  other = many_nodes(1);
  other.nodes[0].accelerator_type = AcceleratorTypeId{0};
  EXPECT_NE(objection(other), "") << "nor a type";
  other.accelerator_types = {"gpu"};
  EXPECT_EQ(objection(other), "");
  Cluster used(options_of(machine));
  submit(used, JobSpec{});
  EXPECT_NE(used.objection(many_nodes(3)).value_or(""), "") << "something has happened";
}

}  // namespace
}  // namespace rota
