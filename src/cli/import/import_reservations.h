// What becomes of a site's reservations in an import.
#pragma once

#include "base/result.h"
#include "log/sacct.h"
#include "site/made_up_names.h"
#include "site/slurm_cluster.h"

namespace rota::cli {

// They become [[reservations]] of the cluster file. For which jobs they are that file cannot say: jobs of the log that
// started in one are taken out, and counted, and the others find its nodes taken, as they did.
Result<void> add_reservations(const site::SlurmText& text, log::SacctLog& log, site::MadeUpNames* names,
                              site::SlurmCluster& cluster);

}  // namespace rota::cli
