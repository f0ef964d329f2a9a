#include "control/task_desk.h"

#include <algorithm>

#include "base/check.h"

namespace rota {

TaskDesk::TaskDesk(Bind bind, const Machine& machine, Executor& executor, TaskDeskListener& listener)
    : machine_(machine), executor_(executor), listener_(listener), binding_(bind, machine) {
  CHECK(executor.cards().size() == binding_.containers(), "the executor has the cards of the machine");
}

void TaskDesk::ask(JobId id, const TaskSpec& spec, Duration on_cpus) {
  Job& job = jobs_[id];
  job.spec = spec;
  job.on_cpus = on_cpus;
  job.cpu = spec.cpu;
  job.tasks = spec.count;
}

std::uint32_t TaskDesk::start(JobId id, const Placement& where) {
  Job& job = jobs_.at(id);
  CHECK(job.run == 0 && !where.shares.empty(), "a job is started once, on nodes");
  if (!std::exchange(job.started, true)) ++counts_.jobs;
  job.run = ++runs_;
  job.nodes.clear();
  for (const Share& share : where.shares) job.nodes.push_back(share.node);
  std::ranges::sort(job.nodes);
  if (job.cpu == Duration{0}) {
    const auto nodes = static_cast<std::int64_t>(job.nodes.size());
    const std::int64_t rounds = (job.spec.count + nodes - 1) / nodes;
    job.cpu = std::max((job.on_cpus - job.spec.start_up) / rounds, Duration{1});
  }
  binding_.begin(id, where.shares, job.tasks, {job.cpu, job.spec.accelerator});
  return job.run;
}

void TaskDesk::ready(JobId id, std::uint32_t run) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.run != run || computing_.contains(id)) {
    ++answers_in_vain_;
    return;
  }
  const Job& job = found->second;
  computing_.insert(id);
  binding_.ready(id);
  if (job.tasks == 0) return complete(id);
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    const RackId rack = machine_.nodes[job.nodes[i].value].rack;
    if (i == 0 || machine_.nodes[job.nodes[i - 1].value].rack != rack) ask_all(rack);
  }
}

void TaskDesk::stop(JobId id, bool kept) {
  Job& job = jobs_.at(id);
  if (job.run != 0) {  // else it waits, or has done everything at this very instant
    counts_.redone += static_cast<std::int64_t>(job.begun.size());
    job.tasks = binding_.unfinished(id);
    leave_nodes(id, job);
  }
  if (!kept) job.tasks = job.spec.count;
}

void TaskDesk::forget(JobId id) {
  if (!has(id)) return;
  stop(id, true);
  jobs_.erase(id);
}

void TaskDesk::leave_nodes(JobId id, Job& job) {
  binding_.end(id);
  computing_.erase(id);
  for (const std::uint32_t place : job.begun) {
    flights_[place].state = Flight::State::cancelled;
    executor_.cancel({place, flights_[place].attempt});
  }
  job.begun.clear();
  job.run = 0;
  job.busy_cpus.clear();
  job.given_up.clear();
}

void TaskDesk::complete(JobId id) {
  Job& job = jobs_.at(id);
  leave_nodes(id, job);
  job.tasks = 0;
  listener_.tasks_done(id);
}

void TaskDesk::went(NodeId node) {
  if (!present(node)) return;
  binding_.leave(node);
  ask_all(machine_.nodes[node.value].rack);
}

void TaskDesk::came(NodeId node) {
  if (present(node)) return;
  binding_.join(node);
  ask_all(machine_.nodes[node.value].rack);
}

// Tasks can be had in racks that nobody has named.
void TaskDesk::settled(std::uint64_t slot_bindings) {
  binding_.settle(slot_bindings);
  for (std::uint32_t i = 0; i < binding_.containers(); ++i) asking_.insert(ContainerId{i});
}

// The flight that an answer is about, off its place; nothing: it was answered before, or never was.
std::optional<TaskDesk::Flight> TaskDesk::land(const TaskKey& key) {
  const bool known = key.place < flights_.size() && flights_[key.place].attempt == key.attempt &&
                     flights_[key.place].state != Flight::State::none;
  if (!known) {
    ++answers_in_vain_;
    return {};
  }
  const Flight flight = flights_[key.place];
  flights_[key.place].state = Flight::State::none;
  unused_places_.push_back(key.place);
  if (flight.state == Flight::State::wanted) {
    std::vector<std::uint32_t>& begun = jobs_.at(flight.task.job).begun;
    begun[flight.of_job] = begun.back();
    flights_[begun.back()].of_job = flight.of_job;
    begun.pop_back();
  } else if (flight.container.valid()) {
    binding_.abandon(flight.container);
  }
  return flight;
}

void TaskDesk::done(const TaskKey& key) {
  const auto flight = land(key);
  if (!flight) return;
  if (flight->container.valid()) asking_.insert(flight->container);
  if (flight->state == Flight::State::cancelled) return;
  const JobId id = flight->task.job;
  binding_.finish(flight->task, flight->container);
  count(*flight);
  if (!flight->container.valid()) {
    jobs_.at(id).busy_cpus.erase(flight->on);
    asking_cpus_.insert({id, flight->on});
  }
  if (binding_.unfinished(id) == 0) complete(id);
}

void TaskDesk::over_limit(const TaskKey& key) {
  const auto flight = land(key);
  if (!flight || flight->state == Flight::State::cancelled) return;
  if (flight->container.valid()) return lose(*flight);  // it was given none there
  Job& job = jobs_.at(flight->task.job);
  ++counts_.redone;
  job.given_up.push_back({flight->task, flight->on});
  job.busy_cpus.erase(flight->on);
  for (const NodeId node : job.nodes) asking_cpus_.insert({flight->task.job, node});
}

void TaskDesk::lost(const TaskKey& key) {
  const auto flight = land(key);
  if (flight && flight->state == Flight::State::wanted) lose(*flight);
}

void TaskDesk::lose(const Flight& flight) {
  ++counts_.redone;
  binding_.lose(flight.task, flight.container);
  if (!flight.container.valid()) jobs_.at(flight.task.job).busy_cpus.erase(flight.on);
  ask_all(machine_.nodes[flight.task.home.value].rack);
}

void TaskDesk::count(const Flight& flight) {
  if (!flight.container.valid()) {
    ++counts_.on_cpu;
  } else if (flight.on == flight.task.home) {
    ++counts_.local;
  } else {
    ++counts_.remote;
    counts_.bytes += 2 * jobs_.at(flight.task.job).spec.transfer;
  }
}

// All in a rack that may have room.
void TaskDesk::ask_all(RackId rack) {
  for (std::uint32_t i = 0; i < binding_.containers(); ++i) {
    if (machine_.nodes[binding_.node_of({i}).value].rack == rack) asking_.insert(ContainerId{i});
  }
  for (const JobId id : computing_) {
    for (const NodeId node : jobs_.at(id).nodes) {
      if (machine_.nodes[node.value].rack == rack) asking_cpus_.insert({id, node});
    }
  }
}

// CPUs first, then accelerators, by id.
void TaskDesk::hand_out() {
  const auto cpus = std::exchange(asking_cpus_, {});
  for (const auto& [job, node] : cpus) offer_cpu(job, node);
  const auto containers = std::exchange(asking_, {});
  for (const ContainerId id : containers) {
    if (!binding_.present(binding_.node_of(id))) continue;
    while (executor_.cards()[id.value].room && feed(id)) {
    }
  }
}

void TaskDesk::submit(Job& job, const JobBinding::Task& task, ContainerId container, NodeId on, Duration limit) {
  if (unused_places_.empty()) {
    unused_places_.push_back(static_cast<std::uint32_t>(flights_.size()));
    flights_.emplace_back();
  }
  const std::uint32_t place = unused_places_.back();
  unused_places_.pop_back();
  Flight& flight = flights_[place];
  flight = {
      task, container, on, flight.attempt + 1, static_cast<std::uint32_t>(job.begun.size()), Flight::State::wanted};
  job.begun.push_back(place);
  const Duration takes = container.valid() ? job.spec.accelerator : job.cpu;
  executor_.submit({{place, flight.attempt}, task.job, task.home, on, container, takes, limit, job.spec.transfer});
}

void TaskDesk::offer_cpu(JobId id, NodeId node) {
  if (!computing_.contains(id)) return;
  Job& job = jobs_.at(id);
  if (job.busy_cpus.contains(node)) return;
  const auto again = take_again(job, node);
  const auto task = again ? again : binding_.take_for_cpu(id, node);
  if (!task) return;
  job.busy_cpus.insert(node);
  submit(job, *task, {}, node, again ? Duration{0} : job.spec.limit);
}

// The first that was given up in this rack on another node of the job; on this one if the job has no other there.
std::optional<JobBinding::Task> TaskDesk::take_again(Job& job, NodeId node) {
  const auto in_rack = [&](NodeId other) {
    return machine_.nodes[other.value].rack == machine_.nodes[node.value].rack;
  };
  const bool alone = std::ranges::count_if(job.nodes, in_rack) == 1;
  const auto found = std::ranges::find_if(
      job.given_up, [&](const GivenUp& one) { return in_rack(one.on) && (alone || one.on != node); });
  if (found == job.given_up.end()) return {};
  const JobBinding::Task task = found->task;
  job.given_up.erase(found);
  return task;
}

bool TaskDesk::feed(ContainerId id) {
  const auto task = binding_.take(id);
  if (!task) return false;
  submit(jobs_.at(task->job), *task, id, binding_.node_of(id), Duration{0});
  return true;
}

TaskCounts TaskDesk::counts() const {
  TaskCounts counts = counts_;
  counts.bound = binding_.bindings().made;
  counts.rebound = binding_.bindings().moved;
  return counts;
}

std::vector<TaskFact> TaskDesk::take_facts() {
  std::vector<TaskFact> facts;
  for (const NodeId node : binding_.take_serving_changes()) facts.emplace_back(Serving{node, binding_.serves(node)});
  return facts;
}

}  // namespace rota
