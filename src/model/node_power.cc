#include "model/node_power.h"

#include <algorithm>

#include "base/check.h"
#include "model/moment.h"

namespace rota {
namespace {

constexpr Duration kLongestShunning = seconds(3600);

template <class Key>
void add(std::map<Key, std::int64_t>& sums, const Key& key, std::int64_t processors) {
  const auto at = sums.try_emplace(key, 0).first;
  at->second += processors;
  if (at->second == 0) sums.erase(at);
}

}  // namespace

NodePower::NodePower(const Machine* machine) : machine_(machine) {
  if (!machine) return;
  nodes_.resize(machine->nodes.size());
  sets_.assign(4, IdSet(nodes_.size()));
  rank_nodes();
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) count(NodeId{i}, 1);
}

// By milliwatts for each processor of a busy node.
void NodePower::rank_nodes() {
  const auto draw_of = [&](const Node& n) { return n.power.busy + n.power.idle / std::max(n.processors, 1U); };
  std::vector<std::int64_t> draws;
  for (const Node& node : machine_->nodes) {
    draws.push_back(draw_of(node));
    longest_boot_ = std::max(longest_boot_, node.power.boot);
    longest_absence_ = std::max(longest_absence_, node.power.shutdown + node.power.boot);
    longest_break_even_ = std::max(longest_break_even_, node.power.break_even());
  }
  std::sort(draws.begin(), draws.end());
  draws.erase(std::unique(draws.begin(), draws.end()), draws.end());
  for (const Node& node : machine_->nodes) {
    const auto at = std::lower_bound(draws.begin(), draws.end(), draw_of(node));
    rank_.push_back(static_cast<std::uint32_t>(at - draws.begin()));
  }
  asleep_by_rank_.assign(draws.size(), IdSet(nodes_.size()));
}

void NodePower::describe_anew(const Machine* machine) {
  NodePower fresh(machine);
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const NodeId id{i};
    fresh.put_back(id, nodes_[i]);
    if (health(id) != Health::up) fresh.set_health(id, health(id));
    if (serves(id)) fresh.served(id, true);
  }
  fresh.counters_ = counters_;
  fresh.loads_ = loads_;
  *this = std::move(fresh);
}

void NodePower::set_health(NodeId id, Health health) {
  if (health_.empty()) health_.assign(nodes_.size(), Health::up);
  if (health_[id.value] == health) return;
  count(id, -1);
  if (health_[id.value] == Health::up) ++unhealthy_;
  if (health == Health::up) --unhealthy_;
  health_[id.value] = health;
  count(id, 1);
}

void NodePower::count(NodeId id, std::int64_t sign) {
  if (health(id) != Health::up) return;
  const NodePowerRow& node = nodes_[id.value];
  const Node& described = machine_->nodes[id.value];
  const std::int64_t processors = sign * described.processors;
  nodes_in_[index(node.state)] += sign;
  processors_in_[index(node.state)] += processors;
  if (sign > 0) {
    sets_[index(node.state)].insert(id.value);
  } else {
    sets_[index(node.state)].erase(id.value);
  }
  if (node.state == PowerState::booting) add(booting_, node.until, processors);
  if (node.state == PowerState::shutting_down) {
    add(shutting_down_, std::pair(node.until, described.power.boot), processors);
  }
  if (node.state != PowerState::off) return;
  if (node.shunned_until > node.since) {
    add(shunned_, std::pair(node.shunned_until, described.power.boot), processors);
  } else {
    add(asleep_, described.power.boot, processors);
  }
  IdSet& ranked = asleep_by_rank_[rank_[id.value]];
  if (sign > 0) {
    ranked.insert(id.value);
  } else {
    ranked.erase(id.value);
  }
}

void NodePower::changed(NodeId id, PowerState state, Instant now, Instant until) {
  NodePowerRow& node = nodes_[id.value];
  const PowerState before = node.state;
  CHECK(before != state, "a node's power state changes");
  count(id, -1);
  if (before == PowerState::on) {
    ++node.cycles;
    ++cycles_;
  }
  if (state == PowerState::on) {
    node.failures = 0;
    node.shunned_until = kEpoch;
    node.by_rule = false;
  } else if (before == PowerState::booting && state == PowerState::off) {
    const Duration first = machine_->nodes[id.value].power.boot_retry;
    const Duration shunning = first * (std::int64_t{1} << std::min<std::uint16_t>(node.failures, 12));
    node.shunned_until = now + std::min(shunning, std::max(first, kLongestShunning));
    if (node.failures < UINT16_MAX) ++node.failures;
  }
  if (counters_.minute != minute_of(now)) {
    counters_.minute = minute_of(now);
    counters_.woken = counters_.slept = 0;
  }
  counters_.woken += before == PowerState::off ? 1 : 0;
  counters_.slept += before == PowerState::on ? 1 : 0;
  node.state = state;
  node.since = now;
  node.until = until;
  count(id, 1);
}

void NodePower::put_back(NodeId id, const NodePowerRow& row) {
  count(id, -1);
  cycles_ += row.cycles - nodes_[id.value].cycles;
  nodes_[id.value] = row;
  count(id, 1);
}

Instant NodePower::back_at(NodeId id, Instant now) const {
  const NodePowerRow& node = nodes_[id.value];
  const Duration boot = machine_->nodes[id.value].power.boot;
  switch (node.state) {
    case PowerState::on:
      return now;
    case PowerState::booting:
      return std::max(node.until, now + kMoment);
    case PowerState::shutting_down:
      return std::max(node.until, now) + boot;
    case PowerState::off:
      return std::max(node.shunned_until, now) + boot;
  }
  return kNever;
}

std::int64_t NodePower::booted_by(Instant at, Instant now) const {
  std::int64_t processors = 0;
  for (const auto& [until, count] : booting_) processors += std::max(until, now + kMoment) <= at ? count : 0;
  return processors;
}

void NodePower::collect_returns(Instant now, bool obtainable) const {
  returns_.clear();
  for (const auto& [until, count] : booting_) returns_.emplace_back(std::max(until, now + kMoment), count);
  if (obtainable) {
    for (const auto* away : {&shutting_down_, &shunned_}) {
      for (const auto& [when, count] : *away) returns_.emplace_back(std::max(when.first, now) + when.second, count);
    }
    for (const auto& [boot, count] : asleep_) returns_.emplace_back(now + boot, count);
  }
  std::sort(returns_.begin(), returns_.end());
}

}  // namespace rota
