// The waiting jobs in the order in which Slurm looks at them: priority tiers first (JobSpec::priority), then by
// PriorityType: priority/basic goes by arrival; priority/multifactor by the weighted sum of factors, cut to a whole
// number, and then by arrival (https://slurm.schedmd.com/priority_multifactor.html). Pure; lives for one cycle.
//
// Of the factors there are age, job size and fair share. Fair share is the rank in the fair tree where every user has
// an association of the same shares below the root: he who has used the least of late has 1, and use counts once a job
// has ended.
#pragma once

#include <map>
#include <vector>

#include "model/cluster.h"
#include "policy/slurm/slurm_knobs.h"

namespace rota {

class SlurmPriorities {
 public:
  SlurmPriorities(const View& view, const SlurmWeights& weights);
  std::int64_t of(const Job& job) const;

 private:
  double age_factor(const Job& job) const;
  double size_factor(const Job& job) const;
  double fair_factor(std::uint32_t user) const;

  const View& view_;
  const SlurmWeights& weights_;
  Instant reckoned_at_;
  std::map<std::uint32_t, double> fair_;  // by user; who is not there has used nothing
};

class SlurmQueue {
 public:
  SlurmQueue(const View& view, const SlurmKnobs& knobs);

  // One job after the other from the first on; nullptr: there are no more.
  const WaitingEntry* next();
  void rewind();

 private:
  const View& view_;
  bool sorted_;
  std::vector<const WaitingEntry*> entries_;  // where the order is not that of the state
  std::size_t next_ = 0;
  const WaitingEntry* last_ = nullptr;
};

}  // namespace rota
