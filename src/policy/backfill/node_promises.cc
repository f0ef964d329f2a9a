// Many promises where it matters on which nodes room is. A promise is a start and a place; both are kept from cycle to
// cycle, and so is the timeline in which they are drawn.
#include "plan/kept_timeline.h"
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
    KeptTimeline::Hold* place = nullptr;
  };

  PromisesOnNodes(const View& view, Plan& plan)
      : view_(view),
        plan_(plan),
        kept_(plan.kept_timeline()),
        timeline_(kept_.timeline()),
        stands_(kept_.follow(view, KeptTimeline::Promises::drawn)) {}

  std::vector<Hold>& held() { return held_; }
  Hold hold_of(JobId id) {
    const Job& job = view_.job(id);
    const Instant start = job.promise == kNever ? kNever : std::max(job.promise, now());
    return {id, job.spec.processors, job.expected, start, job.promise, &kept_.hold_of(id)};
  }

  // What stands is drawn. False: something is in the way of some of it, which is lifted.
  bool draw(std::vector<Hold>& held) {
    if (stands_) return true;
    if (kept_.some_have_no_place()) {
      draw_in_order(held);
    } else {
      lift_what_lacks_room(held);
    }
    return lifted_.empty();
  }
  // An overrun has broken promises: in queue order each stands that still can, then the others are made anew, at the
  // same time if there is another place.
  void draw_anew(const std::vector<Hold>& /*held*/) {
    std::vector<Hold*> broken;
    for (Hold* h : lifted_) {
      if (!has_place(*h) || !keep(*h)) broken.push_back(h);
    }
    for (Hold* h : broken) {
      KeptTimeline::give_up(*h->place);
      if (!keep_time(*h)) place(*h);
    }
  }

  void place(Hold& h) {
    const Instant soonest = refused_.soonest(spec(h.job), h.expected, now());
    h.start = timeline_.earliest(spec(h.job), h.expected, found_, {soonest});
    refused_.add(spec(h.job), h.expected, h.start);
    if (h.start != kNever) kept_.draw(*h.place, h.start, h.expected, found_);
  }
  void move_forward(Hold& h) {
    if (const Instant from = soonest(h); from < h.start) look_for_earlier(h, from);
    refused_.add(spec(h.job), h.expected, h.start);
  }
  void give(const Hold& h) {
    lift(h);
    KeptTimeline::give_up(*h.place);
  }

  void promise(const Hold& h) {
    if (h.start == kNever) {
      plan_.promise(h.job, kNever);
    } else {
      plan_.promise_at(h.job, h.start, h.place->where);
    }
  }
  void start(const Hold& h, const Reason& reason, bool backfilled) {
    plan_.start_at(h.job, h.place->where, reason, backfilled);
  }

  bool finds(const WaitingEntry& e) {
    return plan_.nodes().find(spec(e.job), found_) && timeline_.place_at(now(), spec(e.job), e.expected, found_);
  }
  void start_found(const WaitingEntry& e, const Reason& reason) {
    plan_.start_at(e.job, found_, reason, true);
    kept_.draw(kept_.hold_of(e.job), now(), e.expected, found_);
  }
  void done() const {}

 private:
  Instant now() const { return view_.now(); }
  const JobSpec& spec(JobId id) const { return view_.job(id).spec; }
  static bool has_place(const Hold& h) { return !h.place->where.shares.empty(); }
  void lift(const Hold& h) { kept_.lift(*h.place); }

  // All others have room whatever becomes of these: none of theirs is short of anything.
  void lift_what_lacks_room(std::vector<Hold>& held) {
    for (Hold& h : held) {
      if (h.start != kNever && kept_.lacks_room(*h.place)) lifted_.push_back(&h);
    }
    for (const Hold* h : lifted_) lift(*h);
  }

  // Promises that were made by counting get their places now, in order of their starts: what is free when one starts
  // stays free as long as no job that starts later has a place. Where one cannot be kept all are lifted.
  void draw_in_order(std::vector<Hold>& held) {
    std::vector<Hold*> by_start;
    by_start.reserve(held.size());
    for (Hold& h : held) {
      if (h.start != kNever) by_start.push_back(&h);
    }
    std::stable_sort(by_start.begin(), by_start.end(),
                     [](const Hold* a, const Hold* b) { return a->start < b->start; });
    for (const Hold* h : by_start) lift(*h);
    const auto stays = [&](Hold* h) { return has_place(*h) ? keep(*h) : keep_time(*h); };
    const auto first_broken = std::ranges::find_if_not(by_start, stays);
    if (first_broken == by_start.end()) return;
    for (auto h = by_start.begin(); h != first_broken; ++h) lift(**h);
    for (Hold& h : held) {
      if (h.start != kNever) lifted_.push_back(&h);
    }
  }

  bool keep(const Hold& h) {
    const bool fits = timeline_.fits(h.start, h.expected, h.place->where);
    if (fits) kept_.draw_again(*h.place);
    return fits;
  }
  bool keep_time(const Hold& h) {
    const bool fits = timeline_.place_at(h.start, spec(h.job), h.expected, found_);
    if (fits) kept_.draw(*h.place, h.start, h.expected, found_);
    return fits;
  }

  // Before which instant nothing can have come free for it. Where others found nothing it finds something only if that
  // reaches into its own place, on a node of it that is free until then.
  Instant soonest(const Hold& h) const {
    const Instant beside_others = refused_.soonest(spec(h.job), h.expected, now());
    if (beside_others <= now()) return now();
    const Instant into_its_own =
        std::max(h.start - h.expected, timeline_.free_since(h.start, spec(h.job), h.place->where));
    return std::max(std::min(beside_others, into_its_own), now());
  }

  void look_for_earlier(Hold& h, Instant from) {
    from = timeline_.none_before({from, h.start}, spec(h.job), h.expected);
    if (from == kNever) return;
    lift(h);
    const Instant earlier = timeline_.earliest(spec(h.job), h.expected, found_, {from, h.start});
    if (earlier == kNever) return kept_.draw_again(*h.place);
    refused_.freed(h.start);
    h.start = earlier;
    kept_.draw(*h.place, h.start, h.expected, found_);
  }

  const View& view_;
  Plan& plan_;
  KeptTimeline& kept_;
  NodeTimeline& timeline_;
  bool stands_;  // what was promised, where it is drawn
  std::vector<Hold> held_;
  std::vector<Hold*> lifted_;  // of these, in queue order: promises that may not be kept
  Placement found_;
  RefusedUntil refused_;
};

}  // namespace

void Backfill::behind_many_on_nodes(const View& view, Plan& plan) const {
  ManyPromises<PromisesOnNodes>(view, plan, knobs_.promises).run();
}

}  // namespace rota
