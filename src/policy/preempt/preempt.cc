#include "policy/preempt/preempt.h"

#include <algorithm>
#include <vector>

#include "policy/preempt/preempted_jobs.h"

namespace rota {
namespace {

using Key = WaitingEntry::Key;

// One look at the queue in order: which jobs are placed on what is free and on what others leave, and which must leave.
// A job that was taken off its processors is looked at again at its own place in the queue, and stays if there is room
// after all; so no job gives way in vain.
class Walk {
 public:
  Walk(const View& view, Plan& plan, bool keeps_work, Duration lag)
      : view_(view), plan_(plan), keeps_work_(keeps_work), lag_(lag) {
    free_ = plan.free();
    for (const Leaving& l : view.leaving()) coming_ += view.job(l.job).spec.processors;
  }

  void in_turn() {
    const WaitingEntry* e = view_.waiting().head();
    while (e && settle_taken_before(e->place, &Taken::in_queue) && try_place(*e, false)) {
      e = view_.waiting().next(e->place);
    }
    turns_end_ = e;
  }

  void out_of_turn() {
    if (!turns_end_ || awaits_ends_) return;
    const WaitingJobs& waiting = view_.waiting();
    const std::size_t in_turn = placed_.size();
    const WaitingEntry* e = next_that_may_fit(nullptr);
    for (; e && !awaits_ends_; e = next_that_may_fit(&e->place)) {
      settle_taken_before(waiting.candidate_place(view_.job(e->job)), &Taken::place);
      const auto here = [&](const Placed& p) { return p.job == e->job; };
      if (std::any_of(placed_.begin(), placed_.begin() + static_cast<std::ptrdiff_t>(in_turn), here)) continue;
      try_place(*e, true);
    }
  }

  // Those still to be looked at stay if there is room left, and, where jobs overtake, if they can have room.
  void commit(bool skip) {
    for (Taken& t : taken_) t.settled = t.settled && (t.stays || !skip);
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (!taken_[i].settled && (skip || taken_[i].processors <= room())) settle(i);
    }
    const auto stays = [](const Taken& t) { return t.stays; };
    if (view_.leaving().empty() && !awaits_ends_ && std::all_of(taken_.begin(), taken_.end(), stays)) return;
    for (const Placed& p : placed_) {
      if (p.now)
        plan_.start(p.job, {p.skipped ? Rule::skipped_ahead : Rule::head_fits, {}, kNever, plan_.free(), 0}, false);
    }
    for (const Taken& t : taken_) {
      const std::int64_t needed = view_.job(t.beneficiary).spec.processors;
      if (!t.stays) plan_.preempt(t.job, {Rule::outranked, t.beneficiary, kNever, free_, needed});
    }
    plan_.close();
  }

 private:
  struct Placed {
    JobId job;
    bool now;      // on what is free; else when others have left
    bool skipped;  // ahead of jobs that could not be placed
  };
  // A running job that must leave, unless it stays after all.
  struct Taken {
    Key place;     // in candidate order, once it is back in the queue
    Key in_queue;  // in queue order
    JobId job;
    JobId beneficiary;
    std::uint32_t processors;
    bool settled;
    bool stays;
  };
  using Candidate = RunningByPriority::Entry;

  std::int64_t room() const { return free_ + coming_; }

  // The job that may be placed next in candidate order: neither the first nor a job behind it can have more than
  // `most`.
  const WaitingEntry* next_that_may_fit(const Key* after) const {
    const WaitingEntry* first = view_.waiting().candidate({room() + kAny, Duration::max(), 0}, after);
    if (!first) return nullptr;
    const std::int32_t priority = view_.job(first->job).spec.priority;
    const std::int64_t most = room() + view_.by_priority().held_below(priority);
    return view_.waiting().candidate({most, Duration::max(), 0}, after);
  }

  bool try_place(const WaitingEntry& e, bool skipped) {
    awaits_ends_ = ends_are_sooner(e);
    if (awaits_ends_ || !find_room(e.job, e.job)) return false;
    const bool now = e.processors <= free_;
    take_room(e.processors);
    placed_.push_back({e.job, now, skipped});
    return true;
  }

  // Whether others could give way, but so much comes free by itself until they had that it need not be.
  bool ends_are_sooner(const WaitingEntry& e) const {
    std::int64_t needed = e.processors - room();
    if (needed <= 0 || lag_ <= Duration{0}) return false;
    if (view_.by_priority().held_below(view_.job(e.job).spec.priority) < needed) return false;
    for_each_over_soon(view_, lag_, [&](JobId id) { needed -= is_taken(id) ? 0 : view_.job(id).spec.processors; });
    return needed <= 0;
  }

  void take_room(std::int64_t processors) {
    const std::int64_t at_once = std::min(processors, free_);
    free_ -= at_once;
    coming_ -= processors - at_once;
  }

  // Takes others off their processors until there is room for the job; false, and nothing is changed, if that cannot
  // be.
  bool find_room(JobId id, JobId beneficiary) {
    const JobSpec& asks = view_.job(id).spec;
    const std::int64_t needed = asks.processors - room();
    if (needed <= 0) return true;
    if (view_.by_priority().held_below(asks.priority) < needed) return false;
    std::vector<Candidate> chosen;
    std::int64_t freed = 0;
    view_.by_priority().for_each_below(asks.priority, [&](const Candidate& c) {
      if (is_taken(c.job)) return true;
      chosen.push_back(c);
      freed += c.processors;
      return freed < needed;
    });
    if (freed < needed) return false;
    for (auto c = chosen.rbegin(); c != chosen.rend(); ++c) {  // the highest priority is spared first
      if (freed - c->processors < needed) {
        occupy(*c, beneficiary);
      } else {
        freed -= c->processors;
      }
    }
    return true;
  }

  bool is_taken(JobId id) const {
    return std::any_of(taken_.begin(), taken_.end(), [&](const Taken& t) { return t.job == id; });
  }

  void occupy(const Candidate& c, JobId beneficiary) {
    Job after = view_.job(c.job);
    if (keeps_work_) after.expected = after.expected_after(after.ran_by(view_.now()));
    const WaitingJobs& waiting = view_.waiting();
    const Taken taken{
        waiting.candidate_place(after), waiting.queue_place(after), c.job, beneficiary, c.processors, false, false};
    const auto before = [](const Taken& a, const Taken& b) { return a.place < b.place; };
    taken_.insert(std::upper_bound(taken_.begin(), taken_.end(), taken, before), taken);
    coming_ += c.processors;
  }

  // Those whose turn in the queue has come: they stay where they are if there is room, or if they can have room. False
  // if one of them does not.
  bool settle_taken_before(const Key& end, Key Taken::* order) {
    bool all_stay = true;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (!taken_[i].settled && taken_[i].*order < end) all_stay = settle(i) && all_stay;
    }
    return all_stay;
  }

  bool settle(std::size_t i) {
    const Taken t = taken_[i];
    taken_[i].settled = true;
    if (!find_room(t.job, t.beneficiary)) return false;
    take_room(t.processors);
    const auto same = [&](const Taken& o) { return o.job == t.job; };  // it may have moved
    std::find_if(taken_.begin(), taken_.end(), same)->stays = true;
    return true;
  }

  static constexpr std::int64_t kAny = std::int64_t{UINT32_MAX};

  const View& view_;
  Plan& plan_;
  bool keeps_work_;
  Duration lag_;              // from the command until the jobs that give way have left
  bool awaits_ends_ = false;  // a job waits for ends, and none behind is looked at
  std::int64_t free_ = 0;     // now, and given to no job yet
  std::int64_t coming_ = 0;   // of jobs that leave, and given to no job yet
  const WaitingEntry* turns_end_ = nullptr;
  std::vector<Placed> placed_;
  std::vector<Taken> taken_;  // by place
};

}  // namespace

namespace {

// A job that asks for whole nodes may fit by counting as things are, and yet not where others leave parts of nodes.
bool counts_tell_what_leaving_gains(const View& view) {
  if (view.nodes().counted()) return true;
  const std::int32_t lowest = view.by_priority().empty() ? INT32_MAX : view.by_priority().lowest();
  for (const WaitingEntry* e = view.waiting().head(); e; e = view.waiting().next(e->place)) {
    const JobSpec& spec = view.job(e->job).spec;
    if (spec.priority <= lowest) return true;
    if (view.nodes().needs_of(spec) != Needs::processors) return false;
  }
  return true;
}

}  // namespace

void Preempt::decide(const View& view, Plan& plan) const {
  if (plan.closed()) return;
  if (promises_) return beside_promises(view, plan);
  const WaitingEntry* head = view.waiting().head();
  const RunningByPriority& others = view.by_priority();
  const bool outranks = head && !others.empty() && others.lowest() < view.job(head->job).spec.priority;
  if (!outranks && view.leaving().empty()) return;
  if (!view.counts_decide() || !counts_tell_what_leaving_gains(view)) return on_nodes(view, plan);
  Walk walk(view, plan, how_ != Preemption::requeue, lag());
  walk.in_turn();
  if (skip_) walk.out_of_turn();
  walk.commit(skip_);
}

}  // namespace rota
