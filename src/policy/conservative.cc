// Conservative backfilling: every waiting job has a promise, and a promise never moves later unless a job overran.
#include "policy/backfill.h"

namespace rota {
namespace {

// Draws the promised starts into the profile, compresses, and places the newcomers; one pass over the queue each.
class Planner {
 public:
  Planner(const View& view, Plan& plan) : view_(view), plan_(plan), profile_(plan.profile()) {}

  void run() {
    draw_promises();
    if (profile_.overcommitted()) {
      replan();
    } else {
      if (view_.releases() > 0) compress();
      place_newcomers();
    }
    start_what_is_due();
  }

 private:
  Instant now() const { return view_.now(); }
  void take(const Plan::Hold& h) { profile_.change(h.start, h.start + h.expected, -std::int64_t{h.processors}); }
  void give(const Plan::Hold& h) { profile_.change(h.start, h.start + h.expected, h.processors); }

  void draw_promises() {
    view_.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
      const Instant promise = view_.job(e.job).promise;
      plan_.held().push_back({e.job, e.processors, e.expected, promise == kNever ? kNever : std::max(promise, now())});
      if (promise != kNever) take(plan_.held().back());
      return true;
    });
  }

  // From what is running alone, in queue order: only when an overrun has broken the promises anyway.
  void replan() {
    plan_.open_profile();
    for (Plan::Hold& h : plan_.held()) h.start = kNever;
    place_newcomers();
  }

  // Each promised job in turn gives its place back and takes the earliest one that there is now: never a later one.
  void compress() {
    for (Plan::Hold& h : plan_.held()) {
      if (h.start == kNever || h.start <= now()) continue;
      give(h);
      h.start = profile_.earliest(now(), h.processors, h.expected);
      take(h);
    }
  }

  void place_newcomers() {
    for (Plan::Hold& h : plan_.held()) {
      if (h.start != kNever) continue;
      h.start = profile_.earliest(now(), h.processors, h.expected);
      take(h);
    }
  }

  void start_what_is_due() {
    const Plan::Hold* passed = nullptr;  // the first waiting job that is overtaken
    for (const Plan::Hold& h : plan_.held()) {
      if (h.start > now()) {
        if (!passed) passed = &h;
        plan_.promise(h.job, h.start);
        continue;
      }
      const Instant promise = view_.job(h.job).promise;
      const Rule rule = !passed ? Rule::head_fits : promise == kNever || promise > now() ? Rule::ends_before_promise : Rule::planned;
      give(h);  // the start itself takes its place
      plan_.start(h.job, passed ? Reason{rule, passed->job, passed->start, plan_.free(), passed->processors} : Reason{},
                  passed != nullptr);
    }
  }

  const View& view_;
  Plan& plan_;
  Profile& profile_;
};

}  // namespace

void Backfill::behind_every_promise(const View& view, Plan& plan) const { Planner(view, plan).run(); }

}  // namespace rota
