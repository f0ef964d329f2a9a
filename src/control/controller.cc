#include "control/controller.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/never_fits.h"

namespace rota {

Controller::Controller(const ClusterOptions& options, const Chain& chain, const Ports& ports)
    : cluster_(options), chain_(chain), ports_(ports) {}

Result<void> Controller::deliver(std::span<const Event> events) {
  bool worth_a_cycle = false;
  for (const Event& event : events) worth_a_cycle = fold(event) || worth_a_cycle;
  for (const JobId id : outlived_) {
    if (auto done = correct_expectation(id); !done) return done;
  }
  outlived_.clear();
  return worth_a_cycle ? cycle() : Result<void>{};
}

void Controller::ring() {
  wakeup_ = kNever;
  if (failure_) failure_ = cycle();
}

void Controller::close() {
  cluster_.close_cycle([&](JobId id, const Job& job) { ports_.jobs.left(id, job); });
}

bool Controller::fold(const Event& event) {
  if (const auto* submitted = std::get_if<Submitted>(&event.what)) {
    cluster_.advance(event.at);
    return admit(*submitted);
  }
  if (const auto* ended = std::get_if<Finished>(&event.what)) {
    referee_.saw_ended(cluster_, ended->job, false);
    cluster_.advance(event.at);
    cluster_.finished(*ended);
    return true;
  }
  if (const auto* changed = std::get_if<PowerChanged>(&event.what)) {
    cluster_.advance(event.at);
    cluster_.power_changed(*changed);
    referee_.saw_power(cluster_, *changed);
    return changed->state == PowerState::on || !cluster_.waiting().empty();  // a node that sleeps now may be needed
  }
  return fold_rare(event);
}

bool Controller::fold_rare(const Event& event) {
  if (const auto* requeued = std::get_if<Requeued>(&event.what)) {
    referee_.saw_ended(cluster_, requeued->job, true);
    lose(event.at, cluster_.job(requeued->job), Duration{0});
  } else if (const auto* vacated = std::get_if<Vacated>(&event.what)) {
    referee_.saw_ended(cluster_, vacated->job, true);
    lose(event.at, cluster_.job(vacated->job), vacated->kept);
  } else if (const auto* cancelled = std::get_if<Cancelled>(&event.what)) {
    const Job& job = cluster_.job(cancelled->job);
    referee_.saw_cancelled(cluster_, cancelled->job);
    if (job.state == JobState::running) lose(event.at, job, Duration{0});
  } else if (const auto* overdue = std::get_if<Overdue>(&event.what)) {
    const Job& job = cluster_.job(overdue->job);
    if (job.limit_end() > event.at) {
      outlived_.push_back(overdue->job);
      return false;
    }
  } else if (std::holds_alternative<Serving>(event.what)) {
    cluster_.apply(event);
    return false;
  }
  cluster_.apply(event);
  return true;
}

void Controller::lose(Instant at, const Job& job, Duration kept) {
  lost_work_ += (at - job.start - kept) * job.spec.processors;
}

// A job that can never run here is turned away by name; the others join the queue.
bool Controller::admit(const Submitted& fact) {
  const ClusterOptions& options = cluster_.options();
  const bool too_large = fact.spec.processors > options.processors;
  if (too_large || (options.machine && never_fits(*options.machine, fact.spec))) {
    cluster_.rejected(fact.spec);
    referee_.saw_rejected();
    return true;
  }
  cluster_.submitted(fact.spec, expected_run_time(chain_.knobs().estimator, cluster_, fact.spec));
  referee_.saw_submitted();
  return true;
}

Result<void> Controller::correct_expectation(JobId id) {
  const Job& job = cluster_.job(id);
  cluster_.expected({id, corrected_run_time(job)});
  return ports_.engine.dispatch({Command::Kind::expect, next_key_++, id, job.expected_end(), kNever});
}

Result<void> Controller::cycle() {
  ++cycles_;
  cluster_.open_cycle(ports_.loop.now());
  plan_.open(cluster_);
  chain_.decide(cluster_, plan_);
  if (auto breach = referee_.check(cluster_, plan_)) {
    return fail("the referee refuses a plan of policy " + chain_.text() + ": " + *breach + ".");
  }
  if (plan_.decides()) hash_.mix(plan_.hash());
  cluster_.close_cycle([&](JobId id, const Job& job) { ports_.jobs.left(id, job); });
  if (auto done = carry_out_plan(); !done) return done;
  // Nodes that jobs have left can be had at once.
  const Instant wakeup = plan_.looks_again() ? cluster_.now() : chain_.next_wakeup(cluster_);
  if (wakeup != wakeup_) ports_.loop.set(*this, wakeup_ = wakeup);
  return {};
}

// In the order in which the plan came about: those whose turn it was start, then the next is promised a start, and then
// others overtake it.
Result<void> Controller::carry_out_plan() {
  const std::span<const Action> actions = plan_.actions();
  next_place_ = 0;
  const auto first_other = std::find_if(actions.begin(), actions.end(), [](const Action& a) { return a.backfilled; });
  for (auto a = actions.begin(); a != first_other; ++a) {
    if (auto done = carry_out(*a); !done) return done;
  }
  for (const Promise& p : plan_.promises()) cluster_.promised(p.job, p.start, plan_.place_of(p));
  for (auto a = first_other; a != actions.end(); ++a) {
    if (auto done = carry_out(*a); !done) return done;
  }
  if (plan_.reviews_power()) cluster_.power_reviewed(plan_.next_review());
  return {};
}

// The command is on its way: from here on the node boots or shuts down.
Result<void> Controller::switch_power(NodeId node, bool on) {
  const PowerDraw& power = cluster_.options().machine->nodes[node.value].power;
  const PowerChanged fact{node, on ? PowerState::booting : PowerState::shutting_down,
                          cluster_.now() + (on ? power.boot : power.shutdown)};
  cluster_.power_changed(fact);
  referee_.saw_power(cluster_, fact);
  Command command;
  command.kind = on ? Command::Kind::power_on : Command::Kind::power_off;
  command.key = next_key_++;
  command.node = node;
  return ports_.engine.dispatch(command);
}

Instant Controller::limit_end_of(const Job& job) const {
  switch (chain_.knobs().overrun) {
    case Overrun::kill:
      return job.limit_end();
    case Overrun::fixed:
      return job.limit_end() + chain_.knobs().grace;
    default:
      return kNever;
  }
}

Result<void> Controller::carry_out(const Action& action) {
  switch (action.kind) {
    case ActionKind::start:
      return start(action);
    case ActionKind::migrate:
      return migrate(action);
    case ActionKind::power_on:
    case ActionKind::power_off:
      return switch_power(action.node, action.kind == ActionKind::power_on);
    case ActionKind::kill:
      return ports_.engine.dispatch({Command::Kind::kill, next_key_++, action.job, kNever, kNever});
    case ActionKind::preempt:
      return preempt(action);
    case ActionKind::extend:
      return extend(action);
  }
  return {};
}

std::int32_t Controller::cpu_factor_of(JobId id) const {
  const NodeSpace& nodes = cluster_.nodes();
  return nodes.counted() ? 1000 : nodes.cpu_factor(cluster_.placement(id));
}

Result<void> Controller::start(const Action& action) {
  static const Placement nowhere;
  const auto places = plan_.places();
  cluster_.started(action.job, action.backfilled, places.empty() ? nowhere : places[next_place_++]);
  referee_.saw_started(cluster_, action.job);
  const Job& job = cluster_.job(action.job);
  Command command{Command::Kind::start, next_key_++, action.job, job.expected_end(), limit_end_of(job)};
  if (!places.empty()) command.where = &places[next_place_ - 1];
  command.cpu_factor = cpu_factor_of(action.job);
  return ports_.engine.dispatch(command);
}

Result<void> Controller::migrate(const Action& action) {
  const Job& job = cluster_.job(action.job);
  const bool kept = job.spec.restart == Restart::checkpoint;
  if (!kept) lose(cluster_.now(), job, -job.done);
  referee_.saw_leave_nodes(cluster_, action.job);
  cluster_.migrated({action.job, plan_.places()[next_place_++], kept});
  referee_.saw_take_nodes(cluster_, action.job);
  Command command{Command::Kind::migrate, next_key_++, action.job, job.expected_end(), limit_end_of(job)};
  command.where = &plan_.places()[next_place_ - 1];
  command.cpu_factor = cpu_factor_of(action.job);
  command.kept = kept;
  command.pause = job.spec.restart_cost;
  return ports_.engine.dispatch(command);
}

Result<void> Controller::extend(const Action& action) {
  const Reason& why = action.reason;
  const std::int64_t beneficiary = why.promised.valid() ? cluster_.job(why.promised).spec.number : -1;
  grants_.push_back({cluster_.job(action.job).spec.number, cluster_.now(), action.until, beneficiary, why.promise,
                     why.free, why.needed});
  cluster_.extended({action.job, action.until});
  return ports_.engine.dispatch({Command::Kind::expect, next_key_++, action.job, action.until, kNever});
}

Result<void> Controller::preempt(const Action& action) {
  referee_.saw_preempted(cluster_, action.job, action.reason.promised);
  cluster_.preempted({action.job, action.reason.promised, action.until});
  Command command{Command::Kind::preempt, next_key_++, action.job, kNever, kNever};
  command.how = chain_.knobs().preempt;
  command.beneficiary = action.reason.promised;
  const JobSpec& spec = cluster_.job(action.job).spec;
  const bool by_itself = command.how == Preemption::requeue && spec.restart == Restart::checkpoint;
  command.kept = command.how != Preemption::requeue || by_itself;
  if (by_itself) command.pause = spec.restart_cost;
  return ports_.engine.dispatch(command);
}

}  // namespace rota
