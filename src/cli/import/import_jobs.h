// The jobs of an import as they are written, and what is found among them.
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

struct JudgedJobs {
  std::map<std::string, std::int64_t> unmet;  // what the cluster has none of, and how many jobs asked for it
  std::vector<UnfitJobs> unfit;               // jobs that it can never run
};

// `names` makes names up; nullptr: all keep theirs.
JudgedJobs judge_jobs(const log::SacctLog& log, const Machine& machine, site::MadeUpNames* names);

// With these notes in their header, behind the one that names the command.
Result<void> write_jobs(const log::SacctLog& log, const Machine& machine, site::MadeUpNames* names,
                        const std::vector<std::string>& notes, const std::string& path);

}  // namespace rota::cli
