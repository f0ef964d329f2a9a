// What Slurm's commands have printed of a cluster, and was saved in a folder.
#pragma once

#include <string>

#include "base/result.h"
#include "site/slurm_cluster.h"

namespace rota::cli {

// Each file as slurm_commands() names it, packed or not. Fails with a sentence where one is missing that must be there,
// or is cut off.
Result<site::SlurmText> saved_cluster(const std::string& folder);

}  // namespace rota::cli
