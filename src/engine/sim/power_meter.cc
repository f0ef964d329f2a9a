#include "engine/sim/power_meter.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace rota::sim {
namespace {

// Microjoules on top of millijoules: sums of years of large machines do not fit into microjoules.
void add(std::int64_t microjoules, std::int64_t& millijoules, std::int64_t& remainder) {
  remainder += microjoules;
  millijoules += remainder / 1000;
  remainder %= 1000;
}

}  // namespace

PowerMeter::PowerMeter(const Machine* machine, const MeterOptions& options)
    : machine_(machine), by_job_(options.by_job), keeps_states_(options.states) {
  if (!machine) return;
  nodes_.resize(machine->nodes.size());
  if (!machine->tariff.has_steps()) return;
  midnight_ = machine->tariff.time_of_day(options.unix_start);
  spent_.resize(nodes_.size(), {.cost = {}, .added = {}, .paid = paid(kEpoch)});
}

std::int64_t PowerMeter::draw(NodeId id) const {
  const PowerDraw& power = machine_->nodes[id.value].power;
  const NodeMeter& node = nodes_[id.value];
  switch (node.state) {
    case PowerState::on:
      return power.idle + added_draw(id);
    case PowerState::booting:
      return power.booting();
    case PowerState::shutting_down:
      return power.shutting_down();
    case PowerState::off:
      return power.off;
  }
  return 0;
}

NodeUse PowerMeter::use(NodeId id) const {
  const NodeMeter& node = nodes_[id.value];
  switch (node.state) {
    case PowerState::on:
      return node.busy > 0 ? NodeUse::busy : NodeUse::idle;
    case PowerState::booting:
      return NodeUse::booting;
    case PowerState::shutting_down:
      return NodeUse::shutting_down;
    case PowerState::off:
      return NodeUse::off;
  }
  return NodeUse::idle;
}

std::int64_t PowerMeter::added_draw(NodeId id) const {
  const PowerDraw& power = machine_->nodes[id.value].power;
  return power.busy * nodes_[id.value].busy + power.accelerator * nodes_[id.value].accelerators;
}

void PowerMeter::settle(NodeId id, Instant now) {
  NodeMeter& node = nodes_[id.value];
  const std::int64_t passed = (now - node.since).count();
  if (!spent_.empty()) charge(id, now);
  if (states_) states_->add(use(id), draw(id), node.since, now);
  node.energy += draw(id) * passed;
  node.added += added_draw(id) * passed;
  node.work += node.busy * passed;
  if (node.state == PowerState::off) node.off += machine_->nodes[id.value].processors * passed;
  node.since = now;
}

void PowerMeter::open(Instant now) {
  opened_ = now;
  shock_ = {};
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    settle(NodeId{i}, now);
    nodes_[i].energy = nodes_[i].work = nodes_[i].off = nodes_[i].added = 0;
  }
  for (Spent& spent : spent_) spent = {.cost = {}, .added = {}, .paid = paid(now)};
  if (keeps_states_) states_.emplace(now);
}

std::int64_t PowerMeter::paid(Instant until) const {
  return machine_->tariff.until(midnight_ + until.time_since_epoch());
}

// What happens at one time often happens to many nodes.
void PowerMeter::charge(NodeId id, Instant now) {
  if (now != paid_at_) {
    paid_ = paid(now);
    paid_at_ = now;
  }
  Spent& spent = spent_[id.value];
  spent.cost.add(draw(id), paid_ - spent.paid);
  spent.added.add(added_draw(id), paid_ - spent.paid);
  spent.paid = paid_;
}

// As used_by() tells it.
void PowerMeter::charge(JobId job, const Dispatch& dispatch, Instant now) {
  if (costs_of_jobs_.size() <= job.value) costs_of_jobs_.resize(std::size_t{job.value} + 1);
  const std::int64_t time = paid(now) - paid(dispatch.start);
  costs_of_jobs_[job.value] += dispatch.cost_of_tasks;
  for (const Share& s : dispatch.shares) {
    const Node& node = machine_->nodes[s.node.value];
    const std::int64_t adds = node.power.busy * s.processors + node.power.accelerator * dispatch.accelerators;
    costs_of_jobs_[job.value].add(adds, time);
    costs_of_jobs_[job.value].add(node.power.idle, time * s.processors / node.processors);
  }
}

void PowerMeter::start(JobId job, const Placement& where, Instant now) {
  const auto accelerators = static_cast<std::uint32_t>(where.per_node.accelerators);
  for (const Share& s : where.shares) {
    settle(s.node, now);
    CHECK(nodes_[s.node.value].state == PowerState::on, "a job runs on nodes that are on");
    nodes_[s.node.value].busy += s.processors;
    nodes_[s.node.value].accelerators += accelerators;
  }
  running_[job] = {where.shares, accelerators, now, 0, {}};
}

void PowerMeter::computed(JobId job, NodeId id, Instant from, Instant to) {
  const std::int64_t adds = machine_->nodes[id.value].power.accelerator;
  const std::int64_t drew = adds * (to - from).count();
  Cost cost;
  if (!spent_.empty()) {
    cost.add(adds, paid(to) - paid(from));
    spent_[id.value].cost += cost;
    spent_[id.value].added += cost;
  }
  if (states_) states_->add_draw(adds, from, to);
  nodes_[id.value].energy += drew;
  nodes_[id.value].added += drew;
  const auto found = running_.find(job);
  if (found == running_.end()) return;
  found->second.tasks += drew;
  found->second.cost_of_tasks += cost;
}

std::int64_t PowerMeter::used_by(const Dispatch& dispatch, Instant now) const {
  const std::int64_t ran = (now - dispatch.start).count();
  std::int64_t used = dispatch.tasks;
  for (const Share& s : dispatch.shares) {
    const Node& node = machine_->nodes[s.node.value];
    used += (node.power.busy * s.processors + node.power.accelerator * dispatch.accelerators) * ran +
            node.power.idle * ran * s.processors / node.processors;
  }
  return used;
}

void PowerMeter::end(JobId job, Instant now, bool killed) {
  const auto found = running_.find(job);
  if (found == running_.end()) return;
  const std::int64_t used = used_by(found->second, now);
  add(used, ended_, ended_rest_);
  if (by_job_) {
    if (of_jobs_.size() <= job.value) of_jobs_.resize(std::size_t{job.value} + 1);
    of_jobs_[job.value] += used;
    if (!spent_.empty()) charge(job, found->second, now);
  }
  if (killed) {
    add(used, lost_, lost_rest_);
    before_[job] += used;
  } else {
    before_.erase(job);
  }
  for (const Share& s : found->second.shares) {
    settle(s.node, now);
    nodes_[s.node.value].busy -= s.processors;
    nodes_[s.node.value].accelerators -= found->second.accelerators;
  }
  running_.erase(found);
}

void PowerMeter::switched(NodeId id, PowerState state, Instant now) {
  settle(id, now);
  NodeMeter& node = nodes_[id.value];
  CHECK(node.busy == 0, "a node on which a job runs is not switched");
  if (node.state == PowerState::on) ++node.cycles;
  if (node.state == PowerState::booting && state == PowerState::off) ++failed_boots_;
  const std::int64_t before = draw(id);
  node.state = state;
  count_shock(state, draw(id) - before, now);
}

void PowerMeter::count_shock(PowerState state, std::int64_t step, Instant now) {
  if (const std::int64_t minute = NodePower::minute_of(now); minute != shock_.minute) {
    shock_.minute = minute;
    shock_.switched = shock_.step = 0;
  }
  if (state == PowerState::booting || state == PowerState::shutting_down) ++shock_.switched;
  shock_.step += step;
  shock_.most_switched = std::max(shock_.most_switched, shock_.switched);
  shock_.largest_step = std::max(shock_.largest_step, std::abs(shock_.step));
}

std::int64_t PowerMeter::energy_of(NodeId id, Instant now) const {
  return nodes_[id.value].energy + draw(id) * (now - nodes_[id.value].since).count();
}

std::int64_t PowerMeter::energy_of(JobId job, Instant now) const {
  const auto before = before_.find(job);
  const auto found = running_.find(job);
  return (before == before_.end() ? 0 : before->second) + (found == running_.end() ? 0 : used_by(found->second, now));
}

JobDraw PowerMeter::of_job(JobId job) const {
  JobDraw drew;
  if (job.value < of_jobs_.size()) drew.energy = of_jobs_[job.value];
  if (job.value < costs_of_jobs_.size()) drew.cost = costs_of_jobs_[job.value];
  return drew;
}

NodeTotal PowerMeter::of(NodeId id, Instant now) const {
  const NodeMeter& node = nodes_[id.value];
  const std::int64_t passed = (now - node.since).count();
  NodeTotal total;
  total.processors = machine_->nodes[id.value].processors;
  total.work = node.work + node.busy * passed;
  total.off = node.off + (node.state == PowerState::off ? total.processors * passed : 0);
  total.idle = total.processors * (now - opened_).count() - total.work - total.off;
  total.cycles = node.cycles;
  total.energy = energy_of(id, now);
  if (spent_.empty()) return total;
  total.cost = spent_[id.value].cost;
  total.cost.add(draw(id), paid(now) - spent_[id.value].paid);
  return total;
}

std::vector<NodeTotal> PowerMeter::totals(Instant now) const {
  std::vector<NodeTotal> all;
  all.reserve(nodes_.size());
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    all.push_back(of(NodeId{i}, now));
    all.back().name = machine_->nodes[i].name;
  }
  return all;
}

Consumption PowerMeter::read(Instant now) const {
  Consumption all;
  all.length = now - opened_;
  std::int64_t remainder = 0;
  std::int64_t always_rest = 0;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const NodeMeter& node = nodes_[i];
    const NodeTotal total = of(NodeId{i}, now);
    all.work += total.work;
    all.off += total.off;
    all.idle += total.idle;
    all.cycles += total.cycles;
    all.most_cycles = std::max(all.most_cycles, total.cycles);
    all.cost += total.cost;
    add(total.energy, all.energy, remainder);
    const std::int64_t added = node.added + added_draw(NodeId{i}) * (now - node.since).count();
    add(machine_->nodes[i].power.idle * all.length.count() + added, all.always_on, always_rest);
  }
  all.jobs = ended_;
  all.lost = lost_;
  all.failed_boots = failed_boots_;
  all.most_switched = shock_.most_switched;
  all.largest_step = shock_.largest_step;
  std::int64_t jobs_rest = ended_rest_;
  for (const auto& [job, dispatch] : running_) add(used_by(dispatch, now), all.jobs, jobs_rest);
  if (!spent_.empty()) read_always_on_costs(now, all);
  return all;
}

NodeStates PowerMeter::states(Instant now) const {
  if (!states_) return {};
  StateSeries all = *states_;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) all.add(use(NodeId{i}), draw(NodeId{i}), nodes_[i].since, now);
  return all.read(now);
}

void PowerMeter::read_always_on_costs(Instant now, Consumption& all) const {
  const std::int64_t until = paid(now);
  const std::int64_t whole = until - paid(opened_);
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const PowerDraw& power = machine_->nodes[i].power;
    const std::int64_t time = until - spent_[i].paid;
    all.always_on_cost.add(power.idle, whole);
    all.always_on_cost += spent_[i].added;
    all.always_on_cost.add(added_draw(NodeId{i}), time);
  }
}

}  // namespace rota::sim
