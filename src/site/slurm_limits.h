// Limits that Slurm keeps for QOS, accounts, users and partitions, as the [[limits]] of a cluster file.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "site/made_up_names.h"
#include "site/slurm_cluster.h"
#include "site/slurm_nodes.h"
#include "site/slurm_partitions.h"

namespace rota::site {

// [[limits]] tables, from what sacctmgr printed of QOS and associations, for `cluster` alone where they name several;
// the QOS of a partition holds for its jobs. Limits of one job alone and of how many are submitted are left out: jobs
// that break them are in no log. Of GPUs of one type are those that some node has (`types`). Others that a cluster file
// does not know are told as left out, with the QOS, accounts and users that have them, and so is a table without
// columns of limits. Partitions bear the names of the file, which are made up where there are `names`. Fails where a
// table cannot be read.
struct LimitedParts {
  const std::vector<SlurmPartition>& partitions;
  std::set<std::string, std::less<>> types = {};
};
Result<std::string> limits_of_slurm(const SlurmText& text, std::string_view cluster, const LimitedParts& parts,
                                    SlurmRemarks& remarks, MadeUpNames* names = nullptr);

}  // namespace rota::site
