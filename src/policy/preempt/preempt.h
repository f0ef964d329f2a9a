// Absolute priorities: a waiting job that does not fit takes the processors of running jobs of lower priority at once
// (Baranov et al. 2018). The lowest priority gives way first, of one priority the latest start; a job that is not
// needed after all stays.
//
// Where writing a checkpoint takes time, no job is told to write one for a job that would have room by then anyway, as
// others reach their limits: what is free is kept for it meanwhile.
//
// Served are the jobs whose turn it is, in queue order, up to the first that cannot be placed even so; with `skip` all
// jobs, those that overtake in candidate order. A job that gave way keeps its place in the queue.
#pragma once

#include "policy/policy.h"

namespace rota {

class Preempt final : public Policy {
 public:
  // checkpoint: how long writing one takes; promises: whether several jobs hold promises.
  Preempt(Preemption how, Duration checkpoint, bool skip, bool promises)
      : how_(how), checkpoint_(checkpoint), skip_(skip), promises_(promises) {}

  // Where a job must give way, or is about to, it also starts the jobs that need not wait for that and closes the plan.
  // Else it drafts nothing. O(1) unless the head outranks a running job; then O(log n) for each job that may be placed.
  void decide(const View& view, Plan& plan) const override;

 private:
  // From the command until the jobs that give way have left.
  Duration lag() const { return how_ == Preemption::checkpoint ? checkpoint_ : Duration{0}; }
  void on_nodes(const View& view, Plan& plan) const;
  void beside_promises(const View& view, Plan& plan) const;

  Preemption how_;
  Duration checkpoint_;
  bool skip_;
  bool promises_;
};

}  // namespace rota
