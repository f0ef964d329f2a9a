#include "policy/grace/overrun.h"

#include <algorithm>
#include <span>

#include "policy/backfill/head_room.h"
#include "policy/due.h"
#include "policy/preempt/victims.h"

namespace rota {
namespace {

// The jobs that were promised a start which is due, in the order of the queue; none while others are leaving, for
// whichever of them that is. Under one promise it is the first of the queue, if any.
std::vector<WaitingEntry> due_jobs(const View& view) {
  std::vector<WaitingEntry> due;
  const WaitingEntry* const head = view.waiting().head();
  if (!head || !view.leaving().empty()) return due;
  if (view.promised().size() < 2) {
    if (view.job(head->job).promise <= view.now()) due.push_back(*head);
    return due;
  }
  for (const JobId id : view.promised()) {
    const Job& job = view.job(id);
    if (job.promise <= view.now())
      due.push_back({view.waiting().queue_place(job), job.expected, job.spec.processors, id});
  }
  std::sort(due.begin(), due.end(), [](const auto& a, const auto& b) { return a.place < b.place; });
  return due;
}

bool time_is_up(const View& view, const Job& job) { return job.backfilled && job.expected_end() <= view.now(); }

// It is on its way, in or out, and cannot be told anything.
bool in_motion(const Job& job) { return job.starting || job.stopping; }
// It is in motion, or it stands still: its time does not run, and it may go on later.
bool is_left_alone(const Job& job) { return in_motion(job) || job.suspended(); }

// Whether a job would go before one that waits once it is killed and back in the queue: stopping it then frees nothing
// for that one. A rehearsal gives it its true run time as its limit, which is more than it has run; a service twice
// what it has run.
bool would_go_before(const View& view, const Job& running, const WaitingEntry& other) {
  if (running.spec.restart == Restart::once) return false;  // it does not come back
  Job again = running;
  again.sequence = UINT32_MAX;
  again.expected = view.options().confirms_starts
                       ? limit_after(running, view.now())
                       : std::max(running.spec.limit, running.done + running.ran_by(view.now()));
  return view.waiting().queue_standing(again) < view.waiting().queue_standing(view.job(other.job));
}

Reason promise_due(const View& view, const Plan& plan, const WaitingEntry& head, Rule rule) {
  return {rule, head.job, view.job(head.job).promise, plan.free(), head.processors};
}

class PromiseDue : public Policy {
 public:
  // For one after the other, until jobs are stopped for one of them: the others are looked at again when those have
  // left.
  void decide(const View& view, Plan& plan) const override {
    begin(view, plan);
    if (plan.kills()) return;
    const std::vector<WaitingEntry> due = due_jobs(view);
    for (std::size_t i = 0; i < due.size() && !plan.kills(); ++i) defend(view, plan, due[i], std::span(due).first(i));
  }

  Instant next_wakeup(const View& view) const override {
    const WaitingEntry* const head = view.waiting().head();
    Instant due = head ? due_next(view, head->job) : kNever;
    if (view.promised().size() > 1) {
      for (const JobId id : view.promised()) due = std::min(due, later(due_next(view, id), view.now()));
    }
    return later(due, view.now());
  }

 private:
  static Instant later(Instant at, Instant now) { return at > now ? at : kNever; }
  virtual void begin(const View& /*view*/, Plan& /*plan*/) const {}
  // `before`: those that start before it, where they fit.
  virtual void defend(const View& view, Plan& plan, const WaitingEntry& promised,
                      std::span<const WaitingEntry> before) const = 0;
};

// Those in the way of the promised job: backfilled jobs whose time is up, and all others.
struct Blockers {
  std::vector<JobId> overrunning;
  bool others = false;

  Blockers(const View& view, const Plan& plan, const HeadRoom& room) {
    for (const JobId id : room.blockers()) {
      const Job& job = view.job(id);
      const auto acts = plan.actions();
      if (std::ranges::find(acts, id, &Action::job) != acts.end()) continue;  // it goes on for another promise
      if (in_motion(job)) {
        others = others || job.starting;
      } else if (job.suspended()) {
        others = true;
      } else if (time_is_up(view, job)) {
        overrunning.push_back(id);
      } else if (!job.extended) {
        others = true;
      }
    }
  }

  // Where nothing is set aside for the job: as many as it lacks, in order of dispatch; none if all do not suffice.
  void keep_as_many_as_it_lacks(HeadRoom& room) {
    if (room.sets_aside()) return;
    std::size_t count = 0;
    while (count < overrunning.size() && !room.head_fits()) room.release(overrunning[count++]);
    const bool fits = room.head_fits();
    for (std::size_t i = 0; i < count; ++i) room.take_back(overrunning[i]);
    overrunning.resize(fits ? count : 0);
  }

  // They are as good as others.
  void keep_those_before(const View& view, const WaitingEntry& head) {
    const auto goes_before = [&](JobId id) { return would_go_before(view, view.job(id), head); };
    others = std::erase_if(overrunning, goes_before) > 0 || others;
  }
};

class Strict final : public PromiseDue {
 private:
  void defend(const View& view, Plan& plan, const WaitingEntry& promised,
              std::span<const WaitingEntry> before) const override {
    HeadRoom room(view, plan, promised, before);
    Blockers blockers(view, plan, room);
    blockers.keep_as_many_as_it_lacks(room);
    if (blockers.others && room.head_fits()) return;  // it starts beside them
    for (const JobId id : blockers.overrunning) plan.kill(id, promise_due(view, plan, promised, Rule::promise_due));
  }
};

class RbHar final : public PromiseDue {
 public:
  explicit RbHar(bool literal) : literal_(literal) {}

 private:
  void begin(const View& view, Plan& plan) const override { end_extensions(view, plan); }

  void defend(const View& view, Plan& plan, const WaitingEntry& promised,
              std::span<const WaitingEntry> before) const override {
    HeadRoom room(view, plan, promised, before);
    Blockers blockers(view, plan, room);
    if (!literal_) blockers.keep_those_before(view, promised);
    blockers.keep_as_many_as_it_lacks(room);
    for (const JobId id : blockers.overrunning) room.release(id);
    const bool can_start = !blockers.others || room.head_fits();
    if (can_start || literal_) judge(view, plan, promised, before, blockers.overrunning);
  }

  // A grant has run out and the job still runs. Where no job waits for what it holds, the next due promise decides
  // anew.
  void end_extensions(const View& view, Plan& plan) const {
    const WaitingEntry* const head = view.waiting().head();
    for (const JobId id : view.overdue()) {
      const Job& job = view.job(id);
      if (!job.extended || is_left_alone(job)) continue;
      if (!literal_ && head && would_go_before(view, job, *head)) continue;
      plan.kill(id, {Rule::promise_due, {}, kNever, plan.free(), 0});
    }
  }

  // Conditions C1 and C2 of the paper, for one job after the other.
  void judge(const View& view, Plan& plan, const WaitingEntry& head, std::span<const WaitingEntry> before,
             const std::vector<JobId>& overrunning) const {
    const Duration grace = until_next_regular_end(view, view.job(head.job).expected);
    HeadRoom room(view, plan, head, before);
    for (const JobId id : overrunning) {
      const bool starts_beside = room.head_fits();                                                           // C1
      const bool wanted = starts_beside && !is_next(view, head, id) && room.any_job_fits_beside(id, grace);  // not C2
      if (starts_beside && !wanted && grace > Duration{0}) {
        plan.extend(id, view.now() + grace, promise_due(view, plan, head, Rule::harms_nobody));
      } else {
        plan.kill(id, promise_due(view, plan, head, Rule::promise_due));
        room.release(id);
      }
    }
  }

  // Whether it would itself be next in turn, and have its processors again.
  bool is_next(const View& view, const WaitingEntry& head, JobId id) const {
    const WaitingEntry* const next = view.waiting().next(head.place);
    return !literal_ && next && would_go_before(view, view.job(id), *next);
  }

  // minTime, equation (6): until the first running job that was not backfilled is expected to end; without one,
  // `fallback`.
  static Duration until_next_regular_end(const View& view, Duration fallback) {
    Duration least = fallback;
    view.running().for_each([&](const RunningEntry& e) {
      const Job& job = view.job(e.job);
      if (e.place.end <= view.now() || job.backfilled || job.suspended()) return true;
      least = e.place.end - view.now();
      return false;
    });
    return least;
  }

  bool literal_;
};

class Grace final : public PromiseDue {
 private:
  void defend(const View& view, Plan& plan, const WaitingEntry& promised,
              std::span<const WaitingEntry> before) const override {
    HeadRoom room(view, plan, promised, before);
    if (room.head_fits()) return;
    std::vector<Victim> candidates;
    view.running().for_each([&](const RunningEntry& e) {
      if (e.place.end > view.now()) return false;
      const Job& job = view.job(e.job);
      if (job.backfilled && !is_left_alone(job) && !would_go_before(view, job, promised))
        candidates.push_back({e.job, e.processors, job.ran_by(view.now()) * e.processors});
      return true;
    });
    const std::vector<JobId> victims = view.counts_decide() ? cheapest_victims(candidates, room.lacking())
                                                            : needed_victims(std::move(candidates), room);
    for (const JobId id : victims) plan.kill(id, promise_due(view, plan, promised, Rule::promise_due));
  }

  // On nodes: of all that could be stopped, each is spared without which the head fits still: first the smallest, of
  // those the one that would lose most. None can be spared in the end, though other, fewer ones might have done.
  static std::vector<JobId> needed_victims(std::vector<Victim> candidates, HeadRoom& room) {
    for (const Victim& v : candidates) room.release(v.job);
    std::vector<JobId> victims;
    if (!room.head_fits()) return victims;
    std::sort(candidates.begin(), candidates.end(), [](const Victim& a, const Victim& b) {
      if (a.processors != b.processors) return a.processors < b.processors;
      return a.work != b.work ? a.work > b.work : a.job < b.job;
    });
    for (const Victim& v : candidates) {
      room.take_back(v.job);
      if (room.head_fits()) continue;
      room.release(v.job);
      victims.push_back(v.job);
    }
    return victims;
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
    case Overrun::grace:
      return std::make_unique<Grace>();
  }
  return nullptr;
}

}  // namespace rota
