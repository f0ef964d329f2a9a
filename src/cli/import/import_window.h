// Where the jobs of a window of sacct begin to be all that there were.
#pragma once

#include <cstdint>
#include <optional>

#include "log/sacct.h"

namespace rota::cli {

// sacct -S tells of all jobs that were there at some time after it: also of the few that were submitted long before,
// and waited or ran until then. They stretch the log to the left, where it has nothing else.
struct Straddlers {
  std::int64_t jobs = 0;
  std::int64_t until = 0;  // in seconds of the log: the first end of a job, which no export of a window has before it
};

// Nothing where these do not matter: they reach back for little of the log, or are as close together as the others.
std::optional<Straddlers> straddlers(const log::SacctLog& log);

}  // namespace rota::cli
