// Running jobs that give way to others under policy slurm (slurm.conf: PreemptType, PreemptMode, PreemptExemptTime).
#pragma once

#include <vector>

#include "model/cluster.h"
#include "policy/slurm/slurm_knobs.h"

namespace rota {

// Those that may be told to give way to a waiting job now, in the order in which Slurm tries them: the lowest priority
// of a QOS first, then the fewest nodes, then the one that came first. A job gives way 32 times at most. O(running
// jobs), where any job gives way to it.
std::vector<JobId> displaceable(const View& view, const SlurmKnobs& knobs, JobId waiting);

// A job that gave way is not looked at before that instant; kEpoch: it has not.
Instant looked_at_from(const Job& job, const SlurmKnobs& knobs);

}  // namespace rota
