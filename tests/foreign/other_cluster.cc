#include "foreign/other_cluster.h"

#include <algorithm>
#include <utility>

namespace rota::foreign {
namespace {

bool holds(const JobRow& job, const std::string& node) {
  return job.state == State::running &&
         std::ranges::any_of(job.where, [&](const Part& part) { return part.node == node; });
}

bool belongs(const NodeRow& node, const std::string& partition) {
  return std::ranges::find(node.partitions, partition) != node.partitions.end();
}

}  // namespace

const JobRow* OtherCluster::find(Number job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

JobRow* OtherCluster::known(Number job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

NodeRow* OtherCluster::node_of(const std::string& name) {
  const auto found = std::ranges::find(nodes_, name, &NodeRow::name);
  return found == nodes_.end() ? nullptr : &*found;
}

std::int64_t OtherCluster::free_on(const NodeRow& node) const {
  std::int64_t free = node.processors;
  for (const auto& [number, job] : jobs_) {
    if (job.state != State::running) continue;
    for (const Part& part : job.where) free -= part.node == node.name ? part.processors : 0;
  }
  return free;
}

std::int64_t OtherCluster::memory_free_on(const NodeRow& node) const {
  if (node.memory == 0) return INT64_MAX;
  std::int64_t free = node.memory;
  for (const auto& [number, job] : jobs_) free -= holds(job, node.name) ? job.asks.memory : 0;
  return free;
}

Instant OtherCluster::ends_at(const JobRow& job) const {
  return job.started + std::min(job.asks.run_time, job.asks.limit);
}

Instant OtherCluster::next() const {
  Instant next = away() ? back_at_ : kNever;
  for (const auto& [number, job] : jobs_) {
    if (job.state == State::running) next = std::min(next, std::max(ends_at(job), now_ + Duration{1}));
    if (job.state == State::ended && !away())
      next = std::min(next, std::max(job.ended + kRemembers, now_ + Duration{1}));
  }
  return next;
}

void OtherCluster::run_to(Instant to) {
  while (next() <= to) {
    now_ = next();
    for (auto& [number, job] : jobs_) {
      if (job.state != State::running || ends_at(job) > now_) continue;
      end(job, job.asks.run_time > job.asks.limit ? Ending::timed_out : Ending::completed, now_);
    }
    schedule();
    forget();
  }
  now_ = to;
  schedule();
  forget();
}

Number OtherCluster::submit(const Wish& wish, Hold hold) {
  const Number number = next_number_;
  next_number_ += 1 + number % 3;  // others' jobs take numbers too
  JobRow& job = jobs_[number];
  job.number = number;
  job.asks = wish;
  job.hold = hold;
  job.submitted = now_;
  schedule();
  return number;
}

void OtherCluster::begin(JobRow& job, std::vector<Part> where) {
  job.state = State::running;
  job.started = now_;
  job.where = std::move(where);
  ++job.starts;
}

void OtherCluster::end(JobRow& job, Ending how, Instant at) {
  job.state = State::ended;
  job.how = how;
  job.ended = at;
}

// In order of priority, then of number; no job overtakes one that does not fit.
void OtherCluster::schedule() {
  if (away()) return;
  std::vector<JobRow*> queue;
  for (auto& [number, job] : jobs_) {
    if (job.state == State::waiting && job.hold == Hold::none && !job.asks.gated && is_up(job.asks.partition))
      queue.push_back(&job);
  }
  std::ranges::stable_sort(queue, [](const JobRow* a, const JobRow* b) { return a->asks.priority > b->asks.priority; });
  for (JobRow* job : queue) {
    auto where = place_for(job->asks);
    if (!where) return;
    begin(*job, std::move(*where));
  }
}

bool OtherCluster::has_partition(const std::string& name) const {
  return std::ranges::find(partitions_, name, &PartitionRow::name) != partitions_.end();
}

bool OtherCluster::is_up(const std::string& partition) const {
  const auto found = std::ranges::find(partitions_, partition, &PartitionRow::name);
  return found != partitions_.end() && found->up;
}

std::optional<std::vector<Part>> OtherCluster::place_for(const Wish& wish) const {
  std::vector<Part> where;
  std::uint32_t missing = wish.processors;
  const std::uint32_t nodes = std::min(wish.nodes, wish.processors);
  for (const NodeRow& node : nodes_) {
    if (missing == 0) break;
    if (node.state != NodeState::up || !belongs(node, wish.partition) || memory_free_on(node) < wish.memory) continue;
    const std::int64_t free = free_on(node);
    const std::uint32_t larger = nodes > 0 && where.size() < wish.processors % nodes ? 1 : 0;
    const std::uint32_t share =
        nodes > 0 ? wish.processors / nodes + larger
                  : static_cast<std::uint32_t>(std::clamp<std::int64_t>(free, 0, std::int64_t{missing}));
    if (share == 0 || free < share) continue;
    where.push_back({node.name, share});
    missing -= share;
  }
  if (missing > 0) return std::nullopt;
  return where;
}

void OtherCluster::forget() {
  if (away()) return;
  for (auto row = jobs_.begin(); row != jobs_.end();) {
    const bool old = row->second.state == State::ended && row->second.ended + kRemembers <= now_;
    auto next = std::next(row);
    if (old) forgotten_.insert(jobs_.extract(row));
    row = next;
  }
}

Result<void> OtherCluster::cancel(Number number) {
  JobRow* job = known(number);
  if (away()) return fail("the manager does not answer.");
  if (!job || job->state == State::ended) return fail("job {} is not there.", number);
  end(*job, Ending::cancelled, now_);
  job->changed_by.clear();
  schedule();
  return {};
}

Result<void> OtherCluster::hold(Number number, Hold by) {
  JobRow* job = known(number);
  if (away()) return fail("the manager does not answer.");
  if (!job || job->state != State::waiting) return fail("job {} does not wait.", number);
  if (job->hold > by) return fail("job {} is held by an operator.", number);
  job->hold = by;
  job->changed_by.clear();
  return {};
}

Result<void> OtherCluster::release(Number number, Hold by) {
  JobRow* job = known(number);
  if (away()) return fail("the manager does not answer.");
  if (!job || job->state != State::waiting) return fail("job {} does not wait.", number);
  if (job->hold > by) return fail("job {} is held by an operator.", number);
  job->hold = Hold::none;
  job->changed_by.clear();
  schedule();
  return {};
}

Result<void> OtherCluster::requeue(Number number) {
  JobRow* job = known(number);
  if (away()) return fail("the manager does not answer.");
  if (!job || job->state != State::running) return fail("job {} does not run.", number);
  job->state = State::waiting;
  job->where.clear();
  job->started = kNever;
  schedule();
  return {};
}

Result<void> OtherCluster::set_limit(Number number, Duration limit) {
  JobRow* job = known(number);
  if (away()) return fail("the manager does not answer.");
  if (!job || job->state == State::ended) return fail("job {} is not there.", number);
  job->asks.limit = limit;
  job->changed_by.clear();
  return {};
}

Result<void> OtherCluster::set_processors(Number number, std::uint32_t processors) {
  return change(number, {.processors = processors});
}

Result<void> OtherCluster::set_priority(Number number, std::int64_t priority) {
  return change(number, {.priority = priority});
}

Result<void> OtherCluster::change(Number number, const Change& change) {
  JobRow* job = known(number);
  if (away()) return fail("the manager does not answer.");
  if (!job || job->state != State::waiting) return fail("job {} does not wait.", number);
  if (change.limit.value_or(Duration{1}) <= Duration{0} || change.processors.value_or(1) == 0)
    return fail("job {} cannot ask for no time, or for no processors.", number);
  if (change.partition && !has_partition(*change.partition))
    return fail("there is no partition {}.", *change.partition);
  Wish& asks = job->asks;
  asks.limit = change.limit.value_or(asks.limit);
  asks.priority = change.priority.value_or(asks.priority);
  asks.processors = change.processors.value_or(asks.processors);
  asks.nodes = change.nodes.value_or(asks.nodes);
  asks.memory = change.memory.value_or(asks.memory);
  asks.partition = change.partition.value_or(asks.partition);
  job->changed_by.clear();
  schedule();
  return {};
}

ClientAnswer OtherCluster::carry_out(const ClientOrder& order) {
  if (const auto before = answers_.find(order.key); before != answers_.end()) {
    ++repeats_;
    return before->second;
  }
  const std::map<Number, JobRow> jobs = jobs_;
  const Result<Number> done = do_as_told(order);
  ClientAnswer answer;
  answer.changed = jobs != jobs_;
  if (done) {
    answer.job = *done;
  } else {
    answer.refusal = done.error().message;
  }
  return answers_[order.key] = answer;
}

Result<Number> OtherCluster::do_as_told(const ClientOrder& order) {
  switch (order.kind) {
    case ClientOrder::Kind::submit: {
      std::int64_t processors = 0;
      for (const NodeRow& node : nodes_) processors += node.processors;
      if (order.wish.processors > processors) return fail("there are no {} processors.", order.wish.processors);
      if (!has_partition(order.wish.partition)) return fail("there is no partition {}.", order.wish.partition);
      const Number number = submit(order.wish, order.by);
      jobs_.at(number).key = jobs_.at(number).changed_by = order.key;
      return number;
    }
    case ClientOrder::Kind::cancel:
      TRY(cancel(order.job));
      break;
    case ClientOrder::Kind::hold:
      TRY(hold(order.job, order.by));
      break;
    case ClientOrder::Kind::release:
      TRY(release(order.job, order.by));
      break;
    case ClientOrder::Kind::change:
      TRY(change(order.job, order.change));
      break;
  }
  jobs_.at(order.job).changed_by = order.key;
  return order.job;
}

Result<void> OtherCluster::start(Number number, const std::vector<Part>& where, bool forced) {
  JobRow* job = known(number);
  if (away()) return fail("the manager does not answer.");
  if (!job || job->state != State::waiting) return fail("job {} does not wait.", number);
  if (job->hold != Hold::none && !forced) return fail("job {} is held.", number);
  if (!is_up(job->asks.partition) && !forced) return fail("partition {} is down.", job->asks.partition);
  std::uint32_t processors = 0;
  for (const Part& part : where) {
    const NodeRow* node = node_of(part.node);
    if (!node) return fail("there is no node {}.", part.node);
    const bool room = node->state == NodeState::up && belongs(*node, job->asks.partition) &&
                      free_on(*node) >= std::int64_t{part.processors} && memory_free_on(*node) >= job->asks.memory;
    if (!room && !forced) return fail("node {} has no room for job {}.", part.node, number);
    processors += part.processors;
  }
  if (processors != job->asks.processors) return fail("job {} asks for {} processors.", number, job->asks.processors);
  begin(*job, where);
  return {};
}

void OtherCluster::gate(Number number, bool gated) {
  if (JobRow* job = known(number)) {
    job->asks.gated = gated;
    job->changed_by.clear();
  }
  schedule();
}

void OtherCluster::add_node(NodeRow node) {
  if (node_of(node.name)) return;
  nodes_.insert(nodes_.begin(), std::move(node));  // its order is its own
  schedule();
}

Result<void> OtherCluster::rename_node(const std::string& from, const std::string& to) {
  NodeRow* node = node_of(from);
  if (!node || node_of(to)) return fail("{} cannot be called {}.", from, to);
  node->name = to;
  for (auto& [number, job] : jobs_) {
    for (Part& part : job.where) {
      if (part.node == from) part.node = to;
    }
  }
  return {};
}

Result<void> OtherCluster::resize_node(const std::string& name, std::uint32_t processors, std::int64_t memory) {
  NodeRow* node = node_of(name);
  if (!node) return fail("there is no node {}.", name);
  node->processors = processors;
  node->memory = memory;
  schedule();
  return {};
}

void OtherCluster::lose(const std::string& node) {
  for (auto& [number, job] : jobs_) {
    if (job.state == State::running && holds(job, node)) end(job, Ending::node_failed, now_);
  }
}

Result<void> OtherCluster::drop_node(const std::string& name) {
  if (!node_of(name)) return fail("there is no node {}.", name);
  lose(name);
  std::erase_if(nodes_, [&](const NodeRow& node) { return node.name == name; });
  return {};
}

Result<void> OtherCluster::set_node(const std::string& name, NodeState state) {
  NodeRow* node = node_of(name);
  if (!node) return fail("there is no node {}.", name);
  node->state = state;
  if (state == NodeState::down) lose(name);
  schedule();
  return {};
}

Result<void> OtherCluster::move_node(const std::string& name, const std::vector<std::string>& partitions) {
  NodeRow* node = node_of(name);
  if (!node) return fail("there is no node {}.", name);
  node->partitions = partitions;
  schedule();
  return {};
}

Result<void> OtherCluster::set_partition(const std::string& name, bool up) {
  const auto found = std::ranges::find(partitions_, name, &PartitionRow::name);
  if (found == partitions_.end()) return fail("there is no partition {}.", name);
  found->up = up;
  schedule();
  return {};
}

Listing OtherCluster::listing() const {
  Listing all{now_, {}, nodes_, partitions_};
  for (const auto& [number, job] : jobs_) all.jobs.push_back(job);
  return all;
}

}  // namespace rota::foreign
