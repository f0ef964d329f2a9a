// FCFS, EASY, conservative and all between as one rule with one number: how many waiting jobs, in queue order, are
// promised a start that no later job may delay.
//   0: strict queue order (FCFS), or with `skip` every job that fits starts (first fit)
//   1: EASY (Lifka 1995; Mu'alem and Feitelson 2001)
//   n: the first n blocked jobs; from two on, promises are kept from cycle to cycle and never move later
//      (compression on early ends), unless an overrun breaks them
//   kEveryJob: conservative
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/candidate_walk.h"
#include "policy/policy.h"

namespace rota {

struct BackfillKnobs {
  static constexpr std::int32_t kEveryJob = INT32_MAX;

  std::int32_t promises = 1;
  bool skip = false;   // with no promise: jobs that fit overtake those that do not
  bool beside = true;  // a job that outlasts the promise may start on processors that the promised job leaves over
  bool fixed = false;  // the promise stays as first made until its job starts
  std::int32_t stretch =
      100;                 // per cent: a candidate must end before the promise even if it takes so much of its estimate
  std::int32_t pass = 16;  // times its processors: so much may pass the head while its start cannot be foreseen
  NodeOrder nodes = NodeOrder::fullest;

  // What a job may expect to run and still be over before the promise. One without a limit never is.
  Duration window(Instant now, Instant promise) const {
    if (promise == kNever) return Duration::max();  // what it needs is withheld, and it is not known till when
    return std::min(promise - now, kForeseeable) * 100 / stretch;
  }
  bool keeps_fixed(Instant promise, Instant now) const {
    return fixed && promise != kNever && is_foreseeable(promise, now);
  }

  bool operator==(const BackfillKnobs&) const = default;
};

// In candidate order, the jobs that may overtake the head come behind this; nullptr: all are to be looked at.
inline const WaitingEntry::Key* overtaking_from(const View& view, const WaitingEntry& head) {
  return view.waiting().one_order() ? &head.place : nullptr;
}
// Whether a job behind that overtakes: it is not the head, nor before it in the queue. O(1)
inline bool overtakes(const View& view, const WaitingEntry& e, const WaitingEntry& head) {
  return view.waiting().one_order() || head.place < view.waiting().queue_place(view.job(e.job));
}

// Behind a job without a limit nothing tells when the head will start, and until then room that it cannot use would lie
// idle. So every job that fits starts, in candidate order: jobs without an end in sight as long as those that passed
// this head have not asked for `pass` times its processors. What comes free after that is gathered for the head, so
// that it starts at the latest when all that ran then are over. `try_start(entry, reason)`: whether it had room. Jobs
// behind what is returned were not looked at.
template <class TryStart>
const WaitingEntry::Key* pass_unforeseen(const View& view, const Plan& plan, const WaitingEntry& head,
                                         const BackfillKnobs& knobs, const TryStart& try_start) {
  std::int64_t left = std::int64_t{knobs.pass} * head.processors - view.job(head.job).passed;
  const WaitingEntry::Key* after = overtaking_from(view, head);
  CandidateWalk walk(view.waiting(), after);
  while (left > 0) {
    const WaitingEntry* const e = walk.next({plan.free(), Duration::max(), 0});
    if (!e) break;
    after = &e->place;
    if (!overtakes(view, *e, head)) continue;
    const bool ends = e->expected < kForeseeable;
    const Rule rule = ends ? Rule::ends_before_promise : Rule::passes_unforeseen;
    const bool started = try_start(*e, Reason{rule, head.job, kNever, plan.free(), head.processors});
    if (started && !ends) left -= e->processors;
  }
  return after;
}

// Under one promise at most: any other job that held one (the order changed) has lost it.
void withdraw_all_but(JobId keep, const View& view, Plan& plan);

class Backfill final : public Policy {
 public:
  explicit Backfill(const BackfillKnobs& knobs) : knobs_(knobs) {}
  void decide(const View& view, Plan& plan) const override;
  // One of several promises can fall due while nothing happens: when others in whose place it was have moved.
  Instant next_wakeup(const View& view) const override;
  bool wakes() const override { return knobs_.promises > 1; }

 private:
  void start_all_that_fit(const View& view, Plan& plan, const WaitingEntry& head) const;
  void behind_one_promise(const View& view, Plan& plan, const WaitingEntry& head) const;
  [[gnu::cold]] const WaitingEntry::Key* pass(const View& view, Plan& plan, const WaitingEntry& head,
                                              Opening& opening) const;
  void try_newcomer(const View& view, Plan& plan, const WaitingEntry& head) const;
  void on_nodes(const View& view, Plan& plan) const;  // the same rules where nodes are described
  void behind_many_on_nodes(const View& view, Plan& plan) const;
  // The same rules where some are reserved, with one promise or none.
  [[gnu::cold]] void around_reservations(const View& view, Plan& plan) const;
  void behind_many_promises(const View& view, Plan& plan) const;

  BackfillKnobs knobs_;
};

}  // namespace rota
