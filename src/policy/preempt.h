// Absolute priorities: a waiting job that does not fit takes the processors of running jobs of lower priority at once
// (Baranov et al. 2018). The lowest priority gives way first, of one priority the latest start; of those nobody whom
// the others make up for.
//
// Served are the jobs whose turn it is, in queue order, up to the first that cannot be placed even so; with `skip` all
// jobs, those that overtake in candidate order. A job that gave way keeps its place in the queue.
#pragma once

#include "policy/policy.h"

namespace rota {

class Preempt final : public Policy {
 public:
  Preempt(Preemption how, bool skip) : how_(how), skip_(skip) {}

  // Where somebody must give way, or is about to, it also starts those who need not wait for that and closes the plan.
  // Else it drafts nothing. O(1) unless the head outranks a running job; then O(log n) for each job that may be placed.
  void decide(const View& view, Plan& plan) const override;

 private:
  Preemption how_;
  bool skip_;
};

}  // namespace rota
