#include "policy/bind/bind_tasks.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

constexpr RackId kRack{0};
constexpr TaskTimes kTimes{seconds(55), seconds(6)};
const std::vector<std::int32_t> kPlain{};
const std::vector<std::int32_t> kOne{kUnitSpeed};

// Everything that a container or a CPU can get, without finishing any of it.
std::size_t all_of(TaskBinding& tasks, std::uint32_t container) {
  std::size_t taken = 0;
  while (tasks.take(ContainerId{container})) ++taken;
  return taken;
}
std::size_t all_of_cpu(TaskBinding& tasks, std::uint32_t node) {
  std::size_t taken = 0;
  while (tasks.take_for_cpu(NodeId{node})) ++taken;
  return taken;
}

TEST(Dealer, deals_evenly_where_speeds_are_equal) {
  Dealer dealer;
  for (int i = 0; i < 3; ++i) dealer.add(0, kUnitSpeed);
  std::vector<std::size_t> order(7);
  for (std::size_t& taker : order) taker = dealer.deal();
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 0}));
}

TEST(Dealer, counts_what_somebody_has_already) {
  Dealer dealer;
  dealer.add(2, kUnitSpeed);
  dealer.add(0, kUnitSpeed);
  EXPECT_EQ(dealer.deal(), 1U);
  EXPECT_EQ(dealer.deal(), 1U);
  EXPECT_EQ(dealer.deal(), 0U);
}

TEST(Dealer, gives_each_task_to_whom_it_would_be_done_with_first) {
  Dealer dealer;
  dealer.add(0, 1000);
  dealer.add(0, 500);
  std::vector<std::size_t> order(6);
  for (std::size_t& taker : order) taker = dealer.deal();
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 0, 1, 0, 0, 1}));
}

TEST(TaskBinding, node_binding_counts_the_tasks_of_bound_nodes) {
  TaskBinding tasks(Bind::node, 100, kTimes);
  for (std::uint32_t i = 0; i < 4; ++i) tasks.join(NodeId{i}, kRack, i < 3 ? kOne : kPlain);
  EXPECT_EQ(all_of(tasks, 0), 50U);  // its own and those of node 3
  EXPECT_EQ(all_of(tasks, 1), 25U);
  EXPECT_EQ(all_of(tasks, 2), 25U);
}

TEST(TaskBinding, containers_share_evenly_whoever_the_nodes_are) {
  TaskBinding tasks(Bind::container, 100, kTimes);
  for (std::uint32_t i = 0; i < 4; ++i) tasks.join(NodeId{i}, kRack, i < 3 ? kOne : kPlain);
  EXPECT_EQ(all_of(tasks, 0), 34U);
  EXPECT_EQ(all_of(tasks, 1), 33U);
  EXPECT_EQ(all_of(tasks, 2), 33U);
  EXPECT_EQ(all_of_cpu(tasks, 3), 0U);
}

TEST(TaskBinding, a_node_with_two_accelerators_has_two_containers) {
  TaskBinding tasks(Bind::weighted, 90, kTimes);
  tasks.join(NodeId{0}, kRack, std::vector<std::int32_t>{1000, 500});
  EXPECT_EQ(all_of(tasks, 0), 60U);
  EXPECT_EQ(all_of(tasks, 1), 30U);
}

TEST(TaskBinding, a_rack_without_accelerators_computes_on_its_cpus) {
  for (const Bind bind : {Bind::node, Bind::container, Bind::weighted}) {
    TaskBinding tasks(bind, 40, kTimes);
    tasks.join(NodeId{0}, kRack, kOne);
    for (std::uint32_t i = 1; i < 4; ++i) tasks.join(NodeId{i}, RackId{1}, kPlain);
    EXPECT_EQ(all_of(tasks, 0), 10U) << name_of(bind);
    for (std::uint32_t i = 1; i < 4; ++i) EXPECT_EQ(all_of_cpu(tasks, i), 10U) << name_of(bind);
  }
}

TEST(TaskBinding, without_binding_cpus_compute_beside_idle_accelerators) {
  TaskBinding tasks(Bind::none, 10, kTimes);
  tasks.join(NodeId{0}, kRack, kOne);
  tasks.join(NodeId{1}, kRack, kPlain);
  EXPECT_EQ(all_of(tasks, 0), 0U);
  EXPECT_EQ(all_of_cpu(tasks, 0), 5U);
  EXPECT_EQ(all_of_cpu(tasks, 1), 5U);
}

TEST(TaskBinding, what_a_dead_node_had_begun_is_done_elsewhere) {
  TaskBinding tasks(Bind::container, 10, kTimes);
  tasks.join(NodeId{0}, kRack, kOne);
  tasks.join(NodeId{1}, kRack, kOne);
  const auto first = tasks.take(ContainerId{0});
  tasks.finish(*first);
  EXPECT_EQ(all_of(tasks, 0), 4U);
  tasks.leave(NodeId{0});
  EXPECT_EQ(all_of(tasks, 1), 9U);  // all but the one that is finished
  EXPECT_EQ(tasks.unfinished(), 9U);
}

TEST(TaskBinding, a_node_that_drains_finishes_what_it_has_begun_and_gets_no_more) {
  TaskBinding tasks(Bind::node, 10, kTimes);
  tasks.join(NodeId{0}, kRack, kOne);
  tasks.join(NodeId{1}, kRack, kOne);
  const auto first = tasks.take(ContainerId{0});
  tasks.drain(NodeId{0});
  EXPECT_EQ(all_of(tasks, 1), 9U);
  tasks.finish(*first);
  tasks.leave(NodeId{0});
  EXPECT_EQ(all_of(tasks, 1), 0U);
  EXPECT_EQ(tasks.unfinished(), 9U);
}

TEST(TaskBinding, a_node_that_dies_while_it_drains_loses_what_it_had_begun) {
  TaskBinding tasks(Bind::container, 10, kTimes);
  tasks.join(NodeId{0}, kRack, kOne);
  tasks.join(NodeId{1}, kRack, kOne);
  tasks.take(ContainerId{0});
  tasks.drain(NodeId{0});
  tasks.leave(NodeId{0});
  EXPECT_EQ(all_of(tasks, 1), 10U);
}

TEST(TaskBinding, who_comes_later_gets_its_part_of_what_nobody_has_begun) {
  TaskBinding tasks(Bind::container, 12, kTimes);
  tasks.join(NodeId{0}, kRack, kOne);
  tasks.take(ContainerId{0});
  tasks.take(ContainerId{0});
  tasks.join(NodeId{1}, kRack, kOne);
  EXPECT_EQ(all_of(tasks, 1), 6U);
  EXPECT_EQ(all_of(tasks, 0), 4U);
}

TEST(TaskBinding, late_an_idle_cpu_takes_a_task_only_if_it_ends_before_the_accelerators_could_be_through) {
  TaskBinding tasks(Bind::late, 10, kTimes);
  tasks.join(NodeId{0}, kRack, kOne);
  tasks.join(NodeId{1}, kRack, kPlain);
  EXPECT_TRUE(tasks.take_for_cpu(NodeId{1}));   // 10 x 6 s
  EXPECT_FALSE(tasks.take_for_cpu(NodeId{0}));  // 9 x 6 s < 55 s
}

TEST(TaskBinding, late_a_slow_accelerator_takes_a_task_only_if_that_does_not_hold_up_the_end) {
  const std::vector<std::int32_t> speeds{1000, 100};
  TaskBinding few(Bind::late, 9, kTimes);  // the fast one needs 9 units of time for all, the slow one 10 for one
  few.join(NodeId{0}, kRack, speeds);
  EXPECT_FALSE(few.take(ContainerId{1}));
  EXPECT_TRUE(few.take(ContainerId{0}));
  TaskBinding many(Bind::late, 11, kTimes);
  many.join(NodeId{0}, kRack, speeds);
  EXPECT_TRUE(many.take(ContainerId{1}));
  EXPECT_FALSE(many.take(ContainerId{1}));
}

TEST(TaskBinding, late_no_task_leaves_its_rack) {
  TaskBinding tasks(Bind::late, 20, kTimes);
  tasks.join(NodeId{0}, kRack, kOne);
  tasks.join(NodeId{1}, RackId{1}, kPlain);
  EXPECT_EQ(all_of_cpu(tasks, 1), 10U);
  std::size_t here = 0;
  while (const auto task = tasks.take(ContainerId{0})) {
    tasks.finish(*task);
    ++here;
  }
  EXPECT_EQ(here, 10U);
}

}  // namespace
}  // namespace rota
