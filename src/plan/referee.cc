#include "plan/referee.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "plan/referee_text.h"

namespace rota {
namespace {

constexpr std::int64_t kCreditPerPlan = 1;  // units of one job looked at

// The promise that the plan makes to a job: a new one, or else the one that stands.
Instant promise_after(const View& view, const Plan& plan, JobId id) {
  for (const Promise& p : plan.promises()) {
    if (p.job == id) return p.start;
  }
  return view.job(id).promise;
}

// Whether a start that overtakes a job is expected to last beyond this instant.
bool overtaken_beyond(const View& view, const Plan& plan, Instant at) {
  for (const Action& a : plan.actions()) {
    if (a.kind == ActionKind::start && a.backfilled && view.now() + view.job(a.job).expected > at) return true;
  }
  return false;
}

// A job that passes has no end in sight, and the start of the job that it passes cannot be foreseen, either.
std::optional<std::string> check_passing(const View& view, const Plan& plan, const Action& a) {
  const Job* const passed = view.find_job(a.reason.promised);
  if (passed == nullptr || passed->state != JobState::waiting) return name(view, a.job) + " passes no job that waits";
  if (view.job(a.job).expected < kForeseeable) return name(view, a.job) + " passes another job and has an end in sight";
  if (!is_foreseeable(promise_after(view, plan, a.reason.promised), view.now())) return std::nullopt;
  return fmt::format("{} passes {}, whose start can be foreseen", name(view, a.job), name(view, a.reason.promised));
}

}  // namespace

void Referee::judge(const View& /*before*/, const Submitted& fact) {
  ledger_.add(fact.job.value) = fact.bars == kNoBars ? State::waiting : State::barred;
  gave_way_.clear();
}

void Referee::judge(const View& before, const Started& fact) {
  ledger_[fact.job.value] = State::running;
  held_ += before.job(fact.job).spec.processors;
  count_nodes(before, fact.job, fact.where, 1);
}

void Referee::judge(const View& before, const Found& fact) {
  gave_way_.clear();
  if (before.job(fact.job).state == JobState::running) {
    count_nodes(before, fact.job, before.placement(fact.job), -1);
    return count_nodes(before, fact.job, fact.where, 1);
  }
  ledger_[fact.job.value] = State::running;
  held_ += before.job(fact.job).spec.processors;
  count_nodes(before, fact.job, fact.where, 1);
}

void Referee::ended(const View& before, JobId job, bool queued_again) {
  const Job& row = before.job(job);
  if (row.state != JobState::running) return ledger_.retire(job.value);  // it is over, and was never seen to run
  held_ -= row.spec.processors;
  if (row.leaving) {
    leaving_ -= row.spec.processors;
    for (GaveWay& g : gave_way_) g.gone = g.gone || g.job == job;
  }
  if (!row.leaving || !queued_again) gave_way_.clear();  // it was about to end anyway
  if (!before.nodes().counted()) count_nodes(before, job, before.placement(job), -1);
  if (queued_again) {
    ledger_[job.value] = State::waiting;
  } else {
    ledger_.retire(job.value);
  }
}

void Referee::see_bars(const View& after, JobId job) {
  ledger_[job.value] = after.job(job).state == JobState::barred ? State::barred : State::waiting;
  gave_way_.clear();
}

// A state that is taken over.
void Referee::settled(const View& after, const JobKept& fact) {
  const Job& job = after.job(fact.job);
  if (job.gone()) return;
  State& state = ledger_.add(fact.job.value);
  state = job.state == JobState::barred ? State::barred : State::waiting;
  if (job.state != JobState::running) return;
  state = State::running;
  held_ += job.spec.processors;
  if (job.leaving) leaving_ += job.spec.processors;
  count_nodes(after, fact.job, fact.where, 1);
}

std::optional<std::string> Referee::check(const View& view, const Plan& plan) {
  credit_ += kCreditPerPlan;
  started_.clear();
  for (const Action& a : plan.actions()) {
    if (a.kind == ActionKind::start) started_.push_back(a.job);
  }
  if (started_.size() > 1) std::ranges::sort(started_);
  if (!plan.actions().empty() || !plan.promises().empty()) {
    if (!plan.actions().empty() || !view.nodes().counted()) {
      if (auto breach = check_actions(view, plan)) return breach;
    }
    if (!plan.promises().empty()) {
      if (auto breach = check_kept_promises(view, plan)) return breach;
    }
    if (auto breach = check_new_promises(view, plan)) return breach;
  }
  if (!reserved_.empty()) {
    if (auto breach = check_reserved(view, plan)) return breach;
  }
  if (!gave_way_.empty()) {
    if (auto breach = check_owed(view, plan)) return breach;
  }
  const auto cost = static_cast<std::int64_t>(view.running().size() + view.promised().size() + 16);
  if (credit_ < cost) return std::nullopt;
  credit_ -= cost;
  return check_everything(view, plan);
}

// Beyond what one plan touches.
std::optional<std::string> Referee::check_everything(const View& view, const Plan& plan) {
  if (auto breach = recount(view)) return breach;
  if (!view.counts_decide() && !plan.closed()) {
    const auto breach = node_excess(view, plan, Promises::after);
    if (breach && !node_excess(view, plan, Promises::before)) return breach;  // otherwise the world has broken them
  }
  return check_all_promises_together(view, plan);
}

// Every action is about a job in the right state, once, and the starts fit.
std::optional<std::string> Referee::check_actions(const View& view, const Plan& plan) {
  std::int64_t free = view.options().processors - held_ - away_;
  if (view.options().presume_ended) free += view.running().released_by(view.now());
  bool preempts = false;
  const bool several = plan.actions().size() > 1;
  JobId too_many;  // the first start that does not fit
  for (const Action& a : plan.actions()) {
    ++checks_;
    if (a.of_power()) continue;
    State* known = ledger_.find(a.job.value);
    if (!known) {
      if (!view.knows(a.job)) return "an action names a job that is not there";
      return name(view, a.job) + (a.kind == ActionKind::start ? " is started but is not waiting" : " has ended");
    }
    State& state = *known;
    if (a.kind == ActionKind::start) {
      if (state != State::waiting) return name(view, a.job) + " is started but is not waiting";
      if (several) state = State::running;  // until the loop below: finds a second start in the same plan
      free -= view.job(a.job).spec.processors;
      if (free < 0 && !too_many.valid()) too_many = a.job;
    } else if (!view.job(a.job).ours()) {
      return name(view, a.job) + " is told something and is another scheduler's";
    } else if (state != State::running) {
      return name(view, a.job) + " is killed, extended or moved but is not running";
    } else if (a.kind == ActionKind::migrate) {
      if (auto breach = check_migration(view, a)) return breach;
    } else if (a.kind == ActionKind::preempt) {
      if (auto breach = check_preemption(view, a)) return breach;
      preempts = true;
    } else if (view.job(a.job).starting || view.job(a.job).stopping) {
      return name(view, a.job) + " is killed or extended while it starts or stops";
    } else if (view.job(a.job).suspended()) {
      return name(view, a.job) + " is killed or extended while it is suspended";
    } else if (a.kind == ActionKind::kill && view.job(a.job).expected_end() > view.now()) {
      return name(view, a.job) + " is killed before its time is up";
    } else if (a.kind == ActionKind::kill && a.reason.rule != Rule::promise_due &&
               view.job(a.job).limit_end() > view.now()) {
      return name(view, a.job) + " is killed before its limit, and no promise is due";
    }
  }
  for (const Action& a : plan.actions()) {
    if (several && a.kind == ActionKind::start) ledger_[a.job.value] = State::waiting;
  }
  if (auto breach = check_turns(view, plan)) return breach;
  if (!view.nodes().counted()) {
    if (auto breach = check_places(view, plan)) return breach;
    if (auto breach = check_power(view, plan)) return breach;
  }
  if (plan.migrates()) {
    if (auto breach = check_migrations(view, plan)) return breach;
  }
  if (preempts) {
    if (auto breach = check_beneficiaries(view, plan)) return breach;
  }
  if (too_many.valid() && sums_hold(view))
    return fmt::format("{} is started although it does not fit: the starts at {} need {} more than are free",
                       name(view, too_many), when(view.now()), amount(-free, "processor"));
  return std::nullopt;
}

// Starts that are not said to overtake any job are the first of the queue, where its order says whose turn it is.
std::optional<std::string> Referee::check_turns(const View& view, const Plan& plan) {
  if (view.options().turns_of_its_own) return std::nullopt;
  const WaitingEntry* next = nullptr;
  for (const Action& a : plan.actions()) {
    if (a.kind == ActionKind::start && a.reason.rule == Rule::passes_unforeseen) {
      if (auto breach = check_passing(view, plan, a)) return breach;
    }
    if (a.kind != ActionKind::start || a.backfilled || a.reason.rule == Rule::skipped_ahead) continue;
    if (a.reason.rule == Rule::within_reservation) continue;  // check_reserved() looks at these
    ++checks_;
    next = next ? view.waiting().next(next->place) : view.waiting().head();
    if (!next || next->job != a.job) return name(view, a.job) + " is started as if it were its turn, and it is not";
  }
  return std::nullopt;
}

// Processors left at `at` after running jobs and the plan's starts, if all end as expected; `backfilled` or only those
// whose turn it was.
std::int64_t Referee::free_at(const View& view, const Plan& plan, Instant at, bool backfilled) const {
  std::int64_t free = view.options().processors - held_ + view.running().released_by(at) - away_at(view, at);
  for (const Action& a : plan.actions()) {
    if (a.kind == ActionKind::preempt && a.until <= at && view.job(a.job).expected_end() > at) {
      free += view.job(a.job).spec.processors;  // gone before it was expected to end
    }
    if (a.kind != ActionKind::start || (a.backfilled && !backfilled)) continue;
    const Job& job = view.job(a.job);
    if (view.now() + job.expected > at) free -= job.spec.processors;
  }
  return free;
}

// Whether what was promised before this plan could not be kept together even if no job had overtaken.
bool Referee::were_broken(const View& view, const Plan& plan) {
  if (!view.counts_decide()) return node_excess(view, plan, Promises::before, HeldFrom::beginning).has_value();
  return view.promised().size() > 1 && first_excess(view, plan, Promises::before);
}

// What was promised before this plan is kept by it, unless that was impossible even if no job had overtaken.
std::optional<std::string> Referee::check_kept_promises(const View& view, const Plan& plan) {
  std::optional<bool> were_broken_anyway;  // reckoned when it is asked for: O(running + promised)
  const auto is_breach = [&] {
    if (!were_broken_anyway) were_broken_anyway = were_broken(view, plan);
    return !*were_broken_anyway;
  };
  for (const Promise& p : plan.promises()) {
    ++checks_;
    const Job& job = view.job(p.job);
    if (p.start <= job.promise || starts(p.job)) continue;
    if (!is_foreseeable(job.promise, view.now())) continue;  // that was none
    if (p.start == kNever) {                                 // withdrawn: only for one whose turn it no longer is
      const WaitingEntry* head = view.waiting().head();
      if (head && head->job == p.job && !may_lack_for_ever(view, p.job))
        return name(view, p.job) + " is first in the queue and loses its promise";
      continue;
    }
    if (!view.counts_decide()) {
      if (!could_be_kept_on_nodes(view, p) || !is_breach()) continue;
      return name(view, p.job) +
             " loses the place that it was promised although nothing but the plan stands in its way";
    }
    // What would be left then without those that overtake; a job that outstays what was expected of it does not count.
    std::int64_t without_plan =
        reserved_.empty() ? free_at(view, plan, job.promise, false) : least_free(view, plan, p.job, job.promise);
    if (!view.options().presume_ended) without_plan -= view.running().released_by(view.now());
    if (without_plan < job.spec.processors || job.promise < view.now()) continue;
    if (!is_breach()) continue;
    return fmt::format("{} was promised {} and is put off to {} although nothing but the plan stands in its way",
                       name(view, p.job), when(job.promise), when(p.start));
  }
  return std::nullopt;
}

// A promise made or kept now can be kept if all goes as expected.
std::optional<std::string> Referee::check_new_promises(const View& view, const Plan& plan) {
  const auto feasible = [&](JobId id, Instant at) {
    return free_at(view, plan, at, true) >= view.job(id).spec.processors;
  };
  for (const Promise& p : plan.promises()) {
    ++checks_;
    if (p.start == kNever || p.start == view.job(p.job).promise) continue;  // at most another place
    if (p.start <= view.now()) return name(view, p.job) + " is promised a start that is already past";
    if (sums_hold(view) && !feasible(p.job, p.start)) {
      return fmt::format("{} is promised {}, when too few processors are free", name(view, p.job), when(p.start));
    }
  }
  if (view.promised().size() > 4 || !view.counts_decide()) return std::nullopt;
  for (const JobId id : view.promised()) {
    const Instant at = view.job(id).promise;
    ++checks_;
    if (at <= view.now() || !overtaken_beyond(view, plan, at)) continue;
    if (starts(id) || promise_after(view, plan, id) != at) continue;
    if (!feasible(id, at) && free_at(view, plan, at, false) >= view.job(id).spec.processors) {
      return fmt::format("{} was promised {}, and the plan's starts take what it needs then", name(view, id), when(at));
    }
  }
  return std::nullopt;
}

// The cluster's own counters and indexes against a count of the running jobs one by one.
std::optional<std::string> Referee::recount(const View& view) {
  std::int64_t held = 0;
  Instant before = kEpoch;
  bool sound = true;
  view.running().for_each([&](const RunningEntry& e) {
    const Job& job = view.job(e.job);
    held += job.spec.processors;
    const State* known = ledger_.find(e.job.value);
    sound = sound && known && *known == State::running && job.state == JobState::running &&
            e.place.end == job.expected_end() && e.place.end >= before;
    before = e.place.end;
    ++checks_;
    return true;
  });
  if (!sound) return "the index of running jobs contradicts the jobs themselves";
  if (held != held_ || held != view.running().processors()) return "the processors held do not add up";
  return std::nullopt;
}

// The first instant at which running jobs, starts and promises together need more than there is: the promises and
// starts of this plan, or those that stood before it and the starts whose turn it was. A job that outstays what was
// expected of it counts for a moment longer.
std::optional<Referee::Excess> Referee::first_excess(const View& view, const Plan& plan, Promises promises) {
  changes_.clear();
  const Duration overstay{view.options().presume_ended ? 0 : 1};
  const auto uses = [&](Instant from, Duration length, std::int64_t processors) {
    changes_.emplace_back(from, processors);
    changes_.emplace_back(from + length, -processors);
  };
  const bool before = promises == Promises::before;
  const bool some_leave = !before && plan.closed();
  view.running().for_each([&](const RunningEntry& e) {
    const Instant end = some_leave ? std::min(e.place.end, gone_by(plan, e.job)) : e.place.end;
    const Duration left = std::max(end - view.now(), overstay);
    if (left > Duration{0}) uses(view.now(), left, e.processors);
    return true;
  });
  if (away_ > 0) {
    for_each_away(view, [&](Instant back, std::int64_t processors) {
      uses(view.now(), back == kNever ? 2 * kLongest : back - view.now(), processors);
    });
  }
  for (const Action& a : plan.actions()) {
    if (a.kind != ActionKind::start) continue;
    if (before && (a.backfilled || view.job(a.job).promise != kNever)) continue;
    uses(view.now(), view.job(a.job).expected, view.job(a.job).spec.processors);
  }
  fresh_.assign(plan.promises().begin(), plan.promises().end());
  std::sort(fresh_.begin(), fresh_.end(), [](const Promise& a, const Promise& b) { return a.job < b.job; });
  const auto add = [&](JobId id, Instant at) {
    if (at != kNever && (before || !starts(id)))
      uses(std::max(at, view.now()), view.job(id).expected, view.job(id).spec.processors);
  };
  const auto is_fresh = [&](JobId id) {
    const auto at =
        std::lower_bound(fresh_.begin(), fresh_.end(), id, [](const Promise& p, JobId j) { return p.job < j; });
    return at != fresh_.end() && at->job == id;
  };
  for (const JobId id : view.promised()) {
    if (before || !is_fresh(id)) add(id, view.job(id).promise);
  }
  if (!before) {
    for (const Promise& p : fresh_) add(p.job, p.start);
  }
  for (const Reservation& r : reserved_) changes_.emplace_back(std::max(r.from, view.now()), 0);
  std::sort(changes_.begin(), changes_.end());  // at one instant ends come first: their change is negative
  // What is reserved counts from where it rises: only then are all ends of the instant in.
  std::int64_t used = 0;
  for (const auto& [at, change] : changes_) {
    ++checks_;
    used += change;
    const std::int64_t needed = used + (reserved_.empty() ? 0 : reserved_beside(view, at));
    if (change >= 0 && needed > view.options().processors) return Excess{at, needed};
  }
  return std::nullopt;
}

// All promises that stand after the plan can be kept together.
std::optional<std::string> Referee::check_all_promises_together(const View& view, const Plan& plan) {
  if (view.promised().size() < 2 || plan.closed() || !sums_hold(view))
    return std::nullopt;  // the promises are drawn anew after that
  const auto excess = first_excess(view, plan, Promises::after);
  if (!excess) return std::nullopt;
  for (const JobId id : view.promised()) {  // what is needed rises where a promise begins
    if (promise_after(view, plan, id) != excess->at) continue;
    return fmt::format("{} is promised {}, when promises and running jobs together need {}", name(view, id),
                       when(excess->at), amount(excess->used, "processor"));
  }
  return fmt::format("the promises and running jobs together need {} at {}", amount(excess->used, "processor"),
                     when(excess->at));
}

}  // namespace rota
