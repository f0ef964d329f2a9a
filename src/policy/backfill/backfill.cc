#include "policy/backfill/backfill.h"

#include <algorithm>

#include "model/moment.h"

namespace rota {
namespace {

Reason because(bool in_time, const Plan& plan, const WaitingEntry& promised, Instant promise) {
  return {in_time ? Rule::ends_before_promise : Rule::beside_promise, promised.job, promise, plan.free(),
          promised.processors};
}

}  // namespace

void withdraw_all_but(JobId keep, const View& view, Plan& plan) {
  for (const JobId id : view.promised()) {
    if (id != keep && !plan.starts(id)) plan.promise(id, kNever);
  }
}

void Backfill::decide(const View& view, Plan& plan) const {
  if (plan.closed()) return;
  if (!view.counts_decide()) return on_nodes(view, plan);
  if (knobs_.promises > 1) return behind_many_promises(view, plan);
  if (view.reserved_in_reach()) return around_reservations(view, plan);
  const WaitingEntry* head = view.waiting().head();
  while (head && plan.fits(*head)) {
    plan.start(head->job, {}, false);
    head = view.waiting().next(head->place);
  }
  if (!head) return;
  if (knobs_.promises == 0) {
    if (knobs_.skip) start_all_that_fit(view, plan, *head);
  } else {
    behind_one_promise(view, plan, *head);
  }
}

Instant Backfill::next_wakeup(const View& view) const {
  if (!wakes()) return kNever;
  Instant next = kNever;
  for (const JobId id : view.promised()) {
    const Job& job = view.job(id);
    if (job.promise >= next || job.promise <= view.now()) continue;
    const Duration soon = job.put_off == view.now() ? seconds(1) : kMoment;  // behind an overdue job: its end is next
    if (job.promise > view.now() + soon) next = job.promise;
  }
  return next;
}

void Backfill::start_all_that_fit(const View& view, Plan& plan, const WaitingEntry& head) const {
  CandidateWalk walk(view.waiting(), overtaking_from(view, head));
  while (const WaitingEntry* e = walk.next({plan.free(), Duration::max(), 0})) {
    if (overtakes(view, *e, head)) plan.start(e->job, {Rule::skipped_ahead, {}, kNever, plan.free(), 0}, false);
  }
}

void Backfill::behind_one_promise(const View& view, Plan& plan, const WaitingEntry& head) const {
  const Instant kept = view.job(head.job).promise;
  const bool nothing_released = kept != kNever && kept > view.now() && view.releases() == 0 &&
                                view.free() == view.free_as_reported() && view.counts_decided();
  if (nothing_released && knobs_.stretch == 100 && plan.actions().empty() && view.arrived().size() == 1)
    return try_newcomer(view, plan, head);
  withdraw_all_but(head.job, view, plan);
  Opening opening = plan.opening(head.processors);
  if (knobs_.keeps_fixed(kept, view.now())) opening = {kept, 0};
  const WaitingEntry::Key* after =
      is_foreseeable(opening.at, view.now()) ? overtaking_from(view, head) : pass(view, plan, head, opening);
  plan.promise(head.job, opening.at);

  const WaitingJobs& waiting = view.waiting();
  Gap gap{plan.free(), knobs_.window(view.now(), opening.at), knobs_.beside ? opening.beside : 0};
  while (const WaitingEntry* e = waiting.candidate(gap, after)) {
    after = &e->place;
    if (!overtakes(view, *e, head)) continue;
    const bool in_time = e->expected <= gap.window;
    plan.start(e->job, because(in_time, plan, head, opening.at), true);
    gap.free -= e->processors;
    if (!in_time) gap.beside -= e->processors;
  }
}

// A job that passes puts the opening off.
const WaitingEntry::Key* Backfill::pass(const View& view, Plan& plan, const WaitingEntry& head,
                                        Opening& opening) const {
  if (opening.at == kNever)
    return overtaking_from(view, head);  // what it needs is withheld: a job that fits starts anyway
  const std::size_t before = plan.actions().size();
  const auto start = [&](const WaitingEntry& e, const Reason& reason) {
    plan.start(e.job, reason, true);
    return true;
  };
  const WaitingEntry::Key* const after = pass_unforeseen(view, plan, head, knobs_, start);
  if (plan.actions().size() > before) opening = plan.opening(head.processors);
  return after;
}

// One job has come and nothing was released since the last cycle: the same job is first and is promised the same start,
// and what is free, what is left beside the promise and the time until it have only shrunk. So no job but the newcomer
// can have become a candidate, and without this shortcut every plan is the same. It does not hold under `stretch` above
// 1: a job that started beside the promise only because its time was stretched gives that room back in the next cycle.
void Backfill::try_newcomer(const View& view, Plan& plan, const WaitingEntry& head) const {
  const JobId id = view.arrived().front();
  const Job& job = view.job(id);
  if (job.spec.processors > plan.free()) return;
  const Instant promise = view.job(head.job).promise;
  const std::int64_t beside = knobs_.beside && !knobs_.fixed ? plan.free_at(promise) - head.processors : 0;
  const Gap gap{plan.free(), knobs_.window(view.now(), promise), beside};
  if (gap.holds(job.spec.processors, job.expected)) {
    plan.start(id, because(job.expected <= gap.window, plan, head, promise), true);
  } else if (!is_foreseeable(promise, view.now())) {
    Opening opening{promise, beside};
    pass(view, plan, head, opening);
    plan.promise(head.job, opening.at);
  }
}

}  // namespace rota
