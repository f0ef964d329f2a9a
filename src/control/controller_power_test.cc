// What an operator orders of nodes by hand.
#include <gtest/gtest.h>

#include "control/desk_test.h"

namespace rota {
namespace {

DeskOptions on_two_nodes(Durable* durable = nullptr) {
  Machine machine;
  for (const char* name : {"n0", "n1"}) {
    Node node;
    node.name = name;
    node.processors = 2;
    node.power.boot = seconds(20);
    node.power.shutdown = seconds(5);
    machine.nodes.push_back(std::move(node));
    machine.processors += 2;
  }
  DeskOptions options;
  options.machine = std::make_shared<const Machine>(std::move(machine));
  options.durable = durable;
  return options;
}

std::string order(Desk& desk, std::uint32_t node, bool on) {
  const auto done = desk.controller().order_power(NodeId{node}, on);
  return done ? std::string() : done.error().message;
}

TEST(PowerByHand, AnOrderIsAFactAndACommandUnderItsNumber) {
  Desk desk("easy", on_two_nodes());
  EXPECT_EQ(order(desk, 1, false), "");
  EXPECT_EQ(desk.view().power().state(NodeId{1}), PowerState::shutting_down);
  EXPECT_FALSE(desk.view().nodes().available(NodeId{1}));
  EXPECT_EQ(desk.decide(), "");
  ASSERT_EQ(desk.engine().commands.size(), 1U);
  const Command& sleep = desk.engine().commands.front();
  EXPECT_EQ(sleep.kind, Command::Kind::power_off);
  EXPECT_EQ(sleep.node, NodeId{1});
  const auto& facts = desk.log().facts;
  const auto by = std::ranges::find(facts, sleep.key, &Fact::sequence);
  ASSERT_NE(by, facts.end());
  EXPECT_EQ(std::get<PowerOrdered>(by->what).node, NodeId{1});
  EXPECT_EQ(desk.tell_and_decide(PowerChanged{NodeId{1}, PowerState::off, sleep.key}), "");
  EXPECT_EQ(order(desk, 1, true), "");
  EXPECT_EQ(desk.decide(), "");
  ASSERT_EQ(desk.engine().commands.size(), 2U);
  EXPECT_EQ(desk.engine().commands.back().kind, Command::Kind::power_on);
  EXPECT_EQ(desk.view().power().state(NodeId{1}), PowerState::booting);
}

TEST(PowerByHand, JobsWaitForTheNodeAndStartOnceItIsOn) {
  Desk desk("easy", on_two_nodes());
  EXPECT_EQ(order(desk, 0, false), "");
  EXPECT_EQ(order(desk, 1, false), "");
  const JobId job = desk.run(4, 10);
  EXPECT_TRUE(desk.waits(job));
  for (const std::uint32_t node : {0U, 1U})
    EXPECT_EQ(desk.tell_and_decide(PowerChanged{NodeId{node}, PowerState::off, 0}), "");
  for (const std::uint32_t node : {0U, 1U}) EXPECT_EQ(order(desk, node, true), "");
  EXPECT_TRUE(desk.waits(job));
  EXPECT_EQ(desk.tell_and_decide(PowerChanged{NodeId{0}, PowerState::on, 0}), "");
  EXPECT_TRUE(desk.waits(job)) << "half of it is not there yet";
  EXPECT_EQ(desk.tell_and_decide(PowerChanged{NodeId{1}, PowerState::on, 0}), "");
  EXPECT_TRUE(desk.runs(job));
}

TEST(PowerByHand, WhatCannotBeIsRefusedAndCounted) {
  Desk desk("easy", on_two_nodes());
  const std::string on_already = "node n0 is to wake, and it is not off; nothing was changed.";
  EXPECT_EQ(order(desk, 0, true), on_already);
  EXPECT_EQ(order(desk, 2, true),
            "something is said of the node with id 2, and the cluster has 2 described nodes; nothing was changed.");
  desk.run(1, 10);
  const std::string busy = "node n0 is to go to sleep, and it is not on, or jobs run there; nothing was changed.";
  EXPECT_EQ(order(desk, 0, false), busy);
  EXPECT_EQ(desk.controller().objection_to_power(NodeId{0}, false), busy);
  EXPECT_EQ(desk.controller().objection_to_power(NodeId{1}, false), std::nullopt);
  EXPECT_EQ(order(desk, 1, false), "");
  EXPECT_NE(order(desk, 1, false), "") << "it is on its way";
  EXPECT_NE(order(desk, 1, true), "") << "and is not off yet";
  EXPECT_EQ(desk.controller().refusals(), 5);
  EXPECT_EQ(desk.log().refusals.size(), 5U);
  EXPECT_EQ(desk.decide(), "");
  std::size_t switched = 0;
  for (const Command& command : desk.engine().commands) switched += command.kind == Command::Kind::power_off ? 1U : 0U;
  EXPECT_EQ(switched, 1U);
}

struct FullDisk final : Durable {
  Result<void> commit() override { return fail("the disk is full."); }
};

TEST(PowerByHand, NothingIsSwitchedBeforeItIsWrittenDown) {
  FullDisk disk;
  Desk desk("easy", on_two_nodes(&disk));
  EXPECT_EQ(order(desk, 1, false), "");
  EXPECT_EQ(desk.decide(), "the disk is full.");
  EXPECT_TRUE(desk.engine().commands.empty());
}

// A policy without a rule for power takes over a state in which one node sleeps by the rule before, and one is on its
// way.
TEST(PowerAfterAPolicy, ANodeThatSleepsByItsRuleIsWokenAsSoonAsCanBe) {
  Desk before("easy+power=idle-timeout+power-idle=1s", on_two_nodes());
  const JobId job = before.run(4, 10);
  before.at(10);
  EXPECT_EQ(before.tell_and_decide(Finished{job}), "");
  before.at(11);
  ASSERT_TRUE(before.ring());
  EXPECT_EQ(before.tell_and_decide(PowerChanged{NodeId{1}, PowerState::off, 0}), "");
  ASSERT_EQ(before.view().power().state(NodeId{0}), PowerState::shutting_down);
  Desk after("easy", on_two_nodes());
  after.at(11);
  for (const Fact& fact : before.controller().snapshot()) ASSERT_TRUE(after.controller().replay(fact));
  ASSERT_TRUE(after.controller().resume());
  EXPECT_EQ(after.view().power().state(NodeId{1}), PowerState::booting);
  EXPECT_EQ(after.view().power().state(NodeId{0}), PowerState::shutting_down);
  EXPECT_EQ(after.tell_and_decide(PowerChanged{NodeId{0}, PowerState::off, 0}), "");
  EXPECT_EQ(after.view().power().state(NodeId{0}), PowerState::booting) << "nobody waits, and it is woken all the same";
}

}  // namespace
}  // namespace rota
