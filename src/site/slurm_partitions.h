// The partitions of a Slurm cluster, from what `scontrol show partition` prints to the terms of a cluster file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/billing.h"
#include "site/slurm_nodes.h"

namespace rota::site {

struct SlurmPartition {
  std::string name;
  std::vector<std::string> nodes;  // in the order of the cluster's nodes
  bool by_default = false;
  Duration max_time = kLongest;
  Duration default_time = kLongest;  // kLongest: not told
  std::int64_t min_nodes = 1;
  std::int64_t max_nodes = 0;  // 0: no limit
  std::int64_t priority_tier = 1;
  std::int64_t job_factor = 1;
  Billing billing = {};
  std::string qos = {};  // whose limits hold for its jobs; empty: of none
};

// In the order in which they were printed; those without nodes are left out.
Result<std::vector<SlurmPartition>> partitions_of_slurm(const std::vector<SlurmRecord>& records,
                                                        const std::vector<SlurmNode>& nodes, SlurmRemarks& remarks);

}  // namespace rota::site
