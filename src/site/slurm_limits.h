// Limits that Slurm keeps for QOS, accounts and users, and a rehearsal does not.
#pragma once

#include "site/slurm_cluster.h"
#include "site/slurm_nodes.h"

namespace rota::site {

// Tells which limits there are and which QOS, accounts and users have them, from the tables that sacctmgr printed; for
// `cluster` alone, where they name several. Where a table has no columns of limits it tells that. Fails where a table
// cannot be read.
Result<void> tell_limits(const SlurmText& text, std::string_view cluster, SlurmRemarks& remarks);

}  // namespace rota::site
