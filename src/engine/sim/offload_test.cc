#include "engine/sim/offload.h"

#include <gtest/gtest.h>

namespace rota::sim {
namespace {

// 4 nodes in one rack, the first `accelerators` of which have one; 10 s on a CPU, 1 s on an accelerator.
Offload application(Bind bind, std::size_t accelerators, std::uint32_t tasks = 40) {
  Offload offload;
  offload.bind = bind;
  offload.tasks = tasks;
  offload.times = {seconds(10), seconds(1)};
  offload.nodes.resize(4, {.rack = RackId{0}});
  for (std::size_t i = 0; i < accelerators; ++i) offload.nodes[i].speeds = {kUnitSpeed};
  return offload;
}

OffloadOutcome outcome_of(const Offload& offload) {
  auto outcome = run_offload(offload);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome.value_or(OffloadOutcome{});
}

using Counts = std::vector<std::uint32_t>;

TEST(Offload, without_binding_every_cpu_computes_its_part) {
  const OffloadOutcome outcome = outcome_of(application(Bind::none, 2));
  EXPECT_EQ(outcome.makespan, seconds(100));
  EXPECT_EQ(outcome.on_cpu, (Counts{10, 10, 10, 10}));
}

TEST(Offload, a_third_accelerator_is_no_use_to_node_binding_and_some_to_containers) {
  EXPECT_EQ(outcome_of(application(Bind::node, 2)).makespan, seconds(20));
  EXPECT_EQ(outcome_of(application(Bind::node, 3)).makespan, seconds(20));
  EXPECT_EQ(outcome_of(application(Bind::container, 3)).makespan, seconds(14));
  EXPECT_EQ(outcome_of(application(Bind::container, 3)).in_container, (Counts{14, 13, 13}));
}

TEST(Offload, start_up_comes_before_the_first_task) {
  Offload offload = application(Bind::node, 4);
  offload.start_up = seconds(40);
  EXPECT_EQ(outcome_of(offload).makespan, seconds(50));
  offload.tasks = 0;
  EXPECT_EQ(outcome_of(offload).makespan, seconds(40));
}

TEST(Offload, transfers_hide_behind_computing_and_show_without_overlap) {
  Offload offload = application(Bind::node, 4);
  offload.transfer = 50;
  offload.bandwidth = 100;
  EXPECT_EQ(outcome_of(offload).makespan, Duration{500 + 10 * 1000 + 500});
  offload.pipeline.overlap = false;
  EXPECT_EQ(outcome_of(offload).makespan, seconds(20));
}

TEST(Offload, late_binding_lets_idle_cpus_help) {
  const OffloadOutcome outcome = outcome_of(application(Bind::late, 2));
  EXPECT_EQ(outcome.makespan, seconds(18));
  EXPECT_EQ(outcome.on_cpu, (Counts{1, 1, 1, 1}));
  EXPECT_EQ(outcome.in_container, (Counts{18, 18}));
}

TEST(Offload, what_a_dead_container_had_begun_is_done_again) {
  Offload offload = application(Bind::container, 2);
  offload.nodes[1].leaves = at_seconds(5);
  const OffloadOutcome outcome = outcome_of(offload);
  EXPECT_EQ(outcome.in_container, (Counts{35, 5}));  // one ended in the second in which the node died
  EXPECT_EQ(outcome.makespan, seconds(35));
  EXPECT_GE(outcome.redone, 1U);
}

TEST(Offload, a_node_that_drains_loses_nothing) {
  Offload offload = application(Bind::container, 2);
  offload.nodes[1].drains = at_seconds(5);
  const OffloadOutcome outcome = outcome_of(offload);
  EXPECT_EQ(outcome.in_container, (Counts{32, 8}));  // at second 5 five were done and three begun
  EXPECT_EQ(outcome.redone, 0U);
  EXPECT_EQ(outcome.makespan, seconds(32));
}

TEST(Offload, a_dead_accelerator_node_sends_its_nodes_to_the_other_stack) {
  Offload offload = application(Bind::node, 2);
  offload.nodes[0].leaves = at_seconds(10);
  EXPECT_EQ(outcome_of(offload).in_container, (Counts{10, 30}));
}

TEST(Offload, without_its_last_accelerator_the_rack_goes_on_with_cpus) {
  Offload offload = application(Bind::weighted, 1);
  offload.nodes[0].leaves = at_seconds(10);
  const OffloadOutcome outcome = outcome_of(offload);
  EXPECT_EQ(outcome.in_container, (Counts{10}));
  EXPECT_EQ(outcome.on_cpu, (Counts{0, 10, 10, 10}));
  EXPECT_EQ(outcome.makespan, seconds(110));
}

TEST(Offload, a_node_that_joins_midway_takes_its_part) {
  Offload offload = application(Bind::container, 2);
  offload.nodes[1].joins = at_seconds(10);
  EXPECT_EQ(outcome_of(offload).makespan, seconds(25));
}

TEST(Offload, a_run_that_has_lost_every_node_says_so) {
  Offload offload = application(Bind::container, 1);
  for (OffloadNode& node : offload.nodes) node.leaves = at_seconds(7);
  const auto outcome = run_offload(offload);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message,
            "every node was gone while 33 of 40 tasks were not finished; let one node stay to the end.");
}

TEST(Offload, nodes_come_from_a_described_cluster) {
  Machine machine = Machine::counted(8);
  machine.racks = {"r1", "r2"};
  machine.nodes.resize(2);
  machine.nodes[1].rack = RackId{1};
  machine.nodes[1].accelerators = 2;
  machine.nodes[1].accelerator_speed = 500;
  const auto nodes = offload_nodes(machine);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_TRUE(nodes[0].speeds.empty());
  EXPECT_EQ(nodes[1].rack, RackId{1});
  EXPECT_EQ(nodes[1].speeds, (std::vector<std::int32_t>{500, 500}));
}

}  // namespace
}  // namespace rota::sim
