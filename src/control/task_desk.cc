#include "control/task_desk.h"

#include <algorithm>

#include "base/check.h"

namespace rota {

TaskDesk::TaskDesk(Bind bind, const Machine& machine, Executor& executor, TaskDeskListener& listener,
                   const TaskDeskStart& from)
    : machine_(machine),
      executor_(executor),
      listener_(listener),
      epoch_(from.epoch),
      binding_(bind, machine, from.kept.all()) {
  CHECK(executor.cards().size() == binding_.containers(), "the executor has the cards of the machine");
  for (const auto& [id, asked] : from.kept.asked()) {
    Job& job = jobs_[id];
    job.spec = asked.tasks;
    job.on_cpus = asked.on_cpus;
    job.tasks = job.told = asked.left;
  }
  std::set<JobId> bound_themselves;
  for (const Bound& bound : from.kept.all()) {
    if (bound.job.valid()) bound_themselves.insert(bound.job);
    if (!bound.job.valid() && !binding_.binds_nodes()) facts_.emplace_back(Unbound{bound.node, bound.to, {}, 0});
  }
  for (const JobId id : bound_themselves) facts_.emplace_back(Unbound{{}, {}, id, 0});
}

void TaskDesk::ask(JobId id, const TaskSpec& spec, Duration on_cpus) {
  Job& job = jobs_[id];
  job.spec = spec;
  job.on_cpus = on_cpus;
  job.tasks = job.told = spec.count;
  note_changes();
  facts_.emplace_back(TasksAsked{id, spec, spec.count, on_cpus});
}

std::uint32_t TaskDesk::start(JobId id, const Placement& where) {
  Job& job = jobs_.at(id);
  CHECK(job.run == 0 && !where.shares.empty(), "a job is started once, on nodes");
  if (!std::exchange(job.started, true)) ++counts_.jobs;
  job.run = ++runs_;
  job.nodes.clear();
  for (const Share& share : where.shares) job.nodes.push_back(share.node);
  std::ranges::sort(job.nodes);
  if (job.spec.cpu == Duration{0}) {
    const auto nodes = static_cast<std::int64_t>(job.nodes.size());
    const std::int64_t rounds = (job.spec.count + nodes - 1) / nodes;
    job.spec.cpu = std::max((job.on_cpus - job.spec.start_up) / rounds, Duration{1});
  }
  binding_.begin(id, where.shares, job.tasks, {job.spec.cpu, job.spec.accelerator});
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
    job.tasks = binding_.unfinished(id);
    leave_nodes(id, job);
  }
  if (!kept) job.tasks = job.spec.count;
  tell_left(id, job);
}

// So many tasks are left. None: it ends, which is told anyway.
void TaskDesk::tell_left(JobId id, Job& job) {
  if (job.tasks == job.told || job.tasks == 0) return;
  job.told = job.tasks;
  facts_.emplace_back(TasksAsked{id, job.spec, job.tasks, job.on_cpus});
}

void TaskDesk::forget(JobId id) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return;
  note_changes();
  job->second.bound = 0;  // its end tells that already
  if (job->second.run != 0) leave_nodes(id, job->second);
  jobs_.erase(job);
}

void TaskDesk::leave_nodes(JobId id, Job& job) {
  counts_.redone += static_cast<std::int64_t>(job.begun.size());
  note_changes();
  if (std::exchange(job.bound, 0) > 0) facts_.emplace_back(Unbound{{}, {}, id, 0});
  job.uses.clear();
  binding_.end(id);
  computing_.erase(id);
  for (const std::uint32_t place : job.begun) {
    flights_[place].state = Flight::State::cancelled;
    executor_.cancel({epoch_, place, flights_[place].attempt});
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
  for (auto& [id, job] : jobs_) {
    std::erase_if(job.uses, [&](const auto& use) {
      if (use.second != node) return false;
      facts_.emplace_back(Unbound{use.first, node, id, 0});
      --job.bound;
      return true;
    });
  }
  ask_all(machine_.nodes[node.value].rack);
}

void TaskDesk::came(NodeId node) {
  if (present(node)) return;
  binding_.join(node);
  ask_all(machine_.nodes[node.value].rack);
}

// In which racks that is, is not said: all are asked.
void TaskDesk::settled(std::uint64_t slot_bindings) {
  binding_.settle(slot_bindings);
  for (std::uint32_t i = 0; i < binding_.containers(); ++i) asking_.insert(ContainerId{i});
}

// The flight that an answer is about, off its place; nothing: it was answered before, or never was.
std::optional<TaskDesk::Flight> TaskDesk::land(const TaskKey& key) {
  const bool known = key.epoch == epoch_ && key.place < flights_.size() && flights_[key.place].attempt == key.attempt &&
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
  const Duration takes = container.valid() ? job.spec.accelerator : job.spec.cpu;
  executor_.submit(
      {{epoch_, place, flight.attempt}, task.job, task.home, on, container, takes, limit, job.spec.transfer});
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
  const auto task = binding_.next_task(id);
  if (!task) return false;
  Job& job = jobs_.at(task->job);
  const NodeId on = binding_.node_of(id);
  if (!binding_.binds() && on != task->home) use(task->job, job, task->home, on);
  submit(job, *task, id, on, Duration{0});
  return true;
}

void TaskDesk::use(JobId id, Job& job, NodeId home, NodeId accelerators) {
  if (!job.uses.insert({home, accelerators}).second) return;
  ++job.bound;
  facts_.emplace_back(Bound{home, accelerators, id, 0});
}

// What binding did meanwhile becomes facts.
void TaskDesk::note_changes() {
  for (const JobBinding::Change& change : binding_.take_changes()) {
    const bool replaces = !change.job.valid() && change.to.valid();  // a node is bound once
    if (change.to.valid()) facts_.emplace_back(Bound{change.node, change.to, change.job, change.slots});
    if (change.from.valid() && !replaces)
      facts_.emplace_back(Unbound{change.node, change.from, change.job, change.slots});
    if (!change.job.valid()) continue;
    std::uint32_t& bound = jobs_.at(change.job).bound;
    if (change.to.valid()) bound += change.slots;
    if (change.from.valid()) bound -= change.slots;
  }
}

TaskCounts TaskDesk::counts() const {
  TaskCounts counts = counts_;
  counts.bound = binding_.bindings().made;
  counts.rebound = binding_.bindings().moved;
  return counts;
}

std::vector<TaskFact> TaskDesk::take_facts() {
  note_changes();
  std::vector<TaskFact> facts = std::exchange(facts_, {});
  for (const NodeId node : binding_.take_serving_changes()) facts.emplace_back(Serving{node, binding_.serves(node)});
  return facts;
}

}  // namespace rota
