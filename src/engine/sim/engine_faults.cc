// The simulated cluster where things go wrong: commands that come late, twice or out of order, launches that fail,
// boots that hang, and nodes that die, drain and come back.
#include <algorithm>

#include "engine/sim/engine.h"

namespace rota::sim {

void SimEngine::misbehave() {
  ledger_ = std::make_unique<RunLedger>(options_.metered);
  chance_.emplace(options_.faults->seed);
}

// A move is over when it is decided: nothing confirms that the old place was left. So it is not for a link on which
// commands come late.
Capabilities SimEngine::capabilities() const {
  Capabilities can;
  can.confirms_starts = ledger_ != nullptr && options_.confirms_starts;
  can.shared = options_.shared;
  can.move = ledger_ == nullptr || options_.moves;
  return can;
}

void SimEngine::will_run(JobId id, Duration run_time) {
  Alive& job = alive_.contains(id.value) ? alive_[id.value] : alive_.add(id.value);
  job = {run_time};
}

void SimEngine::dispatch_once(const Command& command) {
  const CommandLedger::Verdict verdict = ledger_->commands().judge(command);
  if (verdict == CommandLedger::Verdict::ignore) return;
  if (verdict == CommandLedger::Verdict::answer_again) return answer_again(command);
  switch (command.kind) {
    case Command::Kind::start:
      return launch(command);
    case Command::Kind::expect:
      if (ledger_->runs(command.job, command.dispatch)) remind(command.job, command.expected_end);
      return;
    case Command::Kind::kill:
    case Command::Kind::preempt:
      return end_early(command);
    case Command::Kind::migrate:
      if (!ledger_->runs(command.job, command.dispatch)) return;
      if (!has_room(command.where)) return lose(command.job);
      ledger_->moved(command.job, command.where);
      return carry_out(command);
    case Command::Kind::adjust:
      if (ledger_->runs(command.job, command.dispatch)) carry_out(command);
      return;
    case Command::Kind::power_on:
    case Command::Kind::power_off:
      return order_power(command);
  }
}

void SimEngine::launch(const Command& command) {
  const JobId id = command.job;
  if (ledger_->runs(id)) {
    ledger_->overlapped();
    interrupt(id);
  }
  alive_[id.value].run = command.dispatch;
  const bool for_good = chance_->chance(options_.faults->launch_fails_for_good);
  const bool fails = chance_->chance(options_.faults->launch_fails);
  if (for_good || fails || !has_room(command.where)) {
    ++fault_counts_.failed_launches;
    if (options_.confirms_starts) {
      over(LaunchFailed{id, !for_good, command.dispatch});
    } else {
      over(Finished{id, for_good ? Outcome::failed : Outcome::node_failed, command.dispatch});
    }
    return ring_by(loop_.now());
  }
  ledger_->began(command);
  start(command);
  if (options_.confirms_starts) tell_now(Launched{id, command.dispatch});
}

// Whether the nodes can be used; which jobs have taken what of them is not looked at.
bool SimEngine::has_room(const Placement& where) const {
  return std::all_of(where.shares.begin(), where.shares.end(), [&](const Share& s) {
    const RunLedger::NodeRow& node = ledger_->nodes()[s.node.value];
    return node.power == PowerState::on && node.health != Health::down;
  });
}

// Told to stop, or to give way. If it does not run, that is what comes of it, and a start that comes later is too old.
void SimEngine::end_early(const Command& command) {
  const JobId id = command.job;
  if (ledger_->runs(id, command.dispatch)) return carry_out(command);
  const auto known = ledger_->all().find(id);
  if (known != ledger_->all().end() && known->second.dispatch == command.dispatch) return answer_again(command);
  if (ledger_->runs(id)) return;  // as another dispatch
  alive_[id.value].run = command.dispatch;
  if (command.kind == Command::Kind::kill) {
    over(Requeued{id, alive_[id.value].run_time, command.dispatch});
  } else {
    over(Vacated{id, Duration{0}, command.dispatch});
  }
  ring_by(loop_.now());
}

void SimEngine::answer_again(const Command& command) {
  if (!command.job.valid()) {
    const RunLedger::NodeRow& node = ledger_->node(command.node);
    const bool settled = node.power == PowerState::on || node.power == PowerState::off;
    if (settled) tell_now(PowerChanged{command.node, node.power, ledger_->key_of(command.node)});
    return;
  }
  const auto found = ledger_->all().find(command.job);
  if (found == ledger_->all().end()) return;
  const RunLedger::Run& run = found->second;
  const bool confirms = options_.confirms_starts && command.kind == Command::Kind::start;
  if (run.runs && confirms) tell_now(Launched{command.job, run.dispatch});
  if (run.runs || !run.end) return;
  std::visit([&](const auto& end) { tell_now(end); }, *run.end);
}

// A node that is on its way is switched again; one on which a job runs stays on.
void SimEngine::order_power(const Command& command) {
  RunLedger::NodeRow& node = ledger_->node(command.node);
  const bool on = command.kind == Command::Kind::power_on;
  const PowerState target = on ? PowerState::on : PowerState::off;
  if (node.power == target || !ledger_->on(command.node).empty()) return answer_again(command);
  const PowerState way = on ? PowerState::booting : PowerState::shutting_down;
  const bool hangs = on && chance_->chance(options_.faults->boot_hangs);
  if (!hangs && node.power != way) {
    node.power = way;
    return carry_out(command);
  }
  if (node.power != way) meter_.switched(command.node, way, loop_.now());
  node.power = way;
  if (hangs) {
    ++fault_counts_.hung_boots;
    return;
  }
  const PowerDraw& power = options_.metered->nodes[command.node.value].power;
  switching_.push({loop_.now() + (on ? power.boot : power.shutdown), command.key, command.node, target});
  ring_by(switching_.top().at);
}

void SimEngine::set_health(NodeId node, Health health) {
  if (ledger_->node(node).health == health) return;
  ledger_->node(node).health = health;
  tell_now(HealthChanged{node, health});
  offer_accelerators(node, ledger_->node(node).power == PowerState::on);
}

// With its node.
void SimEngine::lose(JobId id) {
  ++fault_counts_.lost_jobs;
  const std::uint32_t run = alive_[id.value].run;
  interrupt(id);
  over(Finished{id, Outcome::node_failed, run});
  ring_by(loop_.now());
}

void SimEngine::node_dies(NodeId node) {
  if (ledger_->node(node).health == Health::down) return;
  ++fault_counts_.node_deaths;
  for (const JobId id : ledger_->on(node)) lose(id);
  set_health(node, Health::down);
}

void SimEngine::node_drains(NodeId node) {
  ++fault_counts_.drains;
  set_health(node, Health::draining);
}

void SimEngine::node_recovers(NodeId node) { set_health(node, Health::up); }

}  // namespace rota::sim
