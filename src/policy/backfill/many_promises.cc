// Many promises where processors are counted: in the plan's profile, which the next cycle goes on from if it can.
#include "policy/backfill/many_promises.h"

namespace rota {
namespace {

class PromisesByCount {
 public:
  using Hold = Plan::Hold;

  PromisesByCount(const View& view, Plan& plan)
      : view_(view), plan_(plan), followed_(plan.follow_profile()), profile_(plan.profile()) {}

  std::vector<Hold>& held() { return plan_.held(); }
  Hold hold_of(JobId id) const {
    const Job& job = view_.job(id);
    const Instant start = job.promise == kNever ? kNever : std::max(job.promise, view_.now());
    return {id, job.spec.processors, job.expected, start, job.promise};
  }

  // What stands. False: running jobs are in the way of it.
  bool draw(const std::vector<Hold>& held) {
    const auto misses_its_start = [&](const Hold& h) { return h.promised < view_.now(); };  // counts from now on now
    if (followed_ && std::none_of(held.begin(), held.end(), misses_its_start)) return !profile_.overcommitted();
    if (followed_) plan_.open_profile();
    for (const Hold& h : held) {
      if (h.start != kNever) profile_.collect_change(h.start, h.start + h.expected, -std::int64_t{h.processors});
    }
    profile_.make_changes();
    return !profile_.overcommitted();
  }
  // An overrun has broken promises: in queue order each stands that still can, then the others are made anew.
  void draw_anew(std::vector<Hold>& held) {
    plan_.open_profile();
    std::vector<Hold*> broken;
    for (Hold& h : held) {
      if (h.start == kNever) continue;
      if (profile_.fits(h.start, h.processors, h.expected)) {
        occupy(h);
      } else {
        broken.push_back(&h);
      }
    }
    for (Hold* h : broken) place(*h);
  }

  void place(Hold& h) {
    h.start = profile_.earliest(view_.now(), h.processors, h.expected);
    if (h.start != kNever) occupy(h);  // kNever: nodes sleep, and it is not known till when
  }
  void move_forward(Hold& h) {
    const Instant earliest = profile_.earliest_before(h.start, h.processors, h.expected);
    if (earliest == h.start) return;
    give(h);
    h.start = earliest;
    occupy(h);
  }
  void give(const Hold& h) { profile_.change(h.start, h.start + h.expected, h.processors); }

  void promise(const Hold& h) {
    if (h.start != h.promised || !plan_.nodes().counted()) plan_.promise(h.job, h.start);
  }
  void start(const Hold& h, const Reason& reason, bool backfilled) {
    give(h);  // the start itself takes its place
    plan_.start(h.job, reason, backfilled);
  }

  bool finds(const WaitingEntry& e) const { return profile_.fits(view_.now(), e.processors, e.expected); }
  void start_found(const WaitingEntry& e, const Reason& reason) { plan_.start(e.job, reason, true); }
  void done() { plan_.keep_profile(); }

 private:
  void occupy(const Hold& h) { profile_.change(h.start, h.start + h.expected, -std::int64_t{h.processors}); }

  const View& view_;
  Plan& plan_;
  bool followed_;  // the profile is that of the plan before
  Profile& profile_;
};

}  // namespace

void Backfill::behind_many_promises(const View& view, Plan& plan) const {
  ManyPromises<PromisesByCount>(view, plan, knobs_.promises).run();
}

}  // namespace rota
