// The jobs of an import as they are written, and what is found on the way, in one pass.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/import/import_unfit.h"
#include "log/sacct.h"
#include "model/machine.h"
#include "site/made_up_names.h"

namespace rota::cli {

struct WrittenJobs {
  std::map<std::string, std::int64_t> unmet;  // what the cluster has none of, and how many jobs asked for it
  std::vector<UnfitJobs> unfit;               // jobs that it can never run
};

// With the policy of the site in their header. `names` makes names up; nullptr: all keep theirs.
Result<WrittenJobs> write_jobs(const log::SacctLog& log, const Machine& machine, site::MadeUpNames* names,
                               const std::string& policy, const std::string& path);

}  // namespace rota::cli
