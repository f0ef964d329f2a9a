// Backfilling behind one promise or none while nodes or processors are reserved. What is free comes and goes then, so
// that what is free now and at the promise does not suffice: every start must have room for as long as it is expected
// to run. Where processors are counted all is drawn anew in each cycle: O(running + candidates x steps). Where nodes
// are described: O(reserved nodes) a job, and once a job is promised a start O(candidates x (nodes + changes)). Several
// promises need no other rules than they have.
#include <algorithm>
#include <utility>
#include <vector>

#include "model/moment.h"
#include "plan/kept_timeline.h"
#include "policy/backfill/backfill.h"

namespace rota {
namespace {

// Whether a job has no end in sight among those that run or are started: only then can a promise be unforeseeable.
bool any_without_end(const View& view, const Plan& plan) {
  const Instant foreseeable = view.now() + kForeseeable;
  if (view.running().released_by(foreseeable) < view.running().processors()) return true;
  return std::ranges::any_of(plan.actions(), [&](const Action& a) {
    return a.kind == ActionKind::start && view.job(a.job).expected >= kForeseeable;
  });
}

// Where processors are counted.
class CountedRoom {
 public:
  CountedRoom(const View& view, Plan& plan) : view_(view), plan_(plan), profile_(plan.open_profile()) {}

  // Whether the job could start now and stay for so long.
  bool fits(const WaitingEntry& e, Duration stay) { return profile_.fits(view_.now(), e.processors, stay); }
  void start(const WaitingEntry& e, const Reason& reason, bool backfilled) { plan_.start(e.job, reason, backfilled); }

  Instant opening(const WaitingEntry& e) { return profile_.earliest(view_.now(), e.processors, e.expected); }

  Instant promise(const WaitingEntry& e) {
    const Instant at = opening(e);
    plan_.promise(e.job, at);
    profile_.change(at, at + e.expected, -std::int64_t{e.processors});
    return at;
  }
  // The most that a job may ask for which runs beyond this instant.
  std::int64_t beside(Instant at) const { return std::min(plan_.free(), profile_.free_at(at)); }

 private:
  const View& view_;
  Plan& plan_;
  Profile& profile_;
};

// Where nodes are described. Until a job is promised a start, what is free now stays so but for what is reserved, and
// no timeline is made.
class RoomOnNodes {
 public:
  RoomOnNodes(const View& view, Plan& plan) : view_(view), plan_(plan), kept_(plan.kept_timeline()) {
    plan_.some_nodes().follow(plan_.nodes());
    for (const Reservation& r : view_.reservations().all()) {
      if (r.until > view_.now()) by_begin_.push_back({&r, {}});
    }
    std::ranges::sort(by_begin_, {}, [](const Closed& c) { return std::pair(c.by->from, c.by->id); });
  }

  bool fits(const WaitingEntry& e, Duration stay) {
    if (timeline_) return timeline_->place_at(view_.now(), spec(e), stay, where_);
    close_until(view_.now() + stay);
    return plan_.some_nodes().find(spec(e), where_);
  }
  // At the place that was found last.
  void start(const WaitingEntry& e, const Reason& reason, bool backfilled) {
    plan_.start_at(e.job, where_, reason, backfilled);
    if (timeline_) {
      occupy(e.job, view_.now(), where_);
    } else {
      plan_.some_nodes().occupy(where_);
    }
  }

  Instant opening(const WaitingEntry& e) { return drawn().earliest(spec(e), e.expected, where_); }

  // A place that can be kept is kept.
  Instant promise(const WaitingEntry& e) {
    NodeTimeline& timeline = drawn();
    const Instant at = opening(e);
    const Placement& kept = view_.promised_place(e.job);
    if (at == kNever) {
      plan_.promise(e.job, kNever);
      return at;
    }
    const bool stays = at == view_.job(e.job).promise && !kept.shares.empty() && timeline.fits(at, e.expected, kept);
    if (stays) where_ = kept;
    plan_.promise_at(e.job, at, where_);
    occupy(e.job, at, where_);
    return at;
  }
  std::int64_t beside(Instant /*at*/) const { return plan_.free(); }  // counts cannot tell more

 private:
  // A reservation, and the nodes that are not to be found because of it.
  struct Closed {
    const Reservation* by;
    std::vector<NodeId> nodes;
  };

  const JobSpec& spec(const WaitingEntry& e) const { return view_.job(e.job).spec; }

  // Only nodes that are not reserved up to this instant are to be found: those that begin the latest open first.
  void close_until(Instant end) {
    NodeSpace& nodes = plan_.some_nodes();
    for (; closed_ > 0 && by_begin_[closed_ - 1].by->from >= end; --closed_) {
      for (const NodeId node : by_begin_[closed_ - 1].nodes) nodes.set_available(node, true);
      by_begin_[closed_ - 1].nodes.clear();
    }
    for (; closed_ < by_begin_.size() && by_begin_[closed_].by->from < end; ++closed_) {
      for (const NodeId node : by_begin_[closed_].by->nodes) {
        if (!nodes.available(node)) continue;
        nodes.set_available(node, false);
        by_begin_[closed_].nodes.push_back(node);
      }
    }
  }

  // With the draft's starts, which are all that there is in it.
  NodeTimeline& drawn() {
    if (timeline_) return *timeline_;
    kept_.follow(view_, KeptTimeline::Promises::left_out);
    std::size_t place = 0;
    for (const Action& a : plan_.actions()) occupy(a.job, view_.now(), plan_.places()[place++]);
    timeline_ = &kept_.timeline();
    return *timeline_;
  }
  void occupy(JobId job, Instant from, const Placement& where) {
    kept_.draw(kept_.hold_of(job), from, view_.job(job).expected, where);
  }

  const View& view_;
  Plan& plan_;
  std::vector<Closed> by_begin_;
  std::size_t closed_ = 0;  // so many of them are
  KeptTimeline& kept_;
  NodeTimeline* timeline_ = nullptr;  // nullptr: no job is promised a start yet
  Placement where_;
};

template <class Room>
class AroundReservations {
 public:
  AroundReservations(const View& view, Plan& plan, const BackfillKnobs& knobs)
      : view_(view), plan_(plan), knobs_(knobs), room_(view, plan) {}

  void run() {
    head_ = view_.waiting().head();
    while (head_ && room_.fits(*head_, head_->expected)) {
      room_.start(*head_, {}, false);
      head_ = view_.waiting().next(head_->place);
    }
    if (!head_) return;
    if (knobs_.promises > 0) {
      after_ = overtaking_from(view_, *head_);
      if (knobs_.pass > 0 && any_without_end(view_, plan_)) pass();
      promise();
      overtake();
    } else if (knobs_.skip) {
      start_all_that_fit();
    }
  }

 private:
  void promise() {
    withdraw_all_but(head_->job, view_, plan_);
    promise_ = room_.promise(*head_);
    window_ = knobs_.window(view_.now(), promise_);
  }

  void pass() {
    const Instant opening = room_.opening(*head_);
    if (opening == kNever || is_foreseeable(opening, view_.now())) return;
    after_ = pass_unforeseen(view_, plan_, *head_, knobs_, [&](const WaitingEntry& e, const Reason& reason) {
      const bool fits = room_.fits(e, e.expected);
      if (fits) room_.start(e, reason, true);
      return fits;
    });
  }

  void start_all_that_fit() {
    CandidateWalk walk(view_.waiting(), overtaking_from(view_, *head_));
    for (Gap gap = gap_now(); const WaitingEntry* e = walk.next(gap);) {
      if (!overtakes(view_, *e, *head_) || !room_.fits(*e, e->expected)) continue;
      room_.start(*e, {Rule::skipped_ahead, {}, kNever, plan_.free(), 0}, false);
      gap = gap_now();
    }
  }

  void overtake() {
    CandidateWalk walk(view_.waiting(), after_);
    for (Gap gap = gap_now(); const WaitingEntry* e = walk.next(gap);) {
      if (!overtakes(view_, *e, *head_)) continue;
      const bool in_time = e->expected <= window_;
      if (!in_time && !knobs_.beside) continue;
      // A job that counts as lasting beyond the promise, because it could take more than its estimate, needs room
      // beside it.
      const Duration stay = in_time ? e->expected : std::max(e->expected, promise_ - view_.now() + kMoment);
      if (!room_.fits(*e, stay)) continue;
      const Rule rule = in_time ? Rule::ends_before_promise : Rule::beside_promise;
      room_.start(*e, {rule, head_->job, promise_, plan_.free(), head_->processors}, true);
      gap = gap_now();
    }
  }

  // What candidates must keep to, as far as it is quick to tell: the promise, or the first reservation to begin if that
  // is sooner.
  Gap gap_now() const {
    Gap gap{plan_.free(), window_, 0};
    if (promise_ != kNever && knobs_.beside) gap.beside = room_.beside(promise_);
    for (const Reservation& r : view_.reservations().all()) {
      const Duration window = r.from - view_.now();
      if (window > Duration{0} && window < gap.window) gap = {plan_.free(), window, room_.beside(r.from)};
    }
    return gap;
  }

  const View& view_;
  Plan& plan_;
  const BackfillKnobs& knobs_;
  Room room_;
  const WaitingEntry* head_ = nullptr;        // the first waiting job that cannot start
  const WaitingEntry::Key* after_ = nullptr;  // jobs behind this one are yet to be tried
  Instant promise_ = kNever;
  Duration window_ = Duration::max();  // in which a candidate must be over, or else have room beside the promise
};

}  // namespace

void Backfill::around_reservations(const View& view, Plan& plan) const {
  if (view.nodes().counted()) {
    AroundReservations<CountedRoom>(view, plan, knobs_).run();
  } else {
    AroundReservations<RoomOnNodes>(view, plan, knobs_).run();
  }
}

}  // namespace rota
