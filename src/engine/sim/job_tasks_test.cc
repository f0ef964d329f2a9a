#include "engine/sim/job_tasks.h"

#include <gtest/gtest.h>

#include "engine/sim/loop.h"
#include "engine/sim/offload.h"

namespace rota::sim {
namespace {

// Jobs on one machine, and when each was through.
class Cluster final : public TaskListener {
 public:
  Cluster(Bind bind, Machine machine, TaskTable table)
      : machine_(std::move(machine)), table_(std::move(table)), tasks_(bind, machine_, table_, loop_) {
    tasks_.open(*this);
  }

  void start(std::uint32_t job, std::initializer_list<std::uint32_t> nodes, Duration run_time = seconds(100)) {
    if (!tasks_.has(JobId{job})) tasks_.arrive(JobId{job}, job, run_time);
    Placement where;
    for (const std::uint32_t node : nodes) where.shares.push_back({NodeId{node}, 1});
    tasks_.start(JobId{job}, where, Duration{0});
  }
  // Lets time pass until this instant.
  void until(Duration at) {
    waker_.at = kEpoch + at;
    loop_.set(waker_, kEpoch + at);
    while (loop_.now() < kEpoch + at && loop_.step()) {
    }
  }
  void to_the_end() {
    while (loop_.step()) {
    }
  }

  Duration end_of(std::uint32_t job) const { return ends_.contains(job) ? ends_.at(job) : seconds(-1); }
  JobTasks& tasks() { return tasks_; }
  TaskUse use() const { return tasks_.use(loop_.now()); }
  // What accelerators of a node have computed, as told.
  Duration computed_on(std::uint32_t node) const {
    return computed_on_.contains(node) ? computed_on_.at(node) : Duration{0};
  }
  Duration of_gone() const { return of_gone_; }

 private:
  class Waker final : public Alarm {
   public:
    void ring() override {}
    Instant at = kEpoch;
  };

  void tasks_done(JobId job) override {
    ends_[job.value] = loop_.now() - kEpoch;
    tasks_.forget(job);
  }
  void serving_changed() override { tasks_.take_serving_changes(); }
  void computed(JobId job, NodeId node, Instant from, Instant to) override {
    computed_on_[node.value] += to - from;
    of_gone_ += job.valid() ? Duration{0} : to - from;
  }

  Machine machine_;
  TaskTable table_;
  VirtualLoop loop_;
  JobTasks tasks_;
  Waker waker_;
  std::map<std::uint32_t, Duration> ends_;
  std::map<std::uint32_t, Duration> computed_on_;
  Duration of_gone_{0};
};

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

TEST(JobTasks, alone_on_all_nodes_take_what_an_application_takes) {
  for (const Bind bind : {Bind::none, Bind::node, Bind::container, Bind::weighted, Bind::late}) {
    for (const std::size_t accelerators : {1U, 2U, 3U, 4U}) {
      Offload offload;
      offload.bind = bind;
      offload.tasks = 40;
      offload.times = {seconds(10), seconds(1)};
      offload.nodes.resize(4, {.rack = RackId{0}});
      Machine machine = rack_of({0, 0, 0, 0});
      for (std::size_t i = 0; i < accelerators; ++i) {
        offload.nodes[i].speeds = {kUnitSpeed};
        machine.nodes[i].accelerators = 1;
      }
      Cluster cluster(bind, machine, tasks_of(40));
      cluster.start(0, {0, 1, 2, 3});
      cluster.to_the_end();
      EXPECT_EQ(cluster.end_of(0), run_offload(offload)->makespan) << name_of(bind) << " " << accelerators;
    }
  }
}

TEST(JobTasks, of_two_jobs_on_one_accelerator_pass_in_turn) {
  Cluster cluster(Bind::node, rack_of({1, 0, 0}), tasks_of(10));
  cluster.start(0, {1});
  cluster.start(1, {2});
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), seconds(19));
  EXPECT_EQ(cluster.end_of(1), seconds(20));
  EXPECT_EQ(cluster.computed_on(0), seconds(20));
  EXPECT_EQ(cluster.of_gone(), Duration{0});
}

TEST(JobTasks, go_faster_again_when_the_sharer_has_gone) {
  Cluster cluster(Bind::node, rack_of({1, 0, 0}), tasks_of(10));
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
  Cluster cluster(Bind::node, rack_of({0, 0}), table);
  cluster.start(0, {0, 1}, seconds(104));
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), seconds(104));
}

TEST(JobTasks, start_up_before_the_first_of_them_at_every_start) {
  Cluster cluster(Bind::node, rack_of({1}), tasks_of(10, 0, seconds(5)));
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
  Cluster cluster(Bind::node, machine, tasks_of(4, 300));  // 3 s there, 1 s of computing, 3 s back
  cluster.start(0, {0});
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), seconds(4));
  Cluster remote(Bind::node, machine, tasks_of(4, 300));
  remote.start(0, {1});
  remote.to_the_end();
  EXPECT_EQ(remote.end_of(0), seconds(3 + 1 + 3 + 3 * 3));
  EXPECT_EQ(remote.use().bytes, 4 * 600);
  EXPECT_EQ(remote.use().remote, 4);
}

TEST(JobTasks, begun_on_an_accelerator_that_goes_to_sleep_are_done_again) {
  Cluster cluster(Bind::node, rack_of({1, 1, 0}), tasks_of(10));
  cluster.start(0, {2});
  cluster.until(Duration{4500});
  cluster.tasks().leave(NodeId{0});  // four are done
  cluster.to_the_end();
  EXPECT_EQ(cluster.end_of(0), Duration{4500} + seconds(6));
  EXPECT_GT(cluster.use().redone, 0);
  EXPECT_EQ(cluster.use().remote, 10);
  EXPECT_FALSE(cluster.tasks().breach());
}

TEST(JobTasks, go_on_on_cpus_when_the_last_accelerator_is_gone_and_back_when_it_comes) {
  Cluster cluster(Bind::container, rack_of({1, 0}), tasks_of(10));
  cluster.tasks().leave(NodeId{0});
  cluster.start(0, {1});
  cluster.until(seconds(15));
  cluster.tasks().join(NodeId{0});
  cluster.to_the_end();
  EXPECT_EQ(cluster.use().on_cpu, 2) << "what a CPU has begun it ends";
  EXPECT_EQ(cluster.end_of(0), seconds(15 + 8));
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
