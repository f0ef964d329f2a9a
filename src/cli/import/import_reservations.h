// What becomes of a site's reservations in an import.
#pragma once

#include "base/result.h"
#include "log/sacct.h"
#include "site/made_up_names.h"
#include "site/slurm_cluster.h"

namespace rota::cli {

// Those in which no job of the log has started, such as maintenance, become [[reservations]] of the cluster file. The
// others are for certain jobs, which a cluster file cannot say: they are left out, with how many jobs started in them.
Result<void> add_reservations(const site::SlurmText& text, const log::SacctLog& log, site::MadeUpNames* names,
                              site::SlurmCluster& cluster);

}  // namespace rota::cli
