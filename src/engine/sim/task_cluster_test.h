// For tests: jobs that compute their tasks on one machine, without a policy that decides where and when they start.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "engine/sim/job_tasks.h"
#include "engine/sim/loop.h"

namespace rota::sim {

// Jobs on one machine, and when each was through.
class TaskCluster final : public TaskListener {
 public:
  TaskCluster(Bind bind, Machine machine, TaskTable table, const ContainerModel& containers = {})
      : machine_(std::move(machine)), table_(std::move(table)), tasks_(bind, machine_, table_, containers, loop_) {
    tasks_.open(*this);
  }

  void start(std::uint32_t job, const std::vector<std::uint32_t>& nodes, Duration run_time = seconds(100)) {
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
  // What accelerators of a node have computed, as the listener heard, and what of it for jobs that were gone.
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
  void task_facts() override { tasks_.take_facts(); }
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

}  // namespace rota::sim
