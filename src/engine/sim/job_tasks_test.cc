#include "engine/sim/job_tasks.h"

#include <gtest/gtest.h>

#include <array>

#include "engine/sim/task_cluster_test.h"

namespace rota::sim {
namespace {

// Nodes of one rack, with so many accelerators on each.
Machine rack_of(std::initializer_list<std::uint32_t> accelerators) {
  Machine machine;
  for (const std::uint32_t count : accelerators) machine.nodes.emplace_back().accelerators = count;
  return machine;
}

// Every job has so many tasks of 10 s on a CPU and 1 s on an accelerator.
TaskTable tasks_of(std::uint32_t count, std::int64_t transfer = 0, Duration start_up = Duration{0}) {
  TaskTable table;
  table.of_others = TaskSpec{count, seconds(1), seconds(10), start_up, transfer};
  return table;
}

// 40 tasks of a job that has all four nodes, of which 1, 2, 3 and 4 have an accelerator.
TEST(JobTasks, alone_on_all_nodes_end_sooner_by_the_rule_and_the_accelerators) {
  const std::vector<std::pair<Bind, std::array<int, 4>>> wanted{{Bind::none, {100, 100, 100, 100}},
                                                                {Bind::node, {40, 20, 20, 10}},
                                                                {Bind::container, {40, 20, 14, 10}},
                                                                {Bind::weighted, {40, 20, 14, 10}},
                                                                {Bind::late, {30, 18, 12, 10}}};
  for (const auto& [bind, ends] : wanted) {
    for (std::size_t accelerators = 1; accelerators <= 4; ++accelerators) {
      Machine machine = rack_of({0, 0, 0, 0});
      for (std::size_t i = 0; i < accelerators; ++i) machine.nodes[i].accelerators = 1;
      TaskCluster cluster(bind, machine, tasks_of(40));
      cluster.start(0, {0, 1, 2, 3});
      cluster.to_the_end();
      EXPECT_EQ(cluster.end_of(0), seconds(ends[accelerators - 1])) << name_of(bind) << " " << accelerators;
    }
  }
}

TEST(JobTasks, of_two_jobs_on_one_accelerator_pass_in_turn) {
  TaskCluster cluster(Bind::node, rack_of({1, 0, 0}), tasks_of(10));
  cluster.start(0, {1});
  cluster.start(1, {2});
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), seconds(19));
  EXPECT_EQ(cluster.end_of(1), seconds(20));
  EXPECT_EQ(cluster.computed_on(0), seconds(20));
  EXPECT_EQ(cluster.of_gone(), Duration{0});
}

TEST(JobTasks, go_faster_again_when_the_sharer_has_gone) {
  TaskCluster cluster(Bind::node, rack_of({1, 0, 0}), tasks_of(10));
  cluster.start(0, {1});
  cluster.start(1, {2});
  cluster.until(seconds(6));  // three of each are done, and as many as the container holds are inside
  cluster.tasks().stop(JobId{1}, false);
  cluster.to_the_end();
  EXPECT_LT(cluster.end_of(0), seconds(19));
  EXPECT_GE(cluster.end_of(0), seconds(13));
  EXPECT_GT(cluster.of_gone(), Duration{0}) << "what an accelerator has begun it ends";
  EXPECT_EQ(cluster.computed_on(0), cluster.use().computing);
}

TEST(JobTasks, whose_cpu_time_is_not_said_run_as_long_on_cpus_as_the_log_says) {
  TaskTable table;
  table.of_others = TaskSpec{10, seconds(1), Duration{0}, seconds(4), 0};
  TaskCluster cluster(Bind::node, rack_of({0, 0}), table);
  cluster.start(0, {0, 1}, seconds(104));
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), seconds(104));
}

TEST(JobTasks, start_up_before_the_first_of_them_at_every_start) {
  TaskCluster cluster(Bind::node, rack_of({1}), tasks_of(10, 0, seconds(5)));
  cluster.start(0, {0});
  cluster.until(seconds(8));
  cluster.tasks().stop(JobId{0}, true);  // three are done
  cluster.until(seconds(20));
  cluster.start(0, {0});
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), seconds(20 + 5 + 7));
  EXPECT_FALSE(cluster.tasks().breach());
}

TEST(JobTasks, on_another_node_pay_for_the_link_and_those_of_its_own_do_not) {
  Machine machine = rack_of({1, 0});
  machine.nodes[0].accelerator_link = 100;
  TaskCluster cluster(Bind::node, machine, tasks_of(4, 300));  // 3 s there, 1 s of computing, 3 s back
  cluster.start(0, {0});
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), seconds(4));
  TaskCluster remote(Bind::node, machine, tasks_of(4, 300));
  remote.start(0, {1});
  remote.to_the_end();
  EXPECT_EQ(remote.end_of(0), seconds(3 + 1 + 3 + 3 * 3));
  EXPECT_EQ(remote.use().bytes, 4 * 600);
  EXPECT_EQ(remote.use().remote, 4);
}

TEST(JobTasks, hide_their_transfers_behind_computing_unless_nothing_overlaps) {
  Machine machine = rack_of({1});
  machine.nodes[0].accelerator_link = 100;
  for (const bool overlap : {true, false}) {
    TaskCluster cluster(Bind::node, machine, tasks_of(10, 50), {{.overlap = overlap}, true});
    cluster.start(0, {0});
    cluster.to_the_end();
    EXPECT_EQ(cluster.end_of(0), overlap ? Duration{500 + 10 * 1000 + 500} : seconds(20));
    EXPECT_EQ(cluster.use().bytes, 0) << "none of them left its node";
    EXPECT_FALSE(cluster.tasks().breach());
  }
}

TEST(JobTasks, begun_on_an_accelerator_that_goes_to_sleep_are_done_again) {
  TaskCluster cluster(Bind::node, rack_of({1, 1, 0}), tasks_of(10));
  cluster.start(0, {2});
  cluster.until(Duration{4500});
  cluster.tasks().leave(NodeId{0});  // four are done
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), Duration{4500} + seconds(6));
  EXPECT_GT(cluster.use().redone, 0);
  EXPECT_EQ(cluster.use().remote, 10);
  EXPECT_FALSE(cluster.tasks().breach());
}

TEST(JobTasks, of_nodes_bound_to_an_accelerator_that_goes_follow_to_the_other_stack) {
  TaskCluster cluster(Bind::node, rack_of({1, 1, 0, 0}), tasks_of(40));
  cluster.start(0, {2, 3});
  cluster.until(seconds(10));
  cluster.tasks().leave(NodeId{0});  // ten of twenty are done, as on the other
  cluster.to_the_end();
  EXPECT_EQ(cluster.computed_on(1), seconds(30));
  EXPECT_EQ(cluster.end_of(0), seconds(30));
}

TEST(JobTasks, that_have_not_begun_are_shared_with_an_accelerator_that_comes) {
  TaskCluster cluster(Bind::container, rack_of({1, 1, 0}), tasks_of(40));
  cluster.tasks().leave(NodeId{1});
  cluster.start(0, {2});
  cluster.until(seconds(10));
  cluster.tasks().join(NodeId{1});
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), seconds(25));
  EXPECT_EQ(cluster.use().redone, 0);
}

TEST(JobTasks, go_on_on_cpus_when_the_last_accelerator_is_gone_and_back_when_it_comes) {
  TaskCluster cluster(Bind::container, rack_of({1, 0}), tasks_of(10));
  cluster.tasks().leave(NodeId{0});
  cluster.start(0, {1});
  cluster.until(seconds(15));
  cluster.tasks().join(NodeId{0});
  cluster.to_the_end();
  EXPECT_EQ(cluster.use().on_cpu, 2) << "what a CPU has begun it ends";
  EXPECT_EQ(cluster.end_of(0), seconds(15 + 8));
}

// A task takes 10 s on a CPU, and its first try may take 4 s.
TaskTable limited(std::uint32_t count) {
  TaskTable table = tasks_of(count);
  table.of_others->limit = seconds(4);
  return table;
}

TEST(JobTasks, at_their_limit_on_a_cpu_are_done_again_on_another_one) {
  TaskCluster cluster(Bind::none, rack_of({0, 0}), limited(1));
  cluster.start(0, {0, 1});
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), seconds(4 + 10));
  EXPECT_EQ(cluster.use().redone, 1);
  EXPECT_EQ(cluster.use().on_cpu, 1);
  EXPECT_FALSE(cluster.tasks().breach());
}

TEST(JobTasks, at_their_limit_are_done_again_on_the_same_cpu_where_the_job_has_no_other) {
  TaskCluster cluster(Bind::none, rack_of({0}), limited(2));
  cluster.start(0, {0});
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), seconds(2 * 14));
}

TEST(JobTasks, on_an_accelerator_have_no_limit) {
  Machine machine = rack_of({1});
  machine.nodes[0].accelerator_speed = 100;  // 10 s each
  TaskCluster cluster(Bind::node, machine, limited(3));
  cluster.start(0, {0});
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), seconds(30));
  EXPECT_EQ(cluster.use().redone, 0);
}

TEST(JobTasks, that_were_given_up_begin_anew_with_their_job) {
  TaskCluster cluster(Bind::none, rack_of({0, 0}), limited(4));
  cluster.start(0, {0, 1});
  cluster.until(seconds(5));
  cluster.tasks().stop(JobId{0}, true);
  cluster.until(seconds(20));
  cluster.start(0, {0, 1});
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), seconds(20 + 2 * 14));
  EXPECT_EQ(cluster.use().redone, 2 + 2 + 4);
  EXPECT_FALSE(cluster.tasks().breach());
}

TEST(TaskCheck, tells_when_an_accelerator_computes_two_at_a_time) {
  TaskCheck check(1, PipelineShape{});
  Passage passage;
  passage.read_begin = passage.read_end = passage.compute_begin = kEpoch;
  passage.compute_end = passage.write_begin = passage.write_end = kEpoch + seconds(2);
  check.admitted(ContainerId{0}, kEpoch, passage);
  EXPECT_FALSE(check.breach());
  passage.compute_begin = kEpoch + seconds(1);
  passage.compute_end = passage.write_begin = passage.write_end = kEpoch + seconds(3);
  check.admitted(ContainerId{0}, kEpoch, passage);
  EXPECT_EQ(*check.breach(), "an accelerator computed two tasks at a time");
}

TEST(TaskCheck, tells_when_a_container_holds_too_much) {
  TaskCheck check(1, {.read_slots = 0, .write_slots = 0});
  for (int i = 0; i < 4; ++i) {
    Passage passage;
    passage.read_begin = passage.read_end = kEpoch;
    passage.compute_begin = kEpoch + seconds(i);
    passage.compute_end = passage.write_begin = passage.write_end = kEpoch + seconds(i + 1);
    EXPECT_FALSE(check.breach());
    check.admitted(ContainerId{0}, kEpoch, passage);
  }
  EXPECT_EQ(*check.breach(), "a container held more tasks than it has room for");
}

TEST(TaskCheck, tells_when_a_job_ends_without_all_its_tasks) {
  TaskCheck check(1, PipelineShape{});
  check.came(JobId{3}, 2);
  check.began(JobId{3});
  check.finished(JobId{3});
  check.ended(JobId{3});
  EXPECT_EQ(*check.breach(), "a job ended before all its tasks were done");
}

TEST(TaskCheck, tells_when_a_task_is_done_twice) {
  TaskCheck check(1, PipelineShape{});
  check.came(JobId{3}, 1);
  for (int i = 0; i < 2; ++i) {
    check.began(JobId{3});
    check.finished(JobId{3});
  }
  EXPECT_EQ(*check.breach(), "a task was done twice");
}

}  // namespace
}  // namespace rota::sim
