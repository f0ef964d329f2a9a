// What a log and a cluster file do not tell each other of the QOS and accounts by which policy slurm goes.
#pragma once

#include <vector>

#include "cli/rehearse/simulate_run.h"

namespace rota::cli {

void report_unmet_shares(const std::vector<Run>& runs);

}  // namespace rota::cli
