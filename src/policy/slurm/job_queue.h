// The waiting jobs in the order in which Slurm looks at them: priority tiers first (JobSpec::priority), then by
// PriorityType: priority/basic goes by arrival; priority/multifactor by the weighted sum of factors, cut to a whole
// number, and then by arrival (https://slurm.schedmd.com/priority_multifactor.html). Where an order of Rota's is given,
// jobs of a partition exchange places into that order, as `rota mode order act` has it. Pure; lives for one cycle.
//
// Fair share is that of the tree of accounts (model/share_tree.h). Where there are none, every user has the same
// shares: the user with the least use of late has 1. Use counts from one calc_period to the next, also while a job
// runs.
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

  // What each factor adds, as sprio -l prints it.
  struct Parts {
    double age = 0;
    double fair_share = 0;
    double job_size = 0;
    double partition = 0;
    double qos = 0;
    double resources = 0;
    double sum() const { return age + fair_share + job_size + partition + qos + resources; }
  };
  Parts parts_of(const Job& job) const;

 private:
  double age_factor(const Job& job) const;
  double size_factor(const Job& job) const;
  double size_by_time(const JobSpec& spec) const;
  double fair_factor(const JobSpec& spec) const;
  double partition_factor(const JobSpec& spec) const;
  double qos_factor(const JobSpec& spec) const;
  double resources(const JobSpec& spec) const;  // each times its weight
  void rank_users();
  void rank_whole(const Machine& machine);

  const View& view_;
  const SlurmWeights& weights_;
  bool by_resources_ = false;
  Instant reckoned_at_;
  std::map<std::uint32_t, double> fair_;  // by user; one without an entry has used nothing
  std::int64_t most_job_factor_ = 1;
  std::int64_t most_qos_ = 0;
  Partition whole_;  // of jobs without a partition
};

// A pass looks at the first few hundred of them: only as many are sorted.
class SlurmQueue {
 public:
  SlurmQueue(const View& view, const SlurmKnobs& knobs);

  // One job after the other from the first on; nullptr: there are no more.
  const WaitingEntry* next();
  void rewind();

 private:
  struct Turn {
    std::int32_t tier;
    std::int64_t priority;
    std::uint32_t arrival;
    const WaitingEntry* entry;
    bool operator<(const Turn& o) const {
      if (tier != o.tier) return tier > o.tier;
      return priority != o.priority ? priority > o.priority : arrival < o.arrival;
    }
  };
  void sort_more();
  void exchange();

  const View& view_;
  bool sorted_ = false;
  std::vector<Turn> turns_;   // where the order is not that of the state
  std::size_t in_order_ = 0;  // so many of them are sorted, and before all others
  std::size_t next_ = 0;
  const WaitingEntry* last_ = nullptr;
};

}  // namespace rota
