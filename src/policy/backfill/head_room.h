// Whether a promised job could start if some running jobs ended: by counting where counts decide, and else by the
// nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace rota {

class HeadRoom {
 public:
  // What is free after the draft's starts. On nodes it works in plan.some_nodes(): one at a time.
  HeadRoom(const View& view, Plan& plan, const WaitingEntry& head);

  // The running jobs in the way: those that hold processors set aside for the job, or, where nodes are set aside, those
  // on nodes among them that have not enough left; in order of dispatch.
  std::vector<JobId> blockers() const;

  void release(JobId running);  // as if it had ended
  void take_back(JobId running);
  bool head_fits();

  // Whether, once the head has started and `running` has ended, the job next in turn fits, or any behind it that would
  // be over within `window`: equations (3) to (5) of Li and Lei 2018. The head must fit.
  bool somebody_fits_beside(JobId running, Duration window);

 private:
  bool fits(const WaitingEntry& e, std::int64_t room);

  const View& view_;
  Plan& plan_;
  const WaitingEntry& head_;
  bool counts_decide_;
  std::int64_t free_;
  Placement where_;
};

}  // namespace rota
