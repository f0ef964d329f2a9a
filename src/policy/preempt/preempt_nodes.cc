// Which jobs give way where it matters on which nodes: as by counting, but for one beneficiary at a time, and the jobs
// that leave make room on nodes on which it can run. The next cycle, at the same instant, looks for the next one.
#include <algorithm>
#include <vector>

#include "model/candidate_walk.h"
#include "policy/preempt/preempt.h"
#include "policy/preempt/preempted_jobs.h"
#include "policy/refused.h"

namespace rota {
namespace {

// What is left of what is free now and of what leaving jobs give back, as others leave too.
class RoomMade {
 public:
  RoomMade(const View& view, NodeRoom& room, const JobSpec& spec) : view_(view), room_(room), watch_(room, spec) {}
  bool fits() const { return watch_.fits(); }
  void release(JobId running) { watch_.give(room_, view_.placement(running)); }
  void take_back(JobId running) { watch_.occupy(room_, view_.placement(running)); }

 private:
  const View& view_;
  NodeRoom& room_;
  FitWatch watch_;
};

class NodeWalk {
 public:
  NodeWalk(const View& view, Plan& plan, Duration lag)
      : view_(view), plan_(plan), lag_(lag), now_(plan.some_nodes()), later_(plan.room()) {
    now_.follow(plan.nodes());
    later_.follow(plan.nodes());
    left_ = plan.free();
    for (const Leaving& l : view.leaving()) {
      later_.give(view.placement(l.job));
      left_ += view.job(l.job).spec.processors;
    }
  }

  void run(bool skip) {
    const WaitingEntry* e = view_.waiting().head();
    for (; e && worth_looking_at(*e) && place(*e); e = view_.waiting().next(e->place)) {
    }
    if (skip && e && !awaits_ends_) out_of_turn();
  }

  void commit(bool look_again) {
    if (view_.leaving().empty() && leave_.empty() && !awaits_ends_) return;
    for (const Start& s : starts_) {
      const Rule rule = s.skipped ? Rule::skipped_ahead : Rule::head_fits;
      plan_.start_at(s.job, s.where, {rule, {}, kNever, plan_.free(), 0}, false);
    }
    for (const JobId id : leave_) {
      const std::int64_t needed = view_.job(beneficiary_).spec.processors;
      plan_.preempt(id, {Rule::outranked, beneficiary_, kNever, plan_.free(), needed});
    }
    if (look_again && !leave_.empty()) plan_.look_again();
    plan_.close();
  }

 private:
  struct Start {
    JobId job;
    Placement where;
    bool skipped;  // ahead of jobs that could not start
  };

  bool outranks(const WaitingEntry& e) const {
    const RunningByPriority& others = view_.by_priority();
    return !others.empty() && others.lowest() < view_.job(e.job).spec.priority;
  }
  // Behind a job that outranks no running job no other job does.
  bool worth_looking_at(const WaitingEntry& e) const {
    return leave_.empty() && (!view_.leaving().empty() || outranks(e));
  }

  void out_of_turn() {
    CandidateWalk walk(view_.waiting(), nullptr);
    std::int32_t priority = view_.job(view_.waiting().head()->job).spec.priority;
    const auto most = [&] { return left_ + view_.by_priority().held_below(priority); };
    while (const WaitingEntry* e = walk.next({most(), Duration::max(), 0})) {
      if (awaits_ends_ || !worth_looking_at(*e)) return;
      priority = view_.job(e->job).spec.priority;
      const auto is_placed = [&](JobId id) { return id == e->job; };
      if (std::none_of(placed_.begin(), placed_.end(), is_placed)) place(*e);
    }
  }

  // On what is free, on what others leave, or by making others leave; false: not at all.
  bool place(const WaitingEntry& e) {
    if (!starts_now(e.job) && !waits_for_leaving(e.job)) {
      awaits_ends_ = ends_are_sooner(e);
      if (awaits_ends_ || !make_room(e)) {
        waited_for_ = true;
        return false;
      }
    }
    placed_.push_back(e.job);
    left_ -= e.processors;
    return true;
  }

  bool starts_now(JobId id) {
    const JobSpec& spec = view_.job(id).spec;
    if (!now_.has_licences(spec)) return false;
    if (refused_now_.covers(spec)) return false;
    if (!now_.find(spec, where_)) {
      refused_now_.add(spec);
      return false;
    }
    now_.occupy(where_);
    later_.occupy(where_);
    starts_.push_back({id, where_, waited_for_});
    return true;
  }

  // Places the job on what its own victims leave, or else on what any job leaves.
  bool waits_for_leaving(JobId id) {
    if (view_.leaving().empty()) return false;
    const JobSpec& spec = view_.job(id).spec;
    if (refused_later_.covers(spec)) return false;
    if (!on_what_is_left_for(id) && !later_.find_busy_first(spec, where_)) {
      refused_later_.add(spec);
      return false;
    }
    waited_for_ = true;
    later_.occupy(where_);
    for (const Share& s : where_.shares) {
      const std::int64_t processors = std::min<std::int64_t>(now_.free_on(s.node), later_.processors_on(s.node));
      now_.set_free(s.node, processors, now_.per_node_on(s.node).least(later_.per_node_on(s.node)));
    }
    each_licence(where_, [&](LicenceId licence, std::uint32_t) {
      now_.set_licences_free(licence, std::min(now_.licences_free(licence), later_.licences_free(licence)));
    });
    return true;
  }

  bool on_what_is_left_for(JobId id) {
    NodeRoom own;
    for (const Leaving& l : view_.leaving()) {
      if (l.beneficiary != id) continue;
      if (own.empty()) own.copy(now_);
      own.give(view_.placement(l.job));
    }
    return !own.empty() && own.find(view_.job(id).spec, where_) && later_.fits(where_);
  }

  // Whether others could give way, but so much comes free by itself until they had that it need not be.
  bool ends_are_sooner(const WaitingEntry& e) {
    const JobSpec& spec = view_.job(e.job).spec;
    if (lag_ <= Duration{0} || !outranks(e)) return false;
    if (view_.by_priority().held_below(spec.priority) + left_ < e.processors) return false;
    RoomMade room(view_, later_, spec);
    for_each_over_soon(view_, lag_, [&](JobId id) { room.release(id); });
    const bool fits = room.fits();
    for_each_over_soon(view_, lag_, [&](JobId id) { room.take_back(id); });
    return fits;
  }

  bool make_room(const WaitingEntry& e) {
    const Job& job = view_.job(e.job);
    if (!outranks(e) || refused_even_so_.covers(job.spec)) return false;
    if (view_.by_priority().held_below(job.spec.priority) + left_ < e.processors) return false;
    RoomMade room(view_, later_, job.spec);
    leave_ = preempted_jobs(view_, job.spec.priority, room);
    if (leave_.empty()) refused_even_so_.add(job.spec);
    beneficiary_ = e.job;
    return !leave_.empty();
  }

  const View& view_;
  Plan& plan_;
  Duration lag_;           // from the command until the jobs that give way have left
  NodeSpace& now_;         // what is free now and kept for no job
  NodeRoom& later_;        // now_, and what leaving jobs give back
  std::int64_t left_ = 0;  // processors in later_
  std::vector<Start> starts_;
  std::vector<JobId> placed_;
  std::vector<JobId> leave_;
  JobId beneficiary_;  // of the jobs that leave
  Placement where_;
  bool awaits_ends_ = false;  // a job waits for ends, and none behind is looked at
  bool waited_for_ = false;   // a job was passed over, or waits for others to leave
  Refused refused_now_;
  Refused refused_later_;
  Refused refused_even_so_;
};

}  // namespace

void Preempt::on_nodes(const View& view, Plan& plan) const {
  NodeWalk walk(view, plan, lag());
  walk.run(skip_);
  walk.commit(how_ == Preemption::checkpoint);
}

}  // namespace rota
