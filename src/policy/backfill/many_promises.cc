// Backfilling behind several promises, or one for every job: conservative backfilling (Mu'alem and Feitelson 2001).
#include <algorithm>

#include "policy/backfill/backfill.h"

namespace rota {
namespace {

// Draws the standing promises into the profile, lets each move forward, places those who have none yet while the number
// of promises allows, and starts whatever is due; all in queue order.
class Planner {
 public:
  Planner(const View& view, Plan& plan, std::int32_t most)
      : view_(view), plan_(plan), followed_(plan.follow_profile()), profile_(plan.profile()), most_(most) {}

  void run() {
    collect();
    if (!followed_ || misses_a_start()) draw();
    if (profile_.overcommitted()) {
      replan();
    } else if (view_.releases() > 0 || looks_again()) {
      compress();
    }
    place_newcomers();
    start_what_is_due();
    if (most_ != BackfillKnobs::kEveryJob) backfill();
    plan_.keep_profile();
  }

 private:
  using Hold = Plan::Hold;

  Instant now() const { return view_.now(); }
  // Nothing has happened: the plan before, of this instant, served the first of the queue and looked at nobody else.
  bool looks_again() const { return view_.options().by_priority && view_.releases() == 0 && view_.arrived().empty(); }
  // Somebody was to start before now, and now counts from now on.
  bool misses_a_start() const {
    return std::any_of(plan_.held().begin(), plan_.held().end(), [&](const Hold& h) { return h.promised < now(); });
  }
  void draw() {
    if (followed_) plan_.open_profile();
    for (const Hold& h : plan_.held()) {
      if (h.start != kNever) profile_.collect_change(h.start, h.start + h.expected, -std::int64_t{h.processors});
    }
    profile_.make_changes();
  }
  void take(const Hold& h) { change(h, -std::int64_t{h.processors}); }
  void give(const Hold& h) { change(h, h.processors); }
  void change(const Hold& h, std::int64_t processors) {  // kNever: what it needs is withheld
    if (h.start != kNever) profile_.change(h.start, h.start + h.expected, processors);
  }
  void place(Hold& h) {
    h.start = profile_.earliest(now(), h.processors, h.expected);
    if (h.start != kNever) take(h);  // kNever: nodes sleep, and nobody knows till when
  }
  Hold hold_of(const WaitingEntry& e) const {
    const Instant promise = view_.job(e.job).promise;
    return {e.job, e.processors, e.expected, promise == kNever ? kNever : std::max(promise, now()), promise};
  }

  // All waiting jobs, or only those with a promise, in queue order.
  void collect() {
    std::vector<Hold>& held = plan_.held();
    if (most_ == BackfillKnobs::kEveryJob) {
      view_.waiting().for_each_in_queue_order([&](const WaitingEntry& e) { return held.push_back(hold_of(e)), true; });
      return;
    }
    for (const JobId id : view_.promised()) {
      const Job& job = view_.job(id);
      held.push_back({id, job.spec.processors, job.expected, std::max(job.promise, now()), job.promise});
    }
    std::sort(held.begin(), held.end(), [&](const Hold& a, const Hold& b) {
      return view_.waiting().queue_place(view_.job(a.job)) < view_.waiting().queue_place(view_.job(b.job));
    });
  }

  // An overrun has broken promises: in queue order each stands that still can, then the others are made anew.
  void replan() {
    plan_.open_profile();
    std::vector<Hold*> broken;
    for (Hold& h : plan_.held()) {
      if (h.start == kNever) continue;
      if (profile_.fits(h.start, h.processors, h.expected)) {
        take(h);
      } else {
        broken.push_back(&h);
      }
    }
    for (Hold* h : broken) place(*h);
  }

  // Each promised job in turn takes the earliest place that there would be if it gave its own back: never a later one.
  void compress() {
    for (Hold& h : plan_.held()) {
      if (h.start == kNever || h.start <= now()) continue;
      const Instant earliest = profile_.earliest_before(h.start, h.processors, h.expected);
      if (earliest == h.start) continue;
      give(h);
      h.start = earliest;
      take(h);
    }
  }

  void place_newcomers() {
    if (most_ == BackfillKnobs::kEveryJob) {
      for (Hold& h : plan_.held()) {
        if (h.start == kNever) place(h);
      }
    } else {
      place_the_first();
    }
  }

  // Walks the queue until so many jobs are blocked; promised jobs further back lose their promise.
  void place_the_first() {
    std::vector<Hold> first;
    std::vector<Hold>& held = plan_.held();
    std::int32_t blocked = 0;
    for (const WaitingEntry* e = view_.waiting().head(); e && blocked < most_; e = view_.waiting().next(e->place)) {
      const auto kept = std::find_if(held.begin(), held.end(), [&](const Hold& h) { return h.job == e->job; });
      Hold h = kept == held.end() ? hold_of(*e) : *kept;
      if (kept == held.end()) {
        place(h);
      } else {
        held.erase(kept);
      }
      blocked += h.start > now() ? 1 : 0;
      first.push_back(h);
    }
    for (const Hold& h : held) {
      if (h.start != kNever) give(h);
      plan_.promise(h.job, kNever);
    }
    held = std::move(first);
  }

  void start_what_is_due() {
    for (const Hold& h : plan_.held()) {
      if (h.start > now()) {
        if (!passed_) passed_ = &h;
        if (h.start != h.promised || !plan_.nodes().counted()) plan_.promise(h.job, h.start);
        continue;
      }
      const bool planned = h.promised != kNever && h.promised <= now();
      give(h);  // the start itself takes its place
      plan_.start(h.job, passed_ ? overtaking(planned ? Rule::planned : Rule::ends_before_promise) : Reason{},
                  passed_ != nullptr);
    }
  }

  Reason overtaking(Rule rule) const { return {rule, passed_->job, passed_->start, plan_.free(), passed_->processors}; }

  // Jobs without a promise start if no promise is touched by it.
  void backfill() {
    if (!passed_) return;
    const WaitingEntry::Key* after = nullptr;
    while (const WaitingEntry* e = view_.waiting().candidate({plan_.free(), Duration::max(), 0}, after)) {
      after = &e->place;
      if (plan_.holds(e->job) || !profile_.fits(now(), e->processors, e->expected)) continue;
      plan_.start(e->job, overtaking(Rule::ends_before_promise), true);
    }
  }

  const View& view_;
  Plan& plan_;
  bool followed_;  // the profile is that of the plan before
  Profile& profile_;
  std::int32_t most_;
  const Hold* passed_ = nullptr;  // the first waiting job that is overtaken
};

}  // namespace

void Backfill::behind_many_promises(const View& view, Plan& plan) const { Planner(view, plan, knobs_.promises).run(); }

}  // namespace rota
