// Whether a promised job could start if some running jobs ended: by counting where counts decide, and else by the
// nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace rota {

class HeadRoom {
 public:
  // What is free after the draft's starts, and after those that start `before` it. On nodes it works in
  // plan.some_nodes(): one at a time.
  HeadRoom(const View& view, Plan& plan, const WaitingEntry& head, std::span<const WaitingEntry> before = {});

  // The running jobs in the way: those that hold processors set aside for the job, or, where nodes are set aside, those
  // on nodes among them that have not enough left; in order of dispatch. Where processors are counted and several jobs
  // are promised a start, only the latest promise has some set aside: for another job those that are overdue.
  std::vector<JobId> blockers() const;
  bool sets_aside() const {
    return !counts_decide_ || view_.promised().size() < 2 || view_.set_aside_for() == head_.job;
  }

  void release(JobId running);  // as if it had ended
  void take_back(JobId running);
  bool head_fits();
  std::int64_t lacking() const { return head_.processors - free_; }  // where counts decide

  // Whether, once the head has started and `running` has ended, the job next in turn fits, or any behind it that would
  // be over within `window`: equations (3) to (5) of Li and Lei 2018. The head must fit.
  bool any_job_fits_beside(JobId running, Duration window);

 private:
  std::vector<JobId> overdue() const;  // in order of dispatch
  bool fits(const WaitingEntry& e, std::int64_t room);

  const View& view_;
  Plan& plan_;
  const WaitingEntry& head_;
  bool counts_decide_;
  std::int64_t free_;
  Placement where_;
};

}  // namespace rota
