// Backfilling behind several promises, or one for every job, where it matters on which nodes room is. A promise is a
// start and a place; both are kept from cycle to cycle.
#include <algorithm>

#include "plan/node_timeline.h"
#include "policy/backfill/backfill.h"
#include "policy/refused.h"

namespace rota {
namespace {

class NodePlanner {
 public:
  NodePlanner(const View& view, Plan& plan, std::int32_t most)
      : view_(view), plan_(plan), most_(most), timeline_(view) {}

  void run() {
    collect();
    if (!draw_what_stands()) {
      timeline_ = NodeTimeline(view_);
      replan();
    } else if (view_.releases() > 0 || looks_again()) {
      compress();
    }
    walk_the_queue();
    start_what_is_due();
    if (most_ != BackfillKnobs::kEveryJob) overtake();
  }

 private:
  struct Hold {
    JobId job;
    Duration expected{0};
    Instant start = kNever;
    Placement where;
  };

  Instant now() const { return view_.now(); }
  // Nothing has happened: the plan before, of this instant, served the first of the queue and looked at nobody else.
  bool looks_again() const { return view_.options().by_priority && view_.releases() == 0 && view_.arrived().empty(); }
  const JobSpec& spec(JobId id) const { return view_.job(id).spec; }

  void place(Hold& h) {
    const Instant soonest = refused_.soonest(spec(h.job), h.expected, now());
    h.start = timeline_.earliest(spec(h.job), h.expected, h.where, {soonest});
    refused_.add(spec(h.job), h.expected, h.start);
    if (h.start != kNever) timeline_.take(h.start, h.expected, h.where);
  }

  // Those that hold a promise, in queue order.
  void collect() {
    for (const JobId id : view_.promised()) {
      const Job& job = view_.job(id);
      held_.push_back({id, job.expected, std::max(job.promise, now()), view_.promised_place(id)});
    }
    std::sort(held_.begin(), held_.end(), [&](const Hold& a, const Hold& b) {
      return view_.waiting().queue_place(view_.job(a.job)) < view_.waiting().queue_place(view_.job(b.job));
    });
  }

  // Promises that were made by counting get their places now, in order of their starts: what is free when one starts
  // stays free as long as nobody who starts later has a place. False: one cannot be kept.
  bool draw_what_stands() {
    std::vector<Hold*> by_start;
    by_start.reserve(held_.size());
    for (Hold& h : held_) by_start.push_back(&h);
    std::stable_sort(by_start.begin(), by_start.end(),
                     [](const Hold* a, const Hold* b) { return a->start < b->start; });
    for (Hold* h : by_start) {
      const bool has_place = !h->where.shares.empty();
      const bool kept = has_place ? timeline_.fits(h->start, h->expected, h->where)
                                  : timeline_.place_at(h->start, spec(h->job), h->expected, h->where);
      if (!kept) return false;
      timeline_.take(h->start, h->expected, h->where);
    }
    return true;
  }

  // An overrun has broken promises: in queue order each stands that still can, then the others are made anew.
  void replan() {
    std::vector<Hold*> broken;
    for (Hold& h : held_) {
      if (!h.where.shares.empty() && timeline_.fits(h.start, h.expected, h.where)) {
        timeline_.take(h.start, h.expected, h.where);
      } else {
        broken.push_back(&h);
      }
    }
    for (Hold* h : broken) {
      const bool elsewhere = timeline_.place_at(h->start, spec(h->job), h->expected, h->where);
      if (elsewhere) timeline_.take(h->start, h->expected, h->where);
      if (!elsewhere) place(*h);
    }
  }

  // Each promised job in turn gives its place back and takes the earliest one that there is now: never a later one.
  void compress() {
    for (Hold& h : held_) {
      if (h.start <= now() || h.start == kNever) continue;
      if (const Instant from = soonest(h); from < h.start) move_forward(h, from);
      refused_.add(spec(h.job), h.expected, h.start);
    }
  }

  // Before which instant nothing can have come free for it. Where others found nothing it finds something only if that
  // reaches into its own place, on a node of it that is free until then.
  Instant soonest(const Hold& h) const {
    const Instant beside_others = refused_.soonest(spec(h.job), h.expected, now());
    if (beside_others <= now()) return now();
    const Instant into_its_own = std::max(h.start - h.expected, timeline_.free_since(h.start, spec(h.job), h.where));
    return std::max(std::min(beside_others, into_its_own), now());
  }

  void move_forward(Hold& h, Instant from) {
    timeline_.give(h.start, h.expected, h.where);
    const Instant earlier = timeline_.earliest(spec(h.job), h.expected, found_, {from, h.start});
    if (earlier != kNever) {
      refused_.freed(h.start);
      h.start = earlier;
      h.where = found_;
    }
    timeline_.take(h.start, h.expected, h.where);
  }

  // Until so many jobs are blocked; promised jobs further back lose their promise.
  void walk_the_queue() {
    std::vector<Hold> first;
    std::int32_t blocked = 0;
    auto kept = held_.begin();  // in queue order too
    for (const WaitingEntry* e = view_.waiting().head(); e && blocked < most_; e = view_.waiting().next(e->place)) {
      if (kept != held_.end() && kept->job == e->job) {
        first.push_back(std::move(*kept++));
      } else {
        place(first.emplace_back(Hold{e->job, e->expected, kNever, {}}));
      }
      blocked += first.back().start > now() ? 1 : 0;
    }
    for (; kept != held_.end(); ++kept) {
      if (kept->start != kNever) timeline_.give(kept->start, kept->expected, kept->where);
      plan_.promise(kept->job, kNever);
    }
    held_ = std::move(first);
  }

  void start_what_is_due() {
    for (const Hold& h : held_) {
      if (h.start > now() && !passed_) passed_ = &h;
      if (h.start == kNever) {
        plan_.promise(h.job, kNever);
        continue;
      }
      if (h.start > now()) {
        plan_.promise_at(h.job, h.start, h.where);
        continue;
      }
      const Instant promise = view_.job(h.job).promise;
      const bool planned = promise != kNever && promise <= now();
      plan_.start_at(h.job, h.where,
                     passed_ ? overtaking(planned ? Rule::planned : Rule::ends_before_promise) : Reason{},
                     passed_ != nullptr);
    }
  }

  Reason overtaking(Rule rule) const {
    return {rule, passed_->job, passed_->start, plan_.free(), spec(passed_->job).processors};
  }

  bool holds(JobId id) const {
    return std::any_of(held_.begin(), held_.end(), [&](const Hold& h) { return h.job == id; });
  }

  // Jobs without a promise start if no promise is touched by it.
  void overtake() {
    if (!passed_) return;
    const WaitingEntry::Key* after = nullptr;
    while (const WaitingEntry* e = view_.waiting().candidate({plan_.free(), Duration::max(), 0}, after)) {
      after = &e->place;
      if (holds(e->job) || !plan_.nodes().find(spec(e->job), found_)) continue;
      if (!timeline_.place_at(now(), spec(e->job), e->expected, found_)) continue;
      plan_.start_at(e->job, found_, overtaking(Rule::ends_before_promise), true);
      timeline_.take(now(), e->expected, found_);
    }
  }

  const View& view_;
  Plan& plan_;
  std::int32_t most_;
  NodeTimeline timeline_;
  std::vector<Hold> held_;  // in queue order
  Placement found_;
  RefusedUntil refused_;
  const Hold* passed_ = nullptr;  // the first waiting job that is overtaken
};

}  // namespace

void Backfill::behind_many_on_nodes(const View& view, Plan& plan) const {
  NodePlanner(view, plan, knobs_.promises).run();
}

}  // namespace rota
