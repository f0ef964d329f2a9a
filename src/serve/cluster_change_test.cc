#include "serve/cluster_change.h"

#include <gtest/gtest.h>

#include "model/snapshot.h"

namespace rota::serve {
namespace {

Node node_of(const std::string& name, std::uint32_t processors, std::int64_t memory = 0) {
  Node node;
  node.name = name;
  node.processors = processors;
  node.memory = memory;
  return node;
}

Machine of(std::vector<Node> nodes) {
  Machine machine;
  machine.nodes = std::move(nodes);
  for (const Node& node : machine.nodes) machine.processors += node.processors;
  return machine;
}

ClusterOptions options_of(const Machine& machine) {
  ClusterOptions options;
  options.processors = machine.processors;
  options.machine = &machine;
  return options;
}

ClusterChange change(const Machine& before, const Machine& now) {
  return cluster_change(Cluster(options_of(before)), now);
}

// Two nodes, a job on the second one.
class OneRuns : public testing::Test {
 protected:
  OneRuns() {
    JobSpec spec;
    spec.number = 1;
    spec.processors = 3;
    spec.limit = seconds(100);
    state_.fold(kEpoch, 1, Submitted{JobId{0}, spec, spec.limit});
    state_.fold(kEpoch, 2, Started{.job = JobId{0}, .where = {.shares = {{NodeId{1}, 3}}}});
  }
  Result<StateUnderFile> under(const Machine& file) {
    return under_file(options_of(file), Snapshot::facts_of(state_), cluster_change(state_, file));
  }

  Machine machine_ = of({node_of("a", 4), node_of("b", 4)});
  Cluster state_{options_of(machine_)};
};

TEST(ClusterChangeTest, FewerLicencesAreRefusedWithWhatToDo) {
  Machine before, now;
  before.licences = {{.name = "solver", .count = 4}};
  now.licences = {{.name = "solver", .count = 2}};
  EXPECT_EQ(
      change(before, now).refused,
      "licence solver has 2 instead of 4: what runs, or ran, may hold more than that; leave 4 in the file, and have "
      "a `licence_command` say how many there are, as with \"echo solver 2 0\"");
  EXPECT_EQ(change(now, before).taken, "licence solver has 4 instead of 2");
}

TEST(ClusterChangeTest, NodesAreKnownByNameWhateverTheirPlaces) {
  const Machine before = of({node_of("a", 4), node_of("b", 4)});
  const ClusterChange same = change(before, of({node_of("b", 4), node_of("a", 4)}));
  EXPECT_EQ(same.refused + same.taken, "");
  EXPECT_TRUE(same.nodes.empty());
  ASSERT_TRUE(same.stand) << "the file has them in another order";
  EXPECT_EQ(same.stand->nodes[0].name, "a");
  const ClusterChange other = change(before, of({node_of("c", 2), node_of("b", 8)}));
  EXPECT_EQ(other.taken, "node b has 8 processors instead of 4, a is gone, c is new");
  ASSERT_EQ(other.nodes.size(), 3U);
  EXPECT_EQ(other.nodes[2].node, NodeId{2}) << "the next id";
  EXPECT_TRUE(other.less);
}

TEST(ClusterChangeTest, FeaturesAreKnownByName) {
  Machine before = of({node_of("a", 4), node_of("b", 4)});
  before.features = {"ib", "avx512"};
  before.nodes[0].features = 1;
  Machine now = of({node_of("a", 4), node_of("b", 4)});
  now.features = {"large", "ib"};
  now.nodes[0].features = 2;
  now.nodes[1].features = 3;
  const ClusterChange other = change(before, now);
  EXPECT_EQ(other.refused, "");
  EXPECT_EQ(other.taken, "node b has other features");
  ASSERT_TRUE(other.stand);
  EXPECT_EQ(other.stand->features, (std::vector<std::string>{"ib", "avx512", "large"}));
  ASSERT_EQ(other.nodes.size(), 1U);
  EXPECT_EQ(other.nodes[0].is.features, 0b101U);
  const auto under = under_file(options_of(now), Snapshot::facts_of(Cluster(options_of(before))), other);
  ASSERT_TRUE(under) << under.error().message;
  EXPECT_EQ(under->machine->nodes[1].features, 0b101U);
  EXPECT_EQ(under->machine->features.size(), 3U) << "jobs may ask for the one that has gone";
  for (int i = 0; i < 63; ++i) now.features.push_back("f" + std::to_string(i));
  EXPECT_EQ(change(before, now).refused,
            "with those that there were nodes have more than 64 features, which are the most");
}

TEST_F(OneRuns, WhatAJobHoldsIsNotTakenFromUnderIt) {
  EXPECT_EQ(cluster_change(state_, of({node_of("a", 4)})).refused,
            "node b is gone: leave it in the file and take it out of use by `rota nodes down b --reason gone`");
  EXPECT_EQ(cluster_change(state_, of({node_of("a", 4), node_of("b", 2)})).refused,
            "node b has 2 processors instead of 4: what runs there holds more than that");
  EXPECT_EQ(cluster_change(state_, of({node_of("a", 4), node_of("b", 4, 1'000)})).refused,
            "node b tells its memory where it did not, or no longer does");
  EXPECT_EQ(cluster_change(state_, of({node_of("b", 3)})).taken, "node b has 3 processors instead of 4, a is gone");
}

TEST_F(OneRuns, AcceleratorsThatAJobHoldsKeepTheirNumbers) {
  for (Node& node : machine_.nodes) node.accelerators = 1;
  machine_.accelerator_types = {""};
  for (Node& node : machine_.nodes) node.accelerator_type = AcceleratorTypeId{0};
  Cluster state(options_of(machine_));
  JobSpec spec;
  spec.number = 1;
  spec.processors = spec.nodes = spec.accelerators = 1;
  spec.limit = seconds(100);
  state.fold(kEpoch, 1, Submitted{JobId{0}, spec, spec.limit});
  state.fold(kEpoch, 2, Started{.job = JobId{0}, .where = {.shares = {{NodeId{1}, 1}}, .per_node = spec.per_node()}});
  Machine file = machine_;
  file.nodes[0].accelerators = 2;
  EXPECT_EQ(cluster_change(state, file).refused,
            "the accelerators of node b would have other numbers, as those of a node before it are more or fewer, and "
            "jobs hold some: let these jobs end first");
  file.nodes[0].accelerators = 1;
  file.nodes[1].accelerators = 2;
  EXPECT_EQ(cluster_change(state, file).refused, "") << "of its own node";
  file.nodes.erase(file.nodes.begin());
  EXPECT_NE(cluster_change(state, file).refused, "") << "a node before it is gone";
}

TEST_F(OneRuns, AFileThatIsTakenGivesAStateThatOpensUnderItAndHasNothingLeftToTake) {
  const Machine file = of({node_of("c", 2), node_of("b", 3)});
  auto under = this->under(file);
  ASSERT_TRUE(under) << under.error().message;
  Cluster again(options_of(file));
  for (const Fact& fact : under->facts) {
    ASSERT_EQ(again.objection(fact).value_or(""), "");
    again.fold(fact);
  }
  const ClusterChange left = cluster_change(again, file);
  EXPECT_EQ(left.refused + left.taken, "");
  EXPECT_TRUE(left.nodes.empty());
  EXPECT_EQ(again.options().processors, 5);
  EXPECT_EQ(again.nodes().free_on(NodeId{1}), 0) << "b, where the job runs";
  EXPECT_EQ(again.nodes().free_on(NodeId{2}), 2) << "c";
  EXPECT_EQ(again.power().health(NodeId{0}), Health::down) << "a, which has gone";
}

TEST_F(OneRuns, ANodeThatComesBackIsUp) {
  auto gone = under(of({node_of("b", 4)}));
  ASSERT_TRUE(gone) << gone.error().message;
  const Machine without = of({node_of("b", 4)});
  Cluster state(options_of(without));
  for (const Fact& fact : gone->facts) state.fold(fact);
  const ClusterChange back = cluster_change(state, machine_);
  EXPECT_EQ(back.taken, "a is new");
  auto under = under_file(options_of(machine_), Snapshot::facts_of(state), back);
  ASSERT_TRUE(under) << under.error().message;
  Cluster after(options_of(machine_));
  for (const Fact& fact : under->facts) after.fold(fact);
  EXPECT_EQ(after.power().health(NodeId{0}), Health::up);
  EXPECT_EQ(after.nodes().free_on(NodeId{0}), 4);
}

TEST_F(OneRuns, WhatAJobNeedsThatWaitsIsNotTaken) {
  JobSpec wide;
  wide.number = 2;
  wide.processors = 8;
  wide.limit = seconds(100);
  state_.fold(kEpoch, 3, Submitted{JobId{1}, wide, wide.limit});
  const auto under = this->under(of({node_of("b", 4)}));
  ASSERT_FALSE(under);
  EXPECT_NE(under.error().message.find("job 2 "), std::string::npos) << under.error().message;
  EXPECT_NE(under.error().message.find("let it end, and change the file then"), std::string::npos);
}

}  // namespace
}  // namespace rota::serve
