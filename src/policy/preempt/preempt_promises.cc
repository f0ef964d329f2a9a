// Which jobs give way where several jobs hold promises. One job a cycle is served, the first of the queue: what is
// promised to jobs of its priority or higher binds it like what runs; what is promised to lower ones is withdrawn where
// it is in the way. Where a checkpoint takes its time, the job is promised the instant at which it is written.
#include <algorithm>
#include <vector>

#include "model/moment.h"
#include "plan/kept_timeline.h"
#include "policy/preempt/preempt.h"
#include "policy/preempt/preempted_jobs.h"

namespace rota {
namespace {

struct Held {
  JobId job;
  Instant start;
};

// The promises that jobs other than the first hold, by start; those that are overdue are broken anyway.
std::vector<Held> promises(const View& view, const Job& first, bool binding) {
  std::vector<Held> held;
  for (const JobId id : view.promised()) {
    const Job& job = view.job(id);
    if (&job == &first || job.promise < view.now()) continue;
    if ((job.spec.priority >= first.spec.priority) == binding) held.push_back({id, job.promise});
  }
  std::stable_sort(held.begin(), held.end(), [](const Held& a, const Held& b) { return a.start < b.start; });
  return held;
}

// What is free to the first job from an instant on, where processors are counted.
class CountedRoom {
 public:
  CountedRoom(const View& view, Plan& plan, JobId first)
      : view_(view), plan_(plan), first_(first), profile_(plan.open_profile()) {}

  void from(Instant at) { at_ = at; }
  bool fits() const { return profile_.fits(at_, spec().processors, expected()); }
  void release(JobId running) { change(running, 1); }
  void take_back(JobId running) { change(running, -1); }

  void bind(const Held& held) {
    const Job& job = view_.job(held.job);
    profile_.change(held.start, held.start + job.expected, -std::int64_t{job.spec.processors});
  }
  bool draw(const Held& held) {
    const Job& job = view_.job(held.job);
    if (!profile_.fits(held.start, job.spec.processors, job.expected)) return false;
    profile_.change(held.start, held.start + job.expected, -std::int64_t{job.spec.processors});
    return true;
  }
  void start() { plan_.start(first_, {}, false); }
  void promise() {
    plan_.promise(first_, at_);
    profile_.change(at_, at_ + expected(), -std::int64_t{spec().processors});
  }
  void forget() { plan_.open_profile(); }

 private:
  const JobSpec& spec() const { return view_.job(first_).spec; }
  Duration expected() const { return view_.job(first_).expected; }
  void change(JobId running, std::int64_t sign) {
    const Job& job = view_.job(running);
    const Instant end = std::max(job.expected_end(), view_.now() + kMoment);
    profile_.change(at_, end, sign * job.spec.processors);
  }

  const View& view_;
  Plan& plan_;
  JobId first_;
  Profile& profile_;
  Instant at_;
};

// Such room where it matters on which nodes it is.
class RoomOnNodes {
 public:
  RoomOnNodes(const View& view, Plan& plan, JobId first) : view_(view), plan_(plan), first_(first) {
    running_.follow(view, KeptTimeline::Promises::left_out);
  }

  void from(Instant at) { at_ = at; }
  bool fits() { return timeline_.place_at(at_, view_.job(first_).spec, expected(), where_); }
  void release(JobId running) {
    if (end_of(running) > at_) timeline_.give(at_, end_of(running) - at_, view_.placement(running));
  }
  void take_back(JobId running) {
    if (end_of(running) > at_) timeline_.occupy(at_, end_of(running) - at_, view_.placement(running));
  }

  // One that was made by counting gets its place from the planner, later.
  void bind(const Held& held) {
    timeline_.occupy(held.start, view_.job(held.job).expected, view_.promised_place(held.job));
  }
  bool draw(const Held& held) {
    const Job& job = view_.job(held.job);
    Placement where = view_.promised_place(held.job);
    const bool fits = where.shares.empty() ? timeline_.place_at(held.start, job.spec, job.expected, where)
                                           : timeline_.fits(held.start, job.expected, where);
    if (fits) timeline_.occupy(held.start, job.expected, where);
    return fits;
  }
  void start() {
    plan_.start_at(first_, where_, {}, false);
    timeline_.occupy(at_, expected(), where_);
  }
  void promise() {
    plan_.promise_at(first_, at_, where_);
    timeline_.occupy(at_, expected(), where_);
  }
  void forget() const {}

 private:
  Duration expected() const { return view_.job(first_).expected; }
  Instant end_of(JobId running) const { return std::max(view_.job(running).expected_end(), view_.now() + kMoment); }

  const View& view_;
  Plan& plan_;
  JobId first_;
  KeptTimeline running_;  // what is drawn beside it is for this look alone
  NodeTimeline& timeline_ = running_.timeline();
  Placement where_;
  Instant at_;
};

template <class Room>
class FirstServed {
 public:
  FirstServed(const View& view, Plan& plan, JobId first, Duration lag)
      : view_(view), plan_(plan), first_(first), job_(view.job(first)), lag_(lag), room_(view, plan, first) {}

  void run() {
    for (const Held& held : promises(view_, job_, true)) room_.bind(held);
    room_.from(view_.now());
    if (room_.fits()) {
      room_.start();
      withdraw_what_is_in_the_way();
      plan_.look_again();
      plan_.close();
    } else if (!is_on_its_way()) {
      make_room();
    }
    if (!plan_.closed()) room_.forget();
  }

 private:
  bool is_on_its_way() const { return job_.promise > view_.now() && job_.promise <= view_.now() + lag_; }

  // A job that was to have left by now is still there: what is free is kept for the job that it gives way to, and for
  // the first of the queue.
  bool some_are_late() const {
    const auto is_late = [&](const Leaving& l) {
      return lag_ == Duration{0} || view_.job(l.job).expected_end() <= view_.now();
    };
    return std::any_of(view_.leaving().begin(), view_.leaving().end(), is_late);
  }

  void make_room() {
    if (some_are_late()) return plan_.close();
    const Instant at = view_.now() + lag_;
    room_.from(at);
    const bool fits_already = lag_ > Duration{0} && room_.fits();
    const std::vector<JobId> leave =
        fits_already ? std::vector<JobId>{} : preempted_jobs(view_, job_.spec.priority, room_);
    if (leave.empty() && !fits_already) return;
    for (const JobId id : leave) {
      const Reason why{Rule::outranked, first_, kNever, plan_.free(), job_.spec.processors};
      plan_.preempt(id, why, lag_ > Duration{0} ? at : kNever);
    }
    if (lag_ > Duration{0} && room_.fits()) {
      room_.promise();
      withdraw_what_is_in_the_way();
      plan_.look_again();
    }
    plan_.close();
  }

  void withdraw_what_is_in_the_way() {
    for (const Held& held : promises(view_, job_, false)) {
      if (!room_.draw(held)) plan_.promise(held.job, kNever);
    }
  }

  const View& view_;
  Plan& plan_;
  JobId first_;
  const Job& job_;
  Duration lag_;  // from the command until the jobs that give way have left
  Room room_;
};

// By counts others may give way to a job that has no room once places matter again, beside promises that hold some: for
// a job that gives way and asks for places waits like others then.
bool counts_still_decide(const View& view, std::int32_t priority) {
  if (!view.counts_decide()) return false;
  bool all = true;
  if (view.nodes().counted()) return all;
  view.by_priority().for_each_below(priority, [&](const RunningByPriority::Entry& e) {
    all = view.nodes().needs_of(view.job(e.job).spec) == Needs::processors;
    return all;
  });
  return all;
}

}  // namespace

void Preempt::beside_promises(const View& view, Plan& plan) const {
  const WaitingEntry* head = view.waiting().head();
  if (!head) return;
  const std::int32_t priority = view.job(head->job).spec.priority;
  const bool outranks = !view.by_priority().empty() && view.by_priority().lowest() < priority;
  const auto lower = [&](JobId id) { return view.job(id).spec.priority < priority; };
  const bool of_use = outranks || std::any_of(view.promised().begin(), view.promised().end(), lower) ||
                      std::any_of(view.arrived().begin(), view.arrived().end(), lower);  // they may have given way
  if (!of_use && view.leaving().empty()) return;
  if (counts_still_decide(view, priority)) {
    FirstServed<CountedRoom>(view, plan, head->job, lag()).run();
  } else {
    FirstServed<RoomOnNodes>(view, plan, head->job, lag()).run();
  }
}

}  // namespace rota
