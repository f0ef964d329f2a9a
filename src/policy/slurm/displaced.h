// Running jobs that give way to others under policy slurm (slurm.conf: PreemptType, PreemptMode, PreemptExemptTime).
#pragma once

#include <vector>

#include "model/cluster.h"
#include "policy/slurm/slurm_knobs.h"

namespace rota {

// Those of one state. A job gives way 32 times at most. The view and the knobs must outlive it.
class Displaceable {
 public:
  // O(running jobs + log of them), where partitions decide + waiting jobs.
  Displaceable(const View& view, const SlurmKnobs& knobs);

  // Some running job gives way to a job that waits or may come, now or once it has run for longer.
  bool any() const { return !found_.empty(); }
  // Those that may be told to give way to a waiting job now, in the order in which Slurm tries them: the lowest
  // priority of a QOS first, then the fewest nodes, then the one that came first. O(those that give way to any)
  std::vector<JobId> by(JobId waiting) const;

 private:
  struct Candidate {
    std::int64_t priority;
    std::size_t nodes;
    JobId job;
    auto operator<=>(const Candidate&) const = default;
  };

  const View& view_;
  const SlurmKnobs& knobs_;
  std::vector<Candidate> found_;  // in that order
};

// A job that gave way is not looked at before that instant; kEpoch: it has not.
Instant looked_at_from(const Job& job, const SlurmKnobs& knobs);

}  // namespace rota
