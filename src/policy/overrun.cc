#include "policy/overrun.h"

#include <algorithm>

#include "policy/victims.h"

namespace rota {
namespace {

// The job whose turn it is, if it was promised a start that is due.
const WaitingEntry* due_head(const View& view) {
  const WaitingEntry* head = view.waiting().head();
  if (!head || view.job(head->job).promise > view.now()) return nullptr;
  return head;
}

bool time_is_up(const View& view, const Job& job) { return job.backfilled && job.expected_end() <= view.now(); }

Reason promise_due(const View& view, const Plan& plan, const WaitingEntry& head, Rule rule) {
  return {rule, head.job, view.job(head.job).promise, plan.free(), head.processors};
}

class PromiseDue : public Policy {
 public:
  // A promise that lies only a moment ahead waits for an overdue job to end, and that is an event.
  Instant next_wakeup(const View& view) const override {
    const WaitingEntry* head = view.waiting().head();
    if (!head) return kNever;
    const Instant promise = view.job(head->job).promise;
    return promise > view.now() + Duration{1} ? promise : kNever;
  }
};

// Those that hold processors set aside for the promised job: backfilled jobs whose time is up, and all others.
struct Blockers {
  std::vector<JobId> overrunning;
  bool others = false;

  explicit Blockers(const View& view) {
    for (const JobId id : view.blockers()) {
      const Job& job = view.job(id);
      if (time_is_up(view, job)) {
        overrunning.push_back(id);
      } else if (!job.extended) {
        others = true;
      }
    }
  }
};

class Strict final : public PromiseDue {
 public:
  void decide(const View& view, Plan& plan) const override {
    const WaitingEntry* head = due_head(view);
    if (!head) return;
    const Blockers blockers(view);
    if (blockers.others && plan.fits(*head)) return;  // it starts beside them
    for (const JobId id : blockers.overrunning) plan.kill(id, promise_due(view, plan, *head, Rule::promise_due));
  }
};

class RbHar final : public PromiseDue {
 public:
  explicit RbHar(bool literal) : literal_(literal) {}

  void decide(const View& view, Plan& plan) const override {
    end_extensions(view, plan);
    if (plan.kills()) return;
    const WaitingEntry* head = due_head(view);
    if (!head) return;
    const Blockers blockers(view);
    std::int64_t released = 0;
    for (const JobId id : blockers.overrunning) released += view.job(id).spec.processors;
    const bool can_start = !blockers.others || plan.free() + released >= head->processors;
    if (can_start || literal_) judge(view, plan, *head, blockers.overrunning);
  }

 private:
  // A grant has run out and the job still runs.
  static void end_extensions(const View& view, Plan& plan) {
    for (const JobId id : view.overdue()) {
      if (view.job(id).extended) plan.kill(id, {Rule::promise_due, {}, kNever, plan.free(), 0});
    }
  }

  // Conditions C1 and C2 of the paper, for one job after the other.
  static void judge(const View& view, Plan& plan, const WaitingEntry& head, const std::vector<JobId>& overrunning) {
    const Duration grace = until_next_regular_end(view, view.job(head.job).expected);
    std::int64_t free = plan.free();
    for (const JobId id : overrunning) {
      const std::int64_t own = view.job(id).spec.processors;
      const bool starts_beside = free >= head.processors;                                                   // C1
      const bool wanted = starts_beside && somebody_fits(view, head, free + own - head.processors, grace);  // not C2
      if (starts_beside && !wanted && grace > Duration{0}) {
        plan.extend(id, view.now() + grace, promise_due(view, plan, head, Rule::harms_nobody));
      } else {
        plan.kill(id, promise_due(view, plan, head, Rule::promise_due));
        free += own;
      }
    }
  }

  // minTime, equation (6): until the first running job that was not backfilled is expected to end; without one,
  // `fallback`.
  static Duration until_next_regular_end(const View& view, Duration fallback) {
    Duration least = fallback;
    view.running().for_each([&](const RunningEntry& e) {
      if (e.place.end <= view.now() || view.job(e.job).backfilled) return true;
      least = e.place.end - view.now();
      return false;
    });
    return least;
  }

  // Whether the job next in turn fits into `room`, or any behind it that would be over within `window`; equations (3)
  // to (5).
  static bool somebody_fits(const View& view, const WaitingEntry& head, std::int64_t room, Duration window) {
    const WaitingEntry* next = view.waiting().next(head.place);
    if (!next) return false;
    if (next->processors <= room) return true;
    const Gap gap{room, window - Duration{1}, 0};
    const WaitingEntry* found = view.waiting().candidate(gap, nullptr);
    while (found && (found->job == head.job || found->job == next->job)) {
      const WaitingEntry::Key passed = found->place;
      found = view.waiting().candidate(gap, &passed);
    }
    return found != nullptr;
  }

  bool literal_;
};

class Lazy final : public PromiseDue {
 public:
  void decide(const View& view, Plan& plan) const override {
    const WaitingEntry* head = due_head(view);
    if (!head || plan.fits(*head)) return;
    std::vector<Victim> candidates;
    view.running().for_each([&](const RunningEntry& e) {
      if (e.place.end > view.now()) return false;
      const Job& job = view.job(e.job);
      if (job.backfilled) candidates.push_back({e.job, e.processors, (view.now() - job.start) * e.processors});
      return true;
    });
    for (const JobId id : cheapest_victims(candidates, head->processors - plan.free())) {
      plan.kill(id, promise_due(view, plan, *head, Rule::promise_due));
    }
  }
};

}  // namespace

std::unique_ptr<Policy> make_overrun(Overrun overrun) {
  switch (overrun) {
    case Overrun::kill:
    case Overrun::fixed:
    case Overrun::run_on:
      return nullptr;
    case Overrun::strict:
      return std::make_unique<Strict>();
    case Overrun::rb_har:
      return std::make_unique<RbHar>(false);
    case Overrun::rb_har_literal:
      return std::make_unique<RbHar>(true);
    case Overrun::lazy:
      return std::make_unique<Lazy>();
  }
  return nullptr;
}

}  // namespace rota
