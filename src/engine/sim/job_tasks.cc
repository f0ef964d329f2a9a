#include "engine/sim/job_tasks.h"

#include <algorithm>

#include "base/check.h"
#include "model/cpu_factor.h"

namespace rota::sim {
namespace {

Duration divided(std::int64_t amount, std::int64_t by) { return Duration{(amount + by / 2) / by}; }

}  // namespace

JobTasks::JobTasks(Bind bind, const Machine& machine, const TaskTable& table, const ContainerModel& containers,
                   Loop& loop)
    : bind_(bind),
      machine_(machine),
      table_(table),
      model_(containers),
      loop_(loop),
      binding_(bind, machine),
      check_(binding_.containers(), containers.pipeline),
      containers_(binding_.containers(), Pipeline(containers.pipeline)) {
  use_.accelerators = static_cast<std::int64_t>(containers_.size());
}

void JobTasks::arrive(JobId id, std::int64_t number, Duration run_time) {
  if (!opened_) opened_ = loop_.now();
  const TaskSpec* spec = table_.of(number);
  if (!spec || (bind_ == Bind::none && spec->cpu == Duration{0})) return;  // it runs as long as its log says
  Job& job = jobs_[id];
  job.spec = *spec;
  job.run_time = run_time;
  job.cpu = spec->cpu;
  job.tasks = spec->count;
  check_.came(id, spec->count);
}

void JobTasks::start(JobId id, const Placement& where, Duration pause) {
  Job& job = jobs_.at(id);
  CHECK(job.run == 0 && !where.shares.empty(), "a job is started once, on nodes");
  if (!std::exchange(job.started, true)) ++use_.jobs;
  job.run = ++runs_;
  job.nodes.clear();
  for (const Share& share : where.shares) job.nodes.push_back(share.node);
  std::ranges::sort(job.nodes);
  if (job.cpu == Duration{0}) {
    const auto nodes = static_cast<std::int64_t>(job.nodes.size());
    const std::int64_t rounds = (job.spec.count + nodes - 1) / nodes;
    job.cpu = std::max((job.run_time - job.spec.start_up) / rounds, Duration{1});
  }
  binding_.begin(id, where.shares, job.tasks, {job.cpu, job.spec.accelerator});
  push(loop_.now() + pause + job.spec.start_up, Kind::begin, id.value, job.run);
  settle();
}

void JobTasks::begin(JobId id) {
  Job& job = jobs_.at(id);
  job.computing = true;
  computing_.insert(id);
  binding_.ready(id);
  if (job.tasks == 0) return complete(id);
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    const RackId rack = machine_.nodes[job.nodes[i].value].rack;
    if (i == 0 || machine_.nodes[job.nodes[i - 1].value].rack != rack) ask_all(rack);
  }
}

void JobTasks::stop(JobId id, bool kept) {
  Job& job = jobs_.at(id);
  if (job.run == 0) {  // it waits, or has done everything at this very instant
    if (!kept) job.tasks = job.spec.count;
    if (!kept) check_.stopped(id, true);
    return;
  }
  use_.redone += job.begun;
  job.tasks = binding_.unfinished(id);
  binding_.end(id);
  computing_.erase(id);
  if (!kept) job.tasks = job.spec.count;
  check_.stopped(id, !kept);
  job.run = 0;
  job.begun = 0;
  job.computing = false;
  job.busy_cpus.clear();
  job.given_up.clear();
  settle();
}

void JobTasks::forget(JobId id) {
  if (!has(id)) return;
  stop(id, true);
  check_.forgot(id);
  jobs_.erase(id);
}

void JobTasks::complete(JobId id) {
  Job& job = jobs_.at(id);
  check_.ended(id);
  binding_.end(id);
  computing_.erase(id);
  job.tasks = 0;
  job.run = 0;
  job.computing = false;
  job.busy_cpus.clear();
  listener_->tasks_done(id);
}

void JobTasks::leave(NodeId node) {
  binding_.leave(node);
  lose_flights(node);
  for (std::uint32_t a = 0; a < machine_.nodes[node.value].accelerators; ++a) {
    const ContainerId id = binding_.container(node, a);
    containers_[id.value] = Pipeline(model_.pipeline);
    check_.emptied(id);
  }
  ask_all(machine_.nodes[node.value].rack);
  push(loop_.now(), Kind::ask, 0, 0);
  settle();
}

void JobTasks::lose_flights(NodeId node) {
  for (Flight& flight : flights_) {
    if (!flight.aboard || !flight.container.valid() || flight.on != node) continue;
    flight.aboard = false;
    if (Job* job = owner(flight)) {
      binding_.lose(flight.task, flight.container);
      check_.lost(flight.task.job);
      --job->begun;
      ++use_.redone;
    } else {
      binding_.abandon(flight.container);
    }
  }
}

void JobTasks::join(NodeId node) {
  binding_.join(node);
  ask_all(machine_.nodes[node.value].rack);
  push(loop_.now(), Kind::ask, 0, 0);
  settle();
}

void JobTasks::push(Instant at, Kind kind, std::uint32_t who, std::uint32_t run) {
  events_.push({at, kind, who, run, order_++});
}

void JobTasks::advance(Instant now) {
  while (!events_.empty() && events_.top().at <= now) {
    while (!events_.empty() && events_.top().at <= now) {
      const Event event = events_.top();
      events_.pop();
      happen(event);
    }
    offer(now);
  }
  settle();
}

void JobTasks::settle() {
  if (binding_.serving_changed()) listener_->serving_changed();
  wait_for_bindings();
  loop_.set(*this, events_.empty() ? kNever : std::max(events_.top().at, loop_.now()));
}

void JobTasks::happen(const Event& event) {
  switch (event.kind) {
    case Kind::finished:
      return finished(event.who);
    case Kind::given_up:
      return given_up(event.who);
    case Kind::ready:
      asking_.insert(ContainerId{event.who});
      return;
    case Kind::ask:
      return;
    case Kind::bound:
      binding_.settle(event.who);
      for (std::uint32_t i = 0; i < containers_.size(); ++i) asking_.insert(ContainerId{i});
      return;
    case Kind::begin: {
      const auto job = jobs_.find(JobId{event.who});
      if (job != jobs_.end() && job->second.run == event.run) begin(job->first);
      return;
    }
  }
}

JobTasks::Job* JobTasks::owner(const Flight& flight) {
  const auto job = jobs_.find(flight.task.job);
  return job != jobs_.end() && job->second.run == flight.run ? &job->second : nullptr;
}

void JobTasks::finished(std::uint32_t index) {
  const Flight flight = flights_[index];
  flights_[index].aboard = false;
  unused_flights_.push_back(index);
  if (!flight.aboard) return;
  Job* job = owner(flight);
  if (flight.container.valid()) {
    const Instant from = flight.passage.compute_begin;
    const Instant until = flight.passage.compute_end;
    use_.computing += until - from;
    listener_->computed(job ? flight.task.job : JobId{}, flight.on, from, until);
    asking_.insert(flight.container);
  }
  if (!job) {
    if (flight.container.valid()) binding_.abandon(flight.container);
    return;
  }
  binding_.finish(flight.task, flight.container);
  check_.finished(flight.task.job);
  --job->begun;
  count(flight);
  if (!flight.container.valid()) {
    job->busy_cpus.erase(flight.on);
    asking_cpus_.insert({flight.task.job, flight.on});
  }
  if (binding_.unfinished(flight.task.job) == 0) complete(flight.task.job);
}

void JobTasks::given_up(std::uint32_t index) {
  const Flight flight = flights_[index];
  flights_[index].aboard = false;
  unused_flights_.push_back(index);
  Job* const job = owner(flight);
  if (!job) return;
  check_.lost(flight.task.job);
  --job->begun;
  ++use_.redone;
  job->given_up.push_back({flight.task, flight.on});
  job->busy_cpus.erase(flight.on);
  for (const NodeId node : job->nodes) asking_cpus_.insert({flight.task.job, node});
}

// Slots that have been bound meanwhile can be used after a moment, and in the order in which they were bound.
void JobTasks::wait_for_bindings() {
  if (binding_.slot_bindings() == awaited_bindings_) return;
  awaited_bindings_ = binding_.slot_bindings();
  push(loop_.now() + model_.binding, Kind::bound, static_cast<std::uint32_t>(awaited_bindings_), 0);
}

void JobTasks::count(const Flight& flight) {
  if (!flight.container.valid()) {
    ++use_.on_cpu;
  } else if (flight.on == flight.task.home) {
    ++use_.local;
  } else {
    ++use_.remote;
    use_.bytes += 2 * jobs_.at(flight.task.job).spec.transfer;
  }
}

// Everybody in a rack who may have room.
void JobTasks::ask_all(RackId rack) {
  for (std::uint32_t i = 0; i < containers_.size(); ++i) {
    if (machine_.nodes[binding_.node_of({i}).value].rack == rack) asking_.insert(ContainerId{i});
  }
  for (const JobId id : computing_) {
    for (const NodeId node : jobs_.at(id).nodes) {
      if (machine_.nodes[node.value].rack == rack) asking_cpus_.insert({id, node});
    }
  }
}

// CPUs first, then accelerators, by id.
void JobTasks::offer(Instant now) {
  const auto cpus = std::exchange(asking_cpus_, {});
  for (const auto& [job, node] : cpus) offer_cpu(job, node, now);
  const auto containers = std::exchange(asking_, {});
  for (const ContainerId id : containers) {
    if (!binding_.present(binding_.node_of(id))) continue;
    while (containers_[id.value].reader_free() <= now && feed(id, now)) {
    }
  }
}

std::uint32_t JobTasks::board(const Flight& flight) {
  ++jobs_.at(flight.task.job).begun;
  check_.began(flight.task.job);
  if (unused_flights_.empty()) {
    flights_.push_back(flight);
    return static_cast<std::uint32_t>(flights_.size() - 1);
  }
  const std::uint32_t index = unused_flights_.back();
  unused_flights_.pop_back();
  flights_[index] = flight;
  return index;
}

void JobTasks::offer_cpu(JobId id, NodeId node, Instant now) {
  if (!computing_.contains(id)) return;
  Job& job = jobs_.at(id);
  if (job.busy_cpus.contains(node)) return;
  const auto again = take_again(job, node);
  const auto task = again ? again : binding_.take_for_cpu(id, node);
  if (!task) return;
  job.busy_cpus.insert(node);
  const Duration takes = time_for(job.cpu, machine_.nodes[node.value].cpu_factor);
  const bool too_long = !again && job.spec.limit > Duration{0} && takes > job.spec.limit;
  push(now + (too_long ? job.spec.limit : takes), too_long ? Kind::given_up : Kind::finished,
       board({*task, {}, node, job.run, {}, true}), 0);
}

// The first that was given up in this rack on another node of the job; on this one if the job has no other there.
std::optional<JobBinding::Task> JobTasks::take_again(Job& job, NodeId node) {
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

bool JobTasks::feed(ContainerId id, Instant now) {
  const auto task = binding_.take(id);
  if (!task) return false;
  const Job& job = jobs_.at(task->job);
  Pipeline& pipeline = containers_[id.value];
  const Passage passage = pipeline.admit(now, stages(job, *task, id));
  check_.admitted(id, now, passage);
  push(passage.write_end, Kind::finished, board({*task, id, binding_.node_of(id), job.run, passage, true}), 0);
  if (pipeline.reader_free() > now) push(pipeline.reader_free(), Kind::ready, id.value, 0);
  return true;
}

StageTimes JobTasks::stages(const Job& job, const JobBinding::Task& task, ContainerId container) const {
  const Node& node = machine_.nodes[binding_.node_of(container).value];
  const Duration compute = divided(job.spec.accelerator.count() * kUnitSpeed, node.accelerator_speed);
  const bool copied = model_.copies_all || task.home != binding_.node_of(container);
  Duration transfer{0};
  if (copied && job.spec.transfer > 0 && node.accelerator_link > 0) {
    transfer = divided(job.spec.transfer * 1000, node.accelerator_link);
  }
  return {transfer, std::max(compute, Duration{1}), transfer};
}

TaskUse JobTasks::use(Instant now) const {
  TaskUse use = use_;
  use.length = opened_ ? now - *opened_ : Duration{0};
  use.checks = check_.checks();
  use.bound = binding_.bindings().made;
  use.rebound = binding_.bindings().moved;
  return use;
}

}  // namespace rota::sim
