#include "policy/power/always_on.h"

#include <gtest/gtest.h>

#include "model/world_test.h"
#include "policy/chain.h"

namespace rota {
namespace {

constexpr NodeId kFirst{0};
constexpr NodeId kSecond{1};

class AlwaysOnTest : public testing::Test {
 protected:
  AlwaysOnTest() {
    for (const char* name : {"n0", "n1"}) {
      Node node;
      node.name = name;
      node.processors = 2;
      node.power.boot = seconds(20);
      node.power.boot_retry = seconds(60);
      machine_.nodes.push_back(node);
      machine_.processors += 2;
    }
    ClusterOptions options;
    options.processors = machine_.processors;
    options.machine = &machine_;
    world_.emplace(options);
  }

  void sleeps(NodeId node, Rule by) {
    world_->fold(PowerOrdered{node, false, world_->cluster().now(), {by, {}, kNever, 0, 0}});
    world_->fold(PowerChanged{node, PowerState::off});
  }
  // The nodes that are woken now.
  std::vector<NodeId> woken(const char* policy = "easy") {
    Plan plan;
    plan.open(world_->cluster());
    Chain::parse(policy)->decide(world_->cluster(), plan);
    std::vector<NodeId> nodes;
    for (const Action& action : plan.actions()) {
      EXPECT_EQ(action.kind, ActionKind::power_on);
      EXPECT_EQ(action.reason.rule, Rule::rule_is_gone);
      nodes.push_back(action.node);
    }
    return nodes;
  }
  Instant next() { return Chain::parse("easy")->next_wakeup(world_->cluster()); }

  Machine machine_;
  std::optional<World> world_;
};

TEST_F(AlwaysOnTest, NoNodeIsWokenWhereNoNodeSleeps) {
  EXPECT_EQ(woken(), std::vector<NodeId>{});
  EXPECT_EQ(next(), kNever);
}

TEST_F(AlwaysOnTest, ANodeSentToSleepByARuleIsWokenAndOneByAnOperatorIsNot) {
  sleeps(kFirst, Rule::head_fits);  // as an operator orders it
  sleeps(kSecond, Rule::idle_for_long);
  EXPECT_EQ(woken(), std::vector{kSecond});
  EXPECT_EQ(woken("fcfs"), std::vector{kSecond}) << "the plain mode, too";
  EXPECT_EQ(woken("easy+power=idle-timeout"), std::vector<NodeId>{}) << "it wakes who is wanted";
}

TEST_F(AlwaysOnTest, ANodeThatWasOnSinceIsNotWoken) {
  sleeps(kFirst, Rule::load_is_low);
  world_->fold(PowerChanged{kFirst, PowerState::on});
  world_->fold(PowerChanged{kFirst, PowerState::off});
  EXPECT_EQ(woken(), std::vector<NodeId>{});
}

TEST_F(AlwaysOnTest, OneThatDoesNotBootIsTriedAgain) {
  sleeps(kFirst, Rule::idle_for_long);
  world_->fold(PowerOrdered{kFirst, true, at_seconds(20), {}});
  EXPECT_EQ(woken(), std::vector<NodeId>{}) << "it boots";
  world_->at(20);
  world_->fold(PowerChanged{kFirst, PowerState::off});
  EXPECT_EQ(woken(), std::vector<NodeId>{});
  EXPECT_EQ(next(), at_seconds(80));
  world_->at(80);
  EXPECT_EQ(woken(), std::vector{kFirst});
}

}  // namespace
}  // namespace rota
