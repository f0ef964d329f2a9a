// Jobs of an import that its cluster, as it is described, can never run, though they have run there: a rehearsal would
// reject them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/machine.h"

namespace rota::cli {

struct UnfitJobs {
  std::string what;  // the reason that they have in common
  std::int64_t jobs = 0;
  std::int64_t first = 0;  // the number of one of them,
  std::string why;         // and what it asks for, as half a sentence
};

// Of the jobs in the file; by reason.
Result<std::vector<UnfitJobs>> unfit_jobs(const std::string& path, const Machine& machine);

}  // namespace rota::cli
