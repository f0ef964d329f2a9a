#include "policy/bind/bind_jobs.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

constexpr TaskTimes kTimes{seconds(10), seconds(1)};

// One rack of nodes, with so many accelerators on each.
Machine rack_of(std::initializer_list<std::uint32_t> accelerators, std::initializer_list<std::int32_t> speeds = {}) {
  Machine machine;
  for (const std::uint32_t count : accelerators) {
    Node& node = machine.nodes.emplace_back();
    node.accelerators = count;
    if (speeds.size() > machine.nodes.size() - 1) node.accelerator_speed = speeds.begin()[machine.nodes.size() - 1];
  }
  return machine;
}

void begin(JobBinding& binding, JobId job, const std::vector<NodeId>& homes, std::uint32_t tasks) {
  std::vector<Share> shares;
  for (const NodeId home : homes) shares.push_back({home, 1});
  binding.begin(job, shares, tasks, kTimes);
  binding.ready(job);
}

constexpr JobId kFirst{0};
constexpr JobId kSecond{1};
constexpr ContainerId kOne{0};
constexpr ContainerId kTwo{1};

std::vector<NodeId> nodes(std::initializer_list<std::uint32_t> ids) {
  std::vector<NodeId> out;
  for (const std::uint32_t id : ids) out.push_back(NodeId{id});
  return out;
}

std::uint32_t taken_by(JobBinding& binding, ContainerId container) {
  std::uint32_t count = 0;
  while (const auto task = binding.next_task(container)) {
    binding.finish(*task, container);
    ++count;
  }
  return count;
}

TEST(JobBinding, sharers_of_an_accelerator_take_turns) {
  const Machine machine = rack_of({1, 0, 0});
  JobBinding binding(Bind::node, machine);
  begin(binding, kFirst, nodes({1}), 3);
  EXPECT_EQ(binding.next_task(kOne)->job, kFirst);
  begin(binding, kSecond, nodes({2}), 3);
  EXPECT_EQ(binding.next_task(kOne)->job, kSecond);
  EXPECT_EQ(binding.next_task(kOne)->job, kFirst);
  EXPECT_EQ(binding.next_task(kOne)->job, kSecond);
  EXPECT_EQ(binding.next_task(kOne)->job, kFirst);
  EXPECT_EQ(binding.next_task(kOne)->job, kSecond) << "the first one has none left";
  EXPECT_FALSE(binding.next_task(kOne));
}

TEST(JobBinding, under_node_binding_goes_where_the_node_is_bound) {
  const Machine machine = rack_of({1, 1, 0, 0});
  JobBinding binding(Bind::node, machine);
  ASSERT_EQ(binding.nodes().bound_to(NodeId{2}), NodeId{0});
  begin(binding, kFirst, nodes({2}), 4);
  EXPECT_FALSE(binding.next_task(kTwo)) << "that serves node 3";
  EXPECT_EQ(taken_by(binding, kOne), 4U);
  EXPECT_EQ(binding.unfinished(kFirst), 0U);
}

TEST(JobBinding, containers_get_even_parts_and_weighted_ones_by_speed) {
  const Machine machine = rack_of({1, 1, 0}, {3000, 1000, 1000});
  JobBinding even(Bind::container, machine);
  begin(even, kFirst, nodes({2}), 8);
  EXPECT_EQ(taken_by(even, kTwo), 4U);
  JobBinding weighted(Bind::weighted, machine);
  begin(weighted, kFirst, nodes({2}), 8);
  EXPECT_EQ(taken_by(weighted, kTwo), 2U);
  EXPECT_EQ(taken_by(weighted, kOne), 6U);
}

TEST(JobBinding, a_node_s_weight_is_the_speed_of_all_its_accelerators) {
  const Machine machine = rack_of({2, 1, 0, 0, 0, 0}, {1000, 1000, 1000, 1000, 1000, 1000});
  JobBinding even(Bind::node, machine);
  EXPECT_EQ(even.nodes().stack(NodeId{0}).size(), 2U);
  JobBinding weighted(Bind::node_weighted, machine);
  EXPECT_EQ(weighted.nodes().stack(NodeId{0}).size(), 3U);
  EXPECT_EQ(weighted.nodes().stack(NodeId{1}).size(), 1U);
  begin(weighted, kFirst, nodes({5}), 3);
  EXPECT_FALSE(weighted.next_task(kOne)) << "node 5 is bound to the single accelerator";
  EXPECT_EQ(taken_by(weighted, ContainerId{2}), 3U);
}

TEST(JobBinding, slots_of_a_node_have_equal_parts_and_are_served_once_their_bindings_are_settled) {
  const Machine machine = rack_of({1, 1, 0});
  JobBinding binding(Bind::slot, machine);
  const std::vector<Share> shares{{NodeId{2}, 2}};
  binding.begin(kFirst, shares, 5, kTimes);
  binding.ready(kFirst);
  EXPECT_FALSE(binding.next_task(kOne));
  binding.settle(1);
  EXPECT_EQ(taken_by(binding, kOne), 3U);
  EXPECT_FALSE(binding.next_task(kTwo));
  binding.settle(2);
  EXPECT_EQ(taken_by(binding, kTwo), 2U);
  EXPECT_EQ(binding.bindings().made, 2);
  EXPECT_EQ(binding.bindings().moved, 0);
}

TEST(JobBinding, a_slot_that_moves_takes_its_tasks_along) {
  const Machine machine = rack_of({1, 1, 0, 0});
  JobBinding binding(Bind::slot, machine);
  const std::vector<Share> first{{NodeId{2}, 1}};
  const std::vector<Share> second{{NodeId{3}, 3}};
  binding.begin(kFirst, first, 6, kTimes);
  binding.begin(kSecond, second, 6, kTimes);  // its slots: on node 1, 0 and 1
  binding.ready(kSecond);
  binding.leave(NodeId{0});
  binding.end(kFirst);
  binding.join(NodeId{0});
  EXPECT_EQ(binding.bindings().moved, 3) << "two from node 0 that went, and one back";
  binding.settle(binding.slot_bindings());
  EXPECT_EQ(taken_by(binding, kOne), 2U);
  EXPECT_EQ(taken_by(binding, kTwo), 4U);
}

TEST(JobBinding, tasks_are_dealt_on_top_of_what_other_jobs_have_there) {
  const Machine machine = rack_of({1, 1, 0, 0});
  JobBinding binding(Bind::container, machine);
  begin(binding, kFirst, nodes({2}), 1);
  begin(binding, kSecond, nodes({3}), 1);
  EXPECT_EQ(binding.next_task(kOne)->job, kFirst);
  EXPECT_EQ(binding.next_task(kTwo)->job, kSecond);
}

TEST(JobBinding, prefers_what_lies_on_the_accelerator_s_own_node) {
  const Machine machine = rack_of({0, 1});
  JobBinding binding(Bind::node, machine);
  begin(binding, kFirst, nodes({0, 1}), 4);
  EXPECT_EQ(binding.next_task(kOne)->home, NodeId{1});
  EXPECT_EQ(binding.next_task(kOne)->home, NodeId{1});
  EXPECT_EQ(binding.next_task(kOne)->home, NodeId{0});
}

TEST(JobBinding, cpus_compute_where_no_accelerator_can_be_used) {
  const Machine machine = rack_of({1, 0});
  JobBinding none(Bind::none, machine);
  begin(none, kFirst, nodes({1}), 2);
  EXPECT_FALSE(none.next_task(kOne));
  EXPECT_TRUE(none.take_for_cpu(kFirst, NodeId{1}));
  JobBinding node(Bind::node, machine);
  begin(node, kFirst, nodes({1}), 2);
  EXPECT_FALSE(node.take_for_cpu(kFirst, NodeId{1}));
  node.leave(NodeId{0});
  EXPECT_TRUE(node.take_for_cpu(kFirst, NodeId{1}));
}

TEST(JobBinding, what_a_node_that_goes_had_begun_is_done_by_others) {
  for (const Bind bind :
       {Bind::node, Bind::node_literal, Bind::node_weighted, Bind::container, Bind::weighted, Bind::late}) {
    const Machine machine = rack_of({1, 1, 0});
    JobBinding binding(bind, machine);
    begin(binding, kFirst, nodes({2}), 6);
    const auto begun = binding.next_task(kOne);
    ASSERT_TRUE(begun);
    binding.leave(NodeId{0});
    binding.lose(*begun, kOne);
    EXPECT_EQ(taken_by(binding, kTwo), 6U) << name_of(bind);
    EXPECT_EQ(binding.unfinished(kFirst), 0U);
  }
}

TEST(JobBinding, a_node_that_comes_back_gets_its_part_again) {
  const Machine machine = rack_of({1, 1, 0});
  JobBinding binding(Bind::container, machine);
  binding.leave(NodeId{0});
  begin(binding, kFirst, nodes({2}), 6);
  binding.join(NodeId{0});
  EXPECT_EQ(taken_by(binding, kOne), 3U);
  EXPECT_EQ(taken_by(binding, kTwo), 3U);
}

TEST(JobBinding, under_late_a_cpu_helps_as_long_as_it_holds_nothing_up) {
  const Machine machine = rack_of({1, 0});
  JobBinding binding(Bind::late, machine);
  begin(binding, kFirst, nodes({1}), 11);
  EXPECT_TRUE(binding.take_for_cpu(kFirst, NodeId{1})) << "11 s of the accelerator, 10 s of the CPU";
  EXPECT_TRUE(binding.take_for_cpu(kFirst, NodeId{1})) << "10 s of both";
  EXPECT_FALSE(binding.take_for_cpu(kFirst, NodeId{1}));
}

TEST(JobBinding, under_late_a_cpu_reckons_with_the_turns_of_others) {
  const Machine machine = rack_of({1, 0, 0});
  JobBinding binding(Bind::late, machine);
  begin(binding, kFirst, nodes({1}), 6);
  EXPECT_FALSE(binding.take_for_cpu(kFirst, NodeId{1})) << "the accelerator is through in 6 s";
  begin(binding, kSecond, nodes({2}), 50);
  EXPECT_TRUE(binding.take_for_cpu(kFirst, NodeId{1})) << "taking turns, in 12 s";
}

TEST(JobBinding, of_a_job_that_is_not_ready_gives_out_nothing_and_counts_as_served) {
  const Machine machine = rack_of({1, 0});
  JobBinding binding(Bind::container, machine);
  const std::vector<Share> shares{{NodeId{1}, 1}};
  binding.begin(kFirst, shares, 4, kTimes);
  EXPECT_FALSE(binding.next_task(kOne));
  EXPECT_TRUE(binding.serves(NodeId{0}));
  binding.ready(kFirst);
  EXPECT_EQ(taken_by(binding, kOne), 4U);
}

TEST(JobBinding, tells_which_nodes_serve_jobs_of_others) {
  const Machine machine = rack_of({1, 1, 0, 0});
  JobBinding binding(Bind::node, machine);
  begin(binding, kFirst, nodes({0, 2}), 4);
  EXPECT_TRUE(binding.serves(NodeId{0}));
  EXPECT_FALSE(binding.serves(NodeId{1})) << "its node 3 has no job";
  EXPECT_EQ(binding.take_serving_changes(), nodes({0}));
  binding.end(kFirst);
  EXPECT_FALSE(binding.serves(NodeId{0}));
  JobBinding container(Bind::container, machine);
  begin(container, kFirst, nodes({0}), 4);
  EXPECT_FALSE(container.serves(NodeId{0})) << "that is its own";
  EXPECT_TRUE(container.serves(NodeId{1}));
}

}  // namespace
}  // namespace rota
