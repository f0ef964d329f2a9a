#include "policy/slurm/slurm.h"

#include <algorithm>
#include <map>
#include <optional>

#include "model/moment.h"
#include "model/order.h"
#include "policy/slurm/displaced.h"
#include "policy/slurm/job_queue.h"
#include "policy/slurm/slurm_room.h"
#include "policy/time_limits.h"

namespace rota {
namespace {

// How often something was counted, by user or by partition.
using Counts = std::map<std::uint32_t, std::int32_t>;

bool counts_beyond(std::int32_t limit, Counts& counts, std::uint32_t of) { return limit > 0 && counts[of]++ >= limit; }

template <class Room>
class Passes {
 public:
  Passes(const View& view, Plan& plan, const SlurmKnobs& knobs)
      : view_(view),
        plan_(plan),
        knobs_(knobs),
        queue_(view, knobs),
        room_(view, plan, knobs),
        limits_(limits_left(view)) {}

  // At most so many jobs are tried.
  void main_pass(std::int64_t depth) {
    bool passes_others = false;
    while (const WaitingEntry* e = plan_.free() > 0 || others_may_go() ? queue_.next() : nullptr) {
      const JobSpec& asked = spec(*e);
      if (gave_way_lately(*e)) {
        passes_others = true;
        continue;
      }
      const bool beyond = counts_beyond(knobs_.partition_depth, tried_, asked.partition.value);
      if (!beyond && depth-- <= 0) return;
      if (!beyond && room_.open_to(asked.partition) && may_start(asked)) {
        if (room_.fits_now(*e)) {
          begin(*e, passes_others ? ahead_of_others() : Reason{}, false);
          continue;
        }
        if (others_may_go()) displace_for(*e);
        if (!room_.close(asked)) return;
      }
      passes_others = true;
    }
  }

  // Whether running jobs may give way to others, now or later, though nothing happens.
  bool others_may_go() {
    if (knobs_.preempt == Preemption::none) return false;
    if (!displaceable_) displaceable_.emplace(view_, knobs_);
    return displaceable_->any();
  }

  struct Found {
    bool owes;  // another pass: jobs start, or nodes that have room are planned for jobs, which Slurm notes down as a
                // change of these nodes
    Instant alike_until;  // before that instant a pass starts no job and owes another one, if nothing happens
  };
  Found backfill_pass() {
    queue_.rewind();
    room_.open_pass();
    std::int32_t tested = 0;
    while (const WaitingEntry* e = tested < knobs_.max_job_test ? queue_.next() : nullptr) {
      if (plan_.starts(e->job) || gave_way_lately(*e)) continue;
      const JobSpec& asked = spec(*e);
      if (counts_beyond(knobs_.max_job_part, of_partition_, asked.partition.value)) continue;
      if (counts_beyond(knobs_.max_job_user, of_user_, asked.user)) continue;
      ++tested;
      if (!may_start(asked)) continue;
      if (!try_one(*e)) break;
    }
    const bool owes = backfilled_ > 0 || room_.plans_what_is_free();
    return {owes, owes && plan_.actions().empty() ? alike_ : view_.now()};
  }

 private:
  const JobSpec& spec(const WaitingEntry& e) const { return view_.job(e.job).spec; }
  Reason ahead_of_others() const { return {Rule::skipped_ahead, {}, kNever, plan_.free(), 0}; }
  // Else it is passed over: no job that waits for licences, or is over a limit, has anything reserved.
  bool may_start(const JobSpec& asked) const {
    return plan_.nodes().has_licences(asked) && !(limits_.kept() && limits_.broken_by(asked));
  }
  void begin(const WaitingEntry& e, const Reason& reason, bool backfilled) {
    room_.start(e, reason, backfilled);
    if (limits_.kept()) limits_.count(spec(e));
  }

  bool gave_way_lately(const WaitingEntry& e) const {
    return knobs_.preempt != Preemption::none && looked_at_from(view_.job(e.job), knobs_) > view_.now();
  }
  bool is_told(JobId running) const {
    return std::ranges::any_of(plan_.actions(), [&](const Action& a) { return a.job == running; });
  }
  // True: jobs are told to give way to it, and a later pass starts it on what they leave, unless it is another job's
  // turn by then.
  [[gnu::cold]] bool displace_for(const WaitingEntry& e) {
    const auto for_it = [&](const Action& a) { return a.kind == ActionKind::preempt && a.reason.promised == e.job; };
    if (std::ranges::any_of(plan_.actions(), for_it)) return false;
    if (std::ranges::find(view_.leaving(), e.job, &Leaving::beneficiary) != view_.leaving().end()) return false;
    std::vector<JobId> others = displaceable_->by(e.job);
    std::erase_if(others, [&](JobId running) { return is_told(running); });
    if (others.empty()) return false;
    others = room_.displaced_by(e, std::move(others));
    const Instant gone = view_.now() + std::max(knobs_.tick, kMoment);
    for (const JobId running : others)
      plan_.preempt(running, {Rule::outranked, e.job, kNever, plan_.free(), e.processors}, gone);
    return !others.empty();
  }

  // False: no more may start in this pass.
  bool try_one(const WaitingEntry& e) {
    std::int32_t& reserved = reserved_[spec(e).partition.value];
    const bool now_only = knobs_.part_count_reserve > 0 && reserved >= knobs_.part_count_reserve;
    const Instant alike_before = room_.alike_until();
    Instant start = room_.earliest(e, now_only);
    if (start <= view_.now()) {
      begin(e, because(), true);
      return ++backfilled_ != knobs_.max_job_start;
    }
    if (others_may_go() && displace_for(e)) start = view_.now();
    if (alike_before < alike_ && room_.has_room(e)) alike_ = alike_before;
    if (start == kNever) return true;
    const bool planned_before = room_.plans_what_is_free();
    room_.reserve(e, start);
    if (!planned_before && room_.plans_what_is_free()) alike_ = std::min(alike_, room_.alike_until());
    ++reserved;
    if (!first_) first_ = &e, first_start_ = start;
    return true;
  }

  Reason because() const {
    if (!first_) return ahead_of_others();
    return {Rule::ends_before_promise, first_->job, first_start_, plan_.free(), first_->processors};
  }

  const View& view_;
  Plan& plan_;
  const SlurmKnobs& knobs_;
  SlurmQueue queue_;
  Room room_;
  LimitUse limits_;                           // with what the draft starts
  std::optional<Displaceable> displaceable_;  // not asked for so far
  Counts tried_;
  Counts of_user_;
  Counts of_partition_;
  Counts reserved_;
  std::int32_t backfilled_ = 0;
  Instant alike_ =
      kNever;  // see Found: as far as jobs that only reservations keep from starting go, and what is planned
  const WaitingEntry* first_ = nullptr;  // that something is reserved for
  Instant first_start_ = kNever;
};

// So much time has gone by since then, or it never was.
bool is_due(Instant last, Duration interval, Instant now) { return last > now || now - last >= interval; }

// The next instant at which slurmctld looks, this one or later: so long after second 0 and a whole number of ticks.
Instant look_at(Instant at, Duration phase, Duration tick) {
  if (tick <= Duration{0}) return at;
  const Duration over = (at - kEpoch - phase) % tick;
  return over > Duration{0} ? at + tick - over : at - over;
}

// The last one up to now: a service may be called a little later.
Instant last_look(Instant now, Duration phase, Duration tick) {
  const Instant next = look_at(now, phase, tick);
  return next > now ? next - tick : next;
}

// So long after one backfill pass comes the next one, where each owes another.
Duration step_of(const SlurmKnobs& knobs) { return look_at(kEpoch + knobs.interval, Duration{0}, knobs.tick) - kEpoch; }

// The first of them at this instant or later.
Instant pass_at(Instant at, const Replanned& last, const SlurmKnobs& knobs) {
  return look_at(at, last.planned - kEpoch, step_of(knobs));
}

// Whether the passes before `tried` are known to come to the same as the one at `planned` if nothing happens, and are
// left out.
bool is_foreseen(const Replanned& last, Instant now) {
  return !last.owes_try && last.tried > now && last.tried != kNever;
}

// Up to the first pass of which that is not known. Not while the main pass would have to wait after news: how long is
// no longer known then.
void foresee(Instant alike_until, Replanned& last, const SlurmKnobs& knobs) {
  const bool tries_at_once = last.planned - last.tried >= knobs.batch_delay;
  if (last.owes_try || !last.owes_plan || !tries_at_once) return;
  const Instant differs = pass_at(std::min(alike_until, last.planned + knobs.window), last, knobs);
  if (differs > last.planned + step_of(knobs)) last.tried = differs + kMoment;
}

// As if all passes before now had come.
Replanned without_foresight(Replanned last, const SlurmKnobs& knobs, Instant now) {
  if (!is_foreseen(last, now)) return last;
  last.planned = std::max(last.planned, pass_at(now, last, knobs) - step_of(knobs));
  last.tried = last.planned - knobs.batch_delay;
  return last;
}

// From when on a pass may come that is owed.
Instant tries_from(const Replanned& last, const SlurmKnobs& knobs, Instant now) {
  return last.tried > now ? now : last.tried + knobs.batch_delay;
}
Instant plans_from(const Replanned& last, const SlurmKnobs& knobs, Instant now) {
  return last.planned > now ? std::max(now, kEpoch + knobs.phase) : last.planned + knobs.interval;
}

// Something has happened now: a look that has gone by saw nothing of it.
void owe_try(Replanned& next, const SlurmKnobs& knobs, Instant now) {
  next.tried = std::max(tries_from(next, knobs, now), now) - knobs.batch_delay;
  next.owes_try = true;
}
void owe_plan(Replanned& next, const SlurmKnobs& knobs, Instant now) {
  if (next.owes_plan && next.planned <= now) return;
  if (knobs.interval > Duration{0}) next.planned = std::max(plans_from(next, knobs, now), now) - knobs.interval;
  next.owes_plan = true;
}

// At which look the passes come that are owed, if nothing else happens: not later than now if they are to come now.
// kNever: none is owed.
Instant tries_at(const Replanned& last, const SlurmKnobs& knobs, Instant now) {
  return last.owes_try ? look_at(tries_from(last, knobs, now), Duration{0}, knobs.tick) : kNever;
}
Instant plans_at(const Replanned& last, const SlurmKnobs& knobs, Instant now) {
  if (!last.owes_plan || knobs.interval <= Duration{0}) return kNever;
  return look_at(plans_from(last, knobs, now), knobs.phase, knobs.tick);
}

// Whether something has happened: it was not called just because something was owed.
bool is_news(const View& view, const Replanned& last, const SlurmKnobs& knobs) {
  if (!view.arrived().empty() || !view.gone().empty()) return true;
  if (view.waiting().empty()) return false;
  if (view.releases() > 0) return true;
  const auto is_over = [&](const Reservation& r) { return r.until == view.now(); };
  if (std::ranges::any_of(view.reservations().all(), is_over)) return true;
  return tries_at(last, knobs, view.now()) > view.now() && plans_at(last, knobs, view.now()) > view.now();
}

bool has_others_give_way(const Plan& plan) {
  return std::ranges::any_of(plan.actions(), [](const Action& a) { return a.kind == ActionKind::preempt; });
}

template <class Room>
void decide_in(const View& view, Plan& plan, const SlurmKnobs& knobs) {
  const Instant now = view.now();
  const Replanned last = without_foresight(view.replanned(), knobs, now);
  Replanned next = last;
  const bool news = is_news(view, last, knobs);
  if (!news && view.waiting().empty() && last == Replanned{}) return;  // no job has ever come
  const bool none_waited =
      view.waiting().size() <= view.arrived().size();  // and so none was tried, though that is owed
  if (news && (!next.owes_try || next.tried > now || none_waited)) owe_try(next, knobs, now);
  const bool tries = tries_at(next, knobs, now) <= now && (news || !view.waiting().empty());
  if (news || tries) owe_plan(next, knobs, now);  // the latter in case something else has happened at this very instant
  const bool plans = plans_at(next, knobs, now) <= now;
  if (tries || plans) {
    std::optional<Passes<Room>> passes;  // nothing: no job waits
    if (!view.waiting().empty()) passes.emplace(view, plan, knobs);
    if (tries) {
      const bool walks = is_due(last.walked, knobs.sched_interval, now);
      if (passes) passes->main_pass(walks ? INT64_MAX : std::int64_t{knobs.queue_depth} + 1);
      next.tried = last_look(now, Duration{0}, knobs.tick);
      next.owes_try = false;
      if (walks) next.walked = next.tried;
    }
    if (plans) {  // also when no job waits: the next one counts from there
      const bool any_left = passes && plan.actions().size() < view.waiting().size();
      const auto found = any_left ? passes->backfill_pass() : typename Passes<Room>::Found{false, now};
      next.owes_plan = found.owes;
      next.planned = last_look(now, knobs.phase, knobs.tick);
      // An order that shifts with time is another one at each pass, and so are the jobs that may give way.
      const bool shifts = varies_with_time(view.options().waiting.queue) || (passes && passes->others_may_go());
      if (!shifts) foresee(found.alike_until, next, knobs);
    }
  }
  // As soon as they are gone slurmctld looks at its queue, however short ago it did.
  if (has_others_give_way(plan)) next.tried = now - knobs.batch_delay;
  if (!(next == view.replanned())) plan.replanned(next);
}

}  // namespace

void SlurmPlanner::decide(const View& view, Plan& plan) const {
  if (plan.closed()) return;
  if (view.nodes().counted()) {
    decide_in<SlurmCounts>(view, plan, knobs_);
  } else {
    decide_in<SlurmNodes>(view, plan, knobs_);
  }
}

Instant SlurmPlanner::next_wakeup(const View& view) const {
  const Instant now = view.now();
  const Replanned& last = view.replanned();
  const auto later = [&](Instant at, Duration phase) {  // what was to come now has come
    return at > now ? at : at == now ? kNever : look_at(now + kMoment, phase, knobs_.tick);
  };
  const Instant plans =
      later(is_foreseen(last, now) ? last.tried - kMoment : plans_at(last, knobs_, now), knobs_.phase);
  if (view.waiting().empty()) return plans;
  return std::min({later(tries_at(last, knobs_, now), Duration{0}), plans, reckons_next(now), back_next(view)});
}

// When a job that gave way is looked at again.
Instant SlurmPlanner::back_next(const View& view) const {
  Instant next = kNever;
  if (knobs_.preempt != Preemption::requeue) return next;
  view.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
    const Instant from = looked_at_from(view.job(e.job), knobs_);
    if (from > view.now()) next = std::min(next, from);
    return true;
  });
  return next;
}

// Then it may be another job's turn.
Instant SlurmPlanner::reckons_next(Instant now) const {
  const SlurmWeights& weights = knobs_.weights;
  if (!knobs_.multifactor || (weights.age == 0 && weights.fair_share == 0)) return kNever;
  return weights.reckoned_at(now) + weights.calc_period;
}

}  // namespace rota
