// The part of the referee that looks at the nodes' power, with a ledger of its own.
#include <fmt/core.h>

#include <algorithm>

#include "plan/referee.h"
#include "plan/referee_text.h"

namespace rota {
namespace {

const Node& described(const View& view, NodeId id) { return view.options().machine->nodes[id.value]; }

template <class Key>
void add(std::map<Key, std::int64_t>& sums, const Key& key, std::int64_t processors) {
  if ((sums[key] += processors) == 0) sums.erase(key);
}

}  // namespace

void Referee::count_power(const View& view, NodeId id, std::int64_t sign) {
  const Power& power = power_[id.value];
  const Duration boot = described(view, id).power.boot;
  const std::int64_t processors = sign * described(view, id).processors;
  if (power.state != PowerState::on) away_ += processors;
  if (power.state == PowerState::booting) add(booting_, power.until, processors);
  if (power.state == PowerState::shutting_down) add(falling_asleep_, std::pair(power.until, boot), processors);
  if (power.state != PowerState::off) return;
  if (power.failures > 0) {  // it cannot be woken before then, as if it took so long to go to sleep
    add(falling_asleep_, std::pair(power.until, boot), processors);
  } else {
    add(asleep_, boot, processors);
  }
}

// Unused on a node that is on and not fit for use.
std::int64_t Referee::drained_on(const View& view, NodeId id) const {
  if (unfit_.empty() || !unfit_[id.value] || power_[id.value].state != PowerState::on) return 0;
  return described(view, id).processors - used_[id.value].processors;
}

void Referee::drain(const View& before, NodeId id, bool unfit) {
  const std::size_t nodes = before.options().machine->nodes.size();
  power_.resize(nodes);
  unfit_.resize(nodes);
  used_.resize(nodes + before.options().machine->licences.size());
  const std::int64_t drained = drained_on(before, id);
  if (unfit_[id.value] != unfit) unfit_nodes_ += unfit ? 1 : std::size_t{0} - 1;
  unfit_[id.value] = unfit;
  drained_ += drained_on(before, id) - drained;
  away_ += drained_on(before, id) - drained;
}

// It is taken out as it was, and put in as it is.
void Referee::judge(const View& before, const Described& fact) {
  gave_way_.clear();
  if (fact.node.value >= power_.size()) return;
  const std::int64_t drained = drained_on(before, fact.node);
  drained_ -= drained;
  away_ -= drained;
  count_power(before, fact.node, -1);
}

void Referee::settled(const View& after, const Described& fact) {
  const std::size_t nodes = after.options().machine->nodes.size();
  const std::size_t licences = after.options().machine->licences.size();
  const bool is_new = !used_.empty() && used_.size() < nodes + licences;
  if (is_new) used_.insert(used_.begin() + static_cast<std::ptrdiff_t>(fact.node.value), Used{});
  const bool was_counted = fact.node.value < power_.size();
  power_.resize(nodes);
  unfit_.resize(nodes);
  used_.resize(nodes + licences);
  if (was_counted) {
    count_power(after, fact.node, 1);
    const std::int64_t drained = drained_on(after, fact.node);
    drained_ += drained;
    away_ += drained;
  }
  if (fact.is.processors == 0) drain(after, fact.node, true);
}

void Referee::settled(const View& after, const NodeKept& fact) {
  const NodePowerRow& row = fact.power;
  const NodeId node = fact.node;
  power_.resize(after.options().machine->nodes.size());
  count_power(after, node, -1);
  power_[node.value] = {row.state, row.failures > 0 ? row.shunned_until : row.until, row.failures};
  if (row.failures > 0 && row.state != PowerState::off) power_[node.value].until = row.until;
  count_power(after, node, 1);
  if (fact.health != Health::up) drain(after, node, true);
}

void Referee::switched(const View& view, NodeId node, PowerState state, Instant until) {
  power_.resize(view.options().machine->nodes.size());
  const std::int64_t drained = drained_on(view, node);
  count_power(view, node, -1);
  Power& power = power_[node.value];
  const bool failed = power.state == PowerState::booting && state == PowerState::off;
  const std::uint32_t failures = state == PowerState::on ? 0 : power.failures + (failed ? 1 : 0);
  const Duration retry = described(view, node).power.boot_retry;
  Duration alone = retry;  // twice as long each time, up to an hour
  for (std::uint32_t i = 1; i < failures && alone < seconds(3600); ++i) alone *= 2;
  power = {state, failed ? view.now() + std::min(alone, std::max(retry, seconds(3600))) : until, failures};
  count_power(view, node, 1);
  drained_ += drained_on(view, node) - drained;
  away_ += drained_on(view, node) - drained;
}

// Processors of nodes that cannot take jobs yet at `at`.
std::int64_t Referee::away_at(const View& view, Instant at) const {
  std::int64_t away = 0;
  if (away_ == 0) return 0;
  for_each_away(view, [&](Instant back, std::int64_t processors) { away += back > at ? processors : 0; });
  return away;
}

// When a node can take jobs, if it is woken now should it sleep.
Instant Referee::back_at(const View& view, NodeId node) const {
  const Power& power = power_[node.value];
  const Instant now = view.now();
  const Duration boot = described(view, node).power.boot;
  if (is_unfit(node.value)) return kNever;
  switch (power.state) {
    case PowerState::on:
      return now;
    case PowerState::booting:
      return std::max(power.until, now + kMoment);
    case PowerState::shutting_down:
      return std::max(power.until, now) + boot;
    case PowerState::off:
      return (power.failures > 0 ? std::max(power.until, now) : now) + boot;
  }
  return kNever;
}

bool Referee::back_by(const View& view, const Placement& where, Instant at) const {
  return (away_ == 0 && unfit_nodes_ == 0) || std::all_of(where.shares.begin(), where.shares.end(),
                                                          [&](const Share& s) { return back_at(view, s.node) <= at; });
}

// What is wrong with waking a node or sending it to sleep; nullptr: nothing. Looks at each node once.
const char* Referee::breach_of_switch(const View& view, const Action& a) {
  const Power& power = power_[a.node.value];
  if (a.kind == ActionKind::power_on) {
    if (power.state != PowerState::off) return " is woken and does not sleep";
    if (power.failures > 0 && power.until > view.now()) return " is woken although its boot has failed just now";
  } else {
    if (power.state != PowerState::on) return " is sent to sleep and is not on";
    if (view.power().serves(a.node)) return " is sent to sleep while jobs on other nodes use its accelerators";
  }
  if (used_[a.node.value].processors > 0) return " is sent to sleep while a job runs there";
  const bool twice = std::exchange(looked_at_[a.node.value], looks_) == looks_;
  return twice ? " is switched twice, or while a job is started there" : nullptr;
}

std::optional<std::string> Referee::check_power(const View& view, const Plan& plan) {
  const auto is_power = [](const Action& a) { return a.of_power(); };
  const bool switches = std::any_of(plan.actions().begin(), plan.actions().end(), is_power);
  if (!switches && away_ == 0) return std::nullopt;
  const Machine& machine = *view.options().machine;
  power_.resize(machine.nodes.size());
  used_.resize(machine.nodes.size() + machine.licences.size());
  looked_at_.resize(machine.nodes.size());
  for (const Placement& where : plan.places()) {
    for (const Share& s : where.shares) {
      const bool unfit = !unfit_.empty() && unfit_[s.node.value];
      if (power_[s.node.value].state == PowerState::on && !unfit) continue;
      const char* why = unfit ? ", which is draining or down" : ", which is not on";
      return fmt::format("a job is started on node {}{}", machine.nodes[s.node.value].name, why);
    }
  }
  if (!switches) return std::nullopt;
  ++looks_;
  for (const Placement& where : plan.places()) {
    for (const Share& s : where.shares) looked_at_[s.node.value] = looks_;
  }
  for (const Action& a : plan.actions()) {
    if (!a.of_power()) continue;
    ++checks_;
    if (const char* breach = breach_of_switch(view, a))
      return fmt::format("node {}{}", machine.nodes[a.node.value].name, breach);
  }
  return check_promises_awake(view, plan);
}

// What goes to sleep now is back before any promise needs it.
std::optional<std::string> Referee::check_promises_awake(const View& view, const Plan& plan) {
  if (view.promised().empty() && plan.promises().empty()) return std::nullopt;
  std::map<Duration, std::int64_t> sleeping;  // processors that the plan sends to sleep, by how long they are away
  std::vector<std::pair<NodeId, Duration>> away;
  for (const Action& a : plan.actions()) {
    if (a.kind != ActionKind::power_off) continue;
    const Node& node = described(view, a.node);
    const bool woken = view.options().wakes_for_promises;
    const Duration length = woken ? node.power.shutdown + node.power.boot : 2 * kLongest;
    away.emplace_back(a.node, length);
    sleeping[length] += node.processors;
  }
  if (sleeping.empty()) return std::nullopt;
  std::sort(away.begin(), away.end());
  const auto check = [&](JobId id, Instant start, const Placement& where) -> std::optional<std::string> {
    ++checks_;
    if (start == kNever || start <= view.now() || starts(id)) return std::nullopt;
    std::int64_t gone = 0;
    for (const auto& [length, processors] : sleeping) gone += view.now() + length > start ? processors : 0;
    const std::int64_t free = free_at(view, plan, start, true);
    const std::int64_t needed = view.job(id).spec.processors;
    bool lacks = where.shares.empty() && free - gone < needed && free >= needed;
    for (const Share& s : where.shares) {
      const auto found = std::lower_bound(away.begin(), away.end(), std::pair(s.node, Duration{0}));
      const bool sent = found != away.end() && found->first == s.node;
      lacks = lacks || (sent && view.now() + found->second > start);
    }
    if (!lacks) return std::nullopt;
    return name(view, id) + " is promised a start for which a node is needed that the plan sends to sleep";
  };
  for (const Promise& p : plan.promises()) {
    if (auto breach = check(p.job, p.start, plan.place_of(p))) return breach;
  }
  for (const JobId id : view.promised()) {
    const auto fresh = [&](const Promise& p) { return p.job == id; };
    if (std::any_of(plan.promises().begin(), plan.promises().end(), fresh)) continue;
    if (auto breach = check(id, view.job(id).promise, view.promised_place(id))) return breach;
  }
  return std::nullopt;
}

}  // namespace rota
