#include "policy/slurm/slurm.h"

#include <algorithm>
#include <map>
#include <optional>

#include "policy/slurm/job_queue.h"
#include "policy/slurm/slurm_room.h"

namespace rota {
namespace {

// How often something was counted, by user or by partition.
using Counts = std::map<std::uint32_t, std::int32_t>;

bool is_over(std::int32_t limit, Counts& counts, std::uint32_t of) { return limit > 0 && counts[of]++ >= limit; }

template <class Room>
class Passes {
 public:
  Passes(const View& view, Plan& plan, const SlurmKnobs& knobs)
      : view_(view),
        plan_(plan),
        knobs_(knobs),
        queue_(view, knobs),
        room_(view, plan, knobs),
        limits_(view.limits().use()) {}

  // At most so many jobs are tried.
  void main_pass(std::int64_t depth) {
    bool passes_others = false;
    while (const WaitingEntry* e = plan_.free() > 0 ? queue_.next() : nullptr) {
      const JobSpec& asked = spec(*e);
      const bool beyond = is_over(knobs_.partition_depth, tried_, asked.partition.value);
      if (!beyond && depth-- <= 0) return;
      if (!beyond && room_.open_to(asked.partition) && may_start(asked)) {
        if (room_.fits_now(*e)) {
          begin(*e, passes_others ? ahead_of_others() : Reason{}, false);
          continue;
        }
        if (!room_.close(asked)) return;
      }
      passes_others = true;
    }
  }

  // Whether another one is owed for it: jobs start, or nodes that have room are planned for jobs, which Slurm notes
  // down as a change of these nodes.
  bool backfill_pass() {
    queue_.rewind();
    room_.open_pass();
    std::int32_t tested = 0;
    while (const WaitingEntry* e = tested < knobs_.max_job_test ? queue_.next() : nullptr) {
      if (plan_.starts(e->job)) continue;
      const JobSpec& asked = spec(*e);
      if (is_over(knobs_.max_job_part, of_partition_, asked.partition.value)) continue;
      if (is_over(knobs_.max_job_user, of_user_, asked.user)) continue;
      ++tested;
      if (!may_start(asked)) continue;
      if (!try_one(*e)) break;
    }
    return backfilled_ > 0 || room_.plans_what_is_free();
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

  // False: no more may start in this pass.
  bool try_one(const WaitingEntry& e) {
    std::int32_t& reserved = reserved_[spec(e).partition.value];
    const bool now_only = knobs_.part_count_reserve > 0 && reserved >= knobs_.part_count_reserve;
    const Instant start = room_.earliest(e, now_only);
    if (start == kNever) return true;
    if (start <= view_.now()) {
      begin(e, because(), true);
      return ++backfilled_ != knobs_.max_job_start;
    }
    room_.reserve(e, start);
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
  LimitUse limits_;  // with what the draft starts
  Counts tried_;
  Counts of_user_;
  Counts of_partition_;
  Counts reserved_;
  std::int32_t backfilled_ = 0;
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

// When the passes that are owed come, if nothing else happens; kNever: none is owed.
Instant tries_next(const Replanned& last, const SlurmKnobs& knobs, Instant now) {
  if (!last.owes_try) return kNever;
  return look_at(last.tried > now ? now : std::max(now, last.tried + knobs.batch_delay), Duration{0}, knobs.tick);
}
Instant plans_next(const Replanned& last, const SlurmKnobs& knobs, Instant now) {
  if (!last.owes_plan || knobs.interval <= Duration{0}) return kNever;
  const Instant due = last.planned > now ? kEpoch + knobs.phase : last.planned + knobs.interval;
  return look_at(std::max(now, due), knobs.phase, knobs.tick);
}

// Whether something has happened: it was not called just because something was owed.
bool is_news(const View& view, const SlurmKnobs& knobs) {
  if (!view.arrived().empty() || !view.gone().empty()) return true;
  if (view.waiting().empty()) return false;
  if (view.releases() > 0) return true;
  const auto is_over = [&](const Reservation& r) { return r.until == view.now(); };
  if (std::ranges::any_of(view.reservations().all(), is_over)) return true;
  const Replanned& last = view.replanned();
  return tries_next(last, knobs, view.now()) != view.now() && plans_next(last, knobs, view.now()) != view.now();
}

template <class Room>
void decide_in(const View& view, Plan& plan, const SlurmKnobs& knobs) {
  const Instant now = view.now();
  const Replanned& last = view.replanned();
  Replanned next = last;
  const bool news = is_news(view, knobs);
  if (!news && view.waiting().empty() && last == Replanned{}) return;  // no job has ever come
  if (news) next.owes_try = next.owes_plan = true;
  const bool tries = tries_next(next, knobs, now) == now && (news || !view.waiting().empty());
  next.owes_plan |= tries;  // in case something else has happened at this very instant
  const bool plans = plans_next(next, knobs, now) == now;
  if (tries || plans) {
    std::optional<Passes<Room>> passes;  // nothing: no job waits
    if (!view.waiting().empty()) passes.emplace(view, plan, knobs);
    if (tries) {
      const bool walks = is_due(last.walked, knobs.sched_interval, now);
      if (passes) passes->main_pass(walks ? INT64_MAX : std::int64_t{knobs.queue_depth} + 1);
      next.tried = now;
      next.owes_try = false;
      if (walks) next.walked = now;
    }
    if (plans) {  // also when no job waits: the next one counts from there
      next.owes_plan = passes && plan.actions().size() < view.waiting().size() && passes->backfill_pass();
      next.planned = now;
    }
  }
  if (!(next == last)) plan.replanned(next);
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
  const auto later = [&](Instant at) { return at > now ? at : kNever; };
  const Instant plans = later(plans_next(last, knobs_, now));
  if (view.waiting().empty()) return plans;
  return std::min({later(tries_next(last, knobs_, now)), plans, reckons_next(now)});
}

// Then it may be another job's turn.
Instant SlurmPlanner::reckons_next(Instant now) const {
  const SlurmWeights& weights = knobs_.weights;
  if (!knobs_.multifactor || (weights.age == 0 && weights.fair_share == 0)) return kNever;
  return weights.reckoned_at(now) + weights.calc_period;
}

}  // namespace rota
