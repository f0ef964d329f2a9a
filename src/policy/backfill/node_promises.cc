// Many promises where it matters on which nodes room is. A promise is a start and a place; both are kept from cycle to
// cycle.
#include "plan/node_timeline.h"
#include "policy/backfill/many_promises.h"
#include "policy/refused.h"

namespace rota {
namespace {

class PromisesOnNodes {
 public:
  struct Hold {
    JobId job;
    std::uint32_t processors = 0;
    Duration expected{0};
    Instant start = kNever;
    Instant promised = kNever;
    Placement where;
  };

  PromisesOnNodes(const View& view, Plan& plan) : view_(view), plan_(plan), timeline_(view) {}

  std::vector<Hold>& held() { return held_; }
  Hold hold_of(JobId id) const {
    const Job& job = view_.job(id);
    if (job.promise == kNever) return {id, job.spec.processors, job.expected, kNever, kNever, {}};
    const Instant start = std::max(job.promise, now());
    return {id, job.spec.processors, job.expected, start, job.promise, view_.promised_place(id)};
  }

  // Promises that were made by counting get their places now, in order of their starts: what is free when one starts
  // stays free as long as nobody who starts later has a place. False: one cannot be kept.
  bool draw(std::vector<Hold>& held) {
    std::vector<Hold*> by_start;
    by_start.reserve(held.size());
    for (Hold& h : held) {
      if (h.start != kNever) by_start.push_back(&h);
    }
    std::stable_sort(by_start.begin(), by_start.end(),
                     [](const Hold* a, const Hold* b) { return a->start < b->start; });
    return std::ranges::all_of(by_start, [&](Hold* h) { return h->where.shares.empty() ? keep_time(*h) : keep(*h); });
  }
  // An overrun has broken promises: in queue order each stands that still can, then the others are made anew, at the
  // same time if there is another place.
  void draw_anew(std::vector<Hold>& held) {
    timeline_ = NodeTimeline(view_);
    std::vector<Hold*> broken;
    for (Hold& h : held) {
      if (h.start != kNever && (h.where.shares.empty() || !keep(h))) broken.push_back(&h);
    }
    for (Hold* h : broken) {
      if (!keep_time(*h)) place(*h);
    }
  }

  void place(Hold& h) {
    const Instant soonest = refused_.soonest(spec(h.job), h.expected, now());
    h.start = timeline_.earliest(spec(h.job), h.expected, h.where, {soonest});
    refused_.add(spec(h.job), h.expected, h.start);
    if (h.start != kNever) take(h);
  }
  void move_forward(Hold& h) {
    if (const Instant from = soonest(h); from < h.start) look_for_earlier(h, from);
    refused_.add(spec(h.job), h.expected, h.start);
  }
  void give(const Hold& h) { timeline_.give(h.start, h.expected, h.where); }

  void promise(const Hold& h) {
    h.start == kNever ? plan_.promise(h.job, kNever) : plan_.promise_at(h.job, h.start, h.where);
  }
  void start(const Hold& h, const Reason& reason, bool backfilled) {
    plan_.start_at(h.job, h.where, reason, backfilled);
  }

  bool finds(const WaitingEntry& e) {
    return plan_.nodes().find(spec(e.job), found_) && timeline_.place_at(now(), spec(e.job), e.expected, found_);
  }
  void start_found(const WaitingEntry& e, const Reason& reason) {
    plan_.start_at(e.job, found_, reason, true);
    timeline_.take(now(), e.expected, found_);
  }
  void done() const {}

 private:
  Instant now() const { return view_.now(); }
  const JobSpec& spec(JobId id) const { return view_.job(id).spec; }
  void take(const Hold& h) { timeline_.take(h.start, h.expected, h.where); }

  bool keep(const Hold& h) {
    const bool fits = timeline_.fits(h.start, h.expected, h.where);
    if (fits) take(h);
    return fits;
  }
  bool keep_time(Hold& h) {
    const bool fits = timeline_.place_at(h.start, spec(h.job), h.expected, h.where);
    if (fits) take(h);
    return fits;
  }

  // Before which instant nothing can have come free for it. Where others found nothing it finds something only if that
  // reaches into its own place, on a node of it that is free until then.
  Instant soonest(const Hold& h) const {
    const Instant beside_others = refused_.soonest(spec(h.job), h.expected, now());
    if (beside_others <= now()) return now();
    const Instant into_its_own = std::max(h.start - h.expected, timeline_.free_since(h.start, spec(h.job), h.where));
    return std::max(std::min(beside_others, into_its_own), now());
  }

  void look_for_earlier(Hold& h, Instant from) {
    if (!timeline_.may_start_in({from, h.start}, spec(h.job), h.expected)) return;
    give(h);
    const Instant earlier = timeline_.earliest(spec(h.job), h.expected, found_, {from, h.start});
    if (earlier != kNever) {
      refused_.freed(h.start);
      h.start = earlier;
      h.where = found_;
    }
    take(h);
  }

  const View& view_;
  Plan& plan_;
  NodeTimeline timeline_;
  std::vector<Hold> held_;
  Placement found_;
  RefusedUntil refused_;
};

}  // namespace

void Backfill::behind_many_on_nodes(const View& view, Plan& plan) const {
  ManyPromises<PromisesOnNodes>(view, plan, knobs_.promises).run();
}

}  // namespace rota
