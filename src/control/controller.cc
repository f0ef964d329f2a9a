#include "control/controller.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "control/door.h"

namespace rota {

Controller::Controller(const ClusterOptions& options, const Chain& chain, const Ports& ports, Breach breach)
    : cluster_(options), chain_(chain), plain_chain_(plain_mode_of(chain)), ports_(ports), breach_(breach) {}

JobId Controller::submit(const JobSpec& spec, Bars bars) {
  if (!health_) return {};
  stamp();
  due_ = true;
  const JobId id = cluster_.next_job();
  if (cluster_.cannot_be(spec, bars)) {
    write(Rejected{id, spec});
    return {};
  }
  if (bars == kNoBars) bars = cluster_.limits().bars(spec);
  write(Submitted{id, spec, expected_run_time(chain_.knobs().estimator, cluster_, spec), bars});
  return id;
}

Result<JobId> Controller::submit(const JobSpec& spec, const JobTerms& terms, Bars holds, bool ahead) {
  if (!health_) return std::unexpected(health_.error());
  stamp();
  const JobId id = cluster_.next_job();
  if (auto why = cluster_.objection_to_terms(id, spec, terms)) return fail(std::move(*why));
  due_ = true;
  write(Submitted{id, spec, expected_run_time(chain_.knobs().estimator, cluster_, spec),
                  static_cast<Bars>(holds | kBeginTime), ahead});
  write(Amended{id, terms});
  return id;
}

Result<void> Controller::record(const Observed& fact, Instant happened) {
  if (!health_) return health_;
  stamp();
  const auto take = [&](const auto& what) {
    late_ = late_for(what, happened);
    auto taken = take_in(what);
    late_ = Duration{0};
    return taken;
  };
  if (const auto* end = std::get_if<Finished>(&fact)) return take(*end);  // nearly all that is observed
  return std::visit(take, fact);
}

Result<void> Controller::requeue(JobId id) {
  if (!health_) return health_;
  stamp();
  const Job* job = cluster_.knows(id) ? &cluster_.job(id) : nullptr;
  if (job == nullptr || job->state != JobState::running || job->stopping || job->leaving)
    return refuse("a job that does not run, or is just stopping, cannot be queued again.");
  stop(id, {}, false);
  return {};
}

Result<void> Controller::order_power(NodeId node, bool on) {
  if (!health_) return health_;
  stamp();
  if (auto why = objection_to_power(node, on)) return refuse(std::move(*why));
  switch_power(node, on, {});
  return {};
}

Result<void> Controller::refuse(std::string why) {
  ++refusals_;
  tell_refusal(why);
  return fail(std::move(why));
}

void Controller::tell_refusal(const std::string& why) {
  for (FactObserver* observer : observers_) observer->refused(cluster_, Error{why});
}

Result<void> Controller::decide() {
  if (!health_) return health_;
  settle();
  if (due_) {
    cycle();
  } else {
    send();
  }
  return health_;
}

void Controller::leave_plain_mode() {
  if (!health_ || !cluster_.plain()) return;
  stamp();
  write(ModeChanged{false});
  due_ = true;
}

void Controller::ring() {
  wakeup_ = kNever;
  if (!health_) return;
  stamp();
  if (answers_.next() <= cluster_.now()) look_after_answers();
  settle();
  cycle();
}

void Controller::close() {
  if (cluster_.gone().empty()) return;
  for (const JobId id : cluster_.gone()) ports_.jobs.job_gone(id, cluster_.job(id));
  write(CycleClosed{});
}

// Corrects the jobs that outlived a prediction.
void Controller::correct_expectations() {
  for (const JobId id : outlived_) correct_expectation(id);
  outlived_.clear();
}

// It may have ended, or been corrected, by now.
void Controller::correct_expectation(JobId id) {
  if (!cluster_.knows(id)) return;
  const Job& job = cluster_.job(id);
  if (job.state != JobState::running || job.expected_end() > cluster_.now()) return;
  write(Expected{id, corrected_run_time(job)});
  command(Command::Kind::expect, id).expected_end = job.expected_end();
}

// A running job is to stand still, to go on, or has another limit. Promises that are fixed and were made for when it
// was expected to end are made anew, now that this is earlier.
void Controller::adjusted(JobId id, Instant end_before) {
  const bool is_told = !cluster_.options().shared;  // there it is the engine that says so
  if (is_told && cluster_.orders_of(id)->command == cluster_.sequence()) adjust_command(id);
  if (!chain_.knobs().backfill.fixed || cluster_.job(id).expected_end() >= end_before) return;
  const std::vector<JobId> promised = cluster_.promised();
  for (const JobId other : promised) {
    if (cluster_.job(other).promise >= end_before) write(Promised{other, kNever});
  }
}

void Controller::settle_eligibility() {
  std::vector<JobId> due;
  cluster_.eligibility().for_each_due(cluster_.now(), [&](JobId id) { due.push_back(id); });
  for (const JobId id : due) settle_bars(id);
  if (!cluster_.limits().any_due()) return;
  for (const JobId id : cluster_.limits().due())
    if (cluster_.limits().bars(cluster_.job(id).spec) == kNoBars) settle_bars(id);
}

void Controller::settle_bars(JobId id) {
  const Job& job = cluster_.job(id);
  if (job.state != JobState::barred) return;
  Bars bars = static_cast<Bars>(job.bars & kUntilLifted) | cluster_.eligibility().bars(id, cluster_.now());
  if (bars == kNoBars) bars = cluster_.limits().bars(job.spec);
  write(Eligible{id, bars});
  due_ = due_ || bars == kNoBars;
}

void Controller::cycle() {
  due_ = false;
  ++cycles_;
  cluster_.open_cycle(std::max(ports_.loop.now(), cluster_.now()));
  if (!check_bound()) return;
  while (auto breach = draft()) {
    if (!fall_back(*breach)) return;
  }
  const bool decides = plan_.decides();
  const std::uint64_t hash = decides ? plan_.hash() : 0;
  if (decides) hash_.mix(hash);
  for (const JobId id : cluster_.gone()) ports_.jobs.job_gone(id, cluster_.job(id));
  write(CycleClosed{hash});
  if (decides) carry_out_plan();
  send();
  if (!health_) return;
  // Nodes that jobs have left can be had at once.
  const Instant looks = plan_.looks_again() ? cluster_.now() : deciding().next_wakeup(cluster_);
  policy_wakes_ = std::min(looks, cluster_.eligibility().next_begin());
  if (!cluster_.reservations().empty()) {
    policy_wakes_ = std::min(policy_wakes_, cluster_.reservations().next_change(cluster_.now()));
  }
  set_alarm();
}

// After a breach: whether the plain mode is to draft a plan in its place.
bool Controller::fall_back(const std::string& breach) {
  const std::string refused = "the referee refuses a plan of ";
  if (cluster_.plain()) {
    health_ = fail("{}the plain mode: {}.", refused, breach);
    return false;
  }
  const std::string sentence = fmt::format("{}policy {}: {}.", refused, chain_.text(), breach);
  if (breach_ == Breach::ends_the_run) {
    health_ = fail(sentence);
    return false;
  }
  ++refused_plans_;
  tell_refusal(sentence);
  write(ModeChanged{true});
  withdraw_promises();
  return true;
}

// No policy plans with the promises that stand any more.
void Controller::withdraw_promises() {
  const std::vector<JobId> promised = cluster_.promised();
  for (const JobId id : promised) write(Promised{id, kNever});
}

void Controller::under_other_rules(bool promises_end) {
  if (promises_end) withdraw_promises();
  if (!cluster_.limits().kept() || cluster_.options().limits_at_start) return;
  LimitUse use(cluster_.options().limits);
  std::vector<JobId> waiting;
  cluster_.for_each_job([&](JobId id, const Job& job) {
    if (job.state == JobState::running) use.count(job.spec);
    if (job.state == JobState::waiting) waiting.push_back(id);
  });
  for (const JobId id : waiting) {
    const JobSpec& spec = cluster_.job(id).spec;
    if (use.broken_by(spec)) {
      write(Eligible{id, kOverLimit});
    } else {
      use.count(spec);
    }
  }
}

std::optional<std::string> Controller::draft() {
  plan_.open(cluster_);
  deciding().decide(cluster_, plan_);
  return referee_.check(cluster_, plan_);
}

// A policy that looks again at one instant, again and again while nothing happens, would do so for ever.
bool Controller::check_bound_of_size() {
  const auto size =
      static_cast<std::int64_t>(all_waiting(cluster_) + cluster_.running().size() + cluster_.nodes().size());
  if (cycles_at_instant_ <= kMostCycles + 4 * size) return true;
  health_ = fail(
      "policy {} has looked {} times at {} s although nothing happened: {} asked for another look each time. This is a "
      "defect of Rota.",
      chain_.text(), cycles_at_instant_, cluster_.now().time_since_epoch().count() / 1000,
      chain_.links_that_wake(cluster_));
  return false;
}

// In the order in which the plan came about: those whose turn it was start, then the next is promised a start, and then
// others overtake it.
void Controller::carry_out_plan() {
  const std::span<const Action> actions = plan_.actions();
  next_place_ = 0;
  auto a = actions.begin();
  for (; a != actions.end() && !a->backfilled; ++a) carry_out(*a);
  for (const Promise& p : plan_.promises()) write(Promised{p.job, p.start, plan_.place_of(p)});
  for (; a != actions.end(); ++a) carry_out(*a);
  if (plan_.reviews_power()) write(PowerReviewed{plan_.next_review(), plan_.loads()});
  if (plan_.replans()) write(plan_.replan());
}

void Controller::carry_out(const Action& action) {
  switch (action.kind) {
    case ActionKind::start:
      return start(action);
    case ActionKind::migrate:
      return migrate(action);
    case ActionKind::power_on:
    case ActionKind::power_off:
      return switch_power(action.node, action.kind == ActionKind::power_on, action.reason);
    case ActionKind::kill:
      return stop(action.job, action.reason, false);
    case ActionKind::preempt:
      return preempt(action);
    case ActionKind::extend:
      return extend(action);
  }
}

void Controller::start(const Action& action) {
  const auto places = plan_.places();
  started_.job = action.job;
  started_.backfilled = action.backfilled;
  started_.reason = action.reason;
  if (!places.empty()) started_.where = places[next_place_++];
  write(started_);
  const Job& job = cluster_.job(action.job);
  run_terms(command(Command::Kind::start, action.job, &job), job);
}

void Controller::migrate(const Action& action) {
  const Job& job = cluster_.job(action.job);
  const Placement& where = plan_.places()[next_place_++];
  const NodeSpace& nodes = cluster_.nodes();
  const Duration expected =
      moved_run_time(job, cluster_.now(), nodes.cpu_factor(cluster_.placement(action.job)), nodes.cpu_factor(where));
  write(Migrated{action.job, where, job.spec.restart == Restart::checkpoint, expected});
  migrate_command(action.job);
}

// The command is on its way: from here on the node boots or shuts down.
void Controller::switch_power(NodeId node, bool on, const Reason& reason) {
  const PowerDraw& power = cluster_.options().machine->nodes[node.value].power;
  write(PowerOrdered{node, on, cluster_.now() + (on ? power.boot : power.shutdown), reason});
  command(on ? Command::Kind::power_on : Command::Kind::power_off, {}).node = node;
}

void Controller::stop(JobId job, const Reason& reason, bool for_good) {
  if (cluster_.job(job).stopping && !for_good) return;  // it was told before
  write(Stopped{job, reason, for_good});
  kill_command(job);
}

void Controller::extend(const Action& action) {
  write(Extended{action.job, action.until, action.reason});
  command(Command::Kind::expect, action.job).expected_end = action.until;
}

void Controller::preempt(const Action& action) {
  write(Preempted{action.job, action.reason.promised, action.until});
  preempt_command(action.job, action.reason.promised);
}

}  // namespace rota
