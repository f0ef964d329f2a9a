// What a Slurm controller does with its queue (https://slurm.schedmd.com/sched_config.html, slurm.conf's
// SchedulerParameters): a main pass when something has happened, and a backfill pass from time to time.
//
// The main pass tries one job after the other in the order of the queue and starts those that fit. The first of a
// partition that does not fit ends it for that partition, and for its nodes.
//
// The backfill pass forgets what it planned before. It goes through the queue, starts what can start now without
// touching what it has reserved for jobs before, and reserves for the others when and where they could start if all
// that runs took its time limit. A reservation keeps whole nodes, its times are rounded to bf_resolution, and beyond
// bf_window there is none. Nothing of it is promised: the next pass may put a job off.
#pragma once

#include "policy/policy.h"
#include "policy/slurm/slurm_knobs.h"

namespace rota {

class SlurmPlanner final : public Policy {
 public:
  explicit SlurmPlanner(const SlurmKnobs& knobs) : knobs_(knobs) {}
  void decide(const View& view, Plan& plan) const override;
  Instant next_wakeup(const View& view) const override;

 private:
  Instant reckons_next(Instant now) const;
  Instant back_next(const View& view) const;

  SlurmKnobs knobs_;
};

}  // namespace rota
