#include "policy/backfill.h"

#include <algorithm>

namespace rota {
namespace {

Reason because(Rule rule, const Plan& plan, const WaitingEntry& promised, Instant promise) {
  return {rule, promised.job, promise, plan.free(), promised.processors};
}

// Under one promise at most: whoever else held one (the order changed) has lost it.
void withdraw_all_but(JobId keep, const View& view, Plan& plan) {
  for (const JobId id : view.promised()) {
    if (id != keep && !plan.starts(id)) plan.promise(id, kNever);
  }
}

// Whether a job that has come to the queue since the last cycle is small enough for what is free. If nothing has been
// released since then, and the same job is still first and promised the same start, no other job has become a candidate:
// what is free, what is left beside the promise and the time until it have only shrunk.
bool any_fits(const View& view, std::int64_t free) {
  return std::any_of(view.arrived().begin(), view.arrived().end(),
                     [&](JobId id) { return view.job(id).spec.processors <= free; });
}

}  // namespace

void Backfill::decide(const View& view, Plan& plan) const {
  if (plan.kills()) return;
  if (knobs_.reservations == BackfillKnobs::kEveryJob) return behind_every_promise(view, plan);
  const WaitingEntry* head = view.waiting().head();
  while (head && plan.fits(*head)) {
    plan.start(head->job, {}, false);
    head = view.waiting().next(head->place);
  }
  if (!head) return;
  if (knobs_.reservations == 0) {
    if (knobs_.skip) start_all_that_fit(view, plan);
  } else if (knobs_.reservations == 1) {
    behind_one_promise(view, plan, *head);
  } else {
    behind_some_promises(view, plan, *head);
  }
}

void Backfill::start_all_that_fit(const View& view, Plan& plan) const {
  const WaitingEntry::Key* after = nullptr;
  while (const WaitingEntry* e = view.waiting().candidate({plan.free(), Duration::max(), 0}, after)) {
    after = &e->place;
    if (!plan.starts(e->job)) plan.start(e->job, {Rule::skipped_ahead, {}, kNever, plan.free(), 0}, false);
  }
}

void Backfill::behind_one_promise(const View& view, Plan& plan, const WaitingEntry& head) const {
  const Instant kept = view.job(head.job).promise;
  const bool only_arrivals = kept != kNever && view.releases() == 0 && view.free() == view.unheld();
  if (only_arrivals && !any_fits(view, plan.free())) return;
  withdraw_all_but(head.job, view, plan);
  Opening opening = plan.opening(head.processors);
  if (knobs_.fixed && kept != kNever) opening = {kept, 0};
  plan.promise(head.job, opening.at);

  const WaitingJobs& waiting = view.waiting();
  Gap gap{plan.free(), opening.at - view.now(), knobs_.beside ? opening.beside : 0};
  const WaitingEntry::Key* after = waiting.one_order() ? &head.place : nullptr;
  while (const WaitingEntry* e = waiting.candidate(gap, after)) {
    after = &e->place;
    if (!waiting.one_order() && !(head.place < waiting.queue_place(view.job(e->job)))) continue;  // head or before it
    const bool in_time = e->expected <= gap.window;
    const Rule rule = in_time ? Rule::ends_before_promise : Rule::beside_promise;
    plan.start(e->job, because(rule, plan, head, opening.at), true);
    gap.free -= e->processors;
    if (!in_time) gap.beside -= e->processors;
  }
}

void Backfill::behind_some_promises(const View& view, Plan& plan, const WaitingEntry& head) const {
  Profile& profile = plan.profile();
  std::int32_t left = knobs_.reservations;
  const WaitingEntry* blocked = &head;
  for (; blocked && left > 0; blocked = view.waiting().next(blocked->place)) {
    const Instant at = profile.earliest(view.now(), blocked->processors, blocked->expected);
    if (at == view.now() && plan.fits(*blocked)) {
      plan.start(blocked->job, because(Rule::ends_before_promise, plan, head, kNever), true);
      continue;
    }
    profile.change(at, at + blocked->expected, -std::int64_t{blocked->processors});
    plan.promise(blocked->job, at);
    plan.held().push_back({blocked->job, blocked->processors, blocked->expected, at});
    --left;
  }
  for (const JobId id : view.promised()) {
    if (!plan.holds(id) && !plan.starts(id)) plan.promise(id, kNever);
  }
  const WaitingEntry::Key* after = nullptr;
  while (const WaitingEntry* e = view.waiting().candidate({plan.free(), Duration::max(), 0}, after)) {
    after = &e->place;
    if (plan.starts(e->job) || plan.holds(e->job)) continue;
    if (!profile.fits(view.now(), e->processors, e->expected)) continue;
    plan.start(e->job, because(Rule::ends_before_promise, plan, head, kNever), true);
  }
}

}  // namespace rota
