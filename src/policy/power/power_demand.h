// power=demand and power=idle-timeout: nodes are woken when a job needs them and sent to sleep when none has needed
// them for a while. Rules after Slurm's SuspendTime, OAR's gate (off only if idle and next used late enough) and the
// break-even sleep of Orgerie and Lefevre; waking ahead of promises and the learned reserve are Rota's own.
//
// Wake
//   * what a promise rests on, one boot time before the promised start, or at once if that is nearer;
//   * what a job that waits could start on now if every node were on, once it has waited for `wait`; or at once if what
//     lacks would not come free in that time, taken that processors come free as fast as they are asked for:
//     lacking > D x wait / boot;
//   * so many that the jobs of a boot time find nodes with probability `reserve`, as learned for the hour of the week.
// Nodes that draw the least first, only those on which a job that waits has room, for a promise those that are on by
// then, none whose boots have just failed.
//
// Sleep: the longest idle first. The k-th of the free processors, counted from what fell idle last, which is what jobs
// are given first, stays on for
//   tau(k) = idle x D / k          D: processors asked for in a boot time, lately (DemandHistory::lately)
// so that what is needed soon is kept and what only a rush would need sleeps soon. Not if a job that waits could use
// the node, however short it has waited, the node is kept warm, a promise needs it before the shortest sleep that pays
// is over (PowerDraw::break_even), it was woken less than `least-on` ago, or it has had its `cycles` of the day. `ramp`
// limits how many nodes are switched in a minute. `thrift` sets idle = boot^2 / (4 thrift), and a job waits as long as
// what it lacks may come free within `thrift`, up to three times that: a site that lets jobs wait for longer also lets
// nodes sleep sooner. power=idle-timeout: tau = idle for every node, no wait, no reserve, no guards, and break-even is
// not looked at.
#pragma once

#include "policy/policy.h"
#include "policy/power/power_knobs.h"

namespace rota {

class DemandPower final : public Policy {
 public:
  explicit DemandPower(const PowerKnobs& knobs) : knobs_(knobs) {}
  void decide(const View& view, Plan& plan) const override;
  Instant next_wakeup(const View& view) const override;

 private:
  PowerKnobs knobs_;
};

}  // namespace rota
