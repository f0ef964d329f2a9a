// The story of one job out of a journal: submitted, what it waited for, promises given and moved, who passed it and why
// that did no harm.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace rota::cli {

// Lines for people. `journal` is a file that `rota simulate --journal` wrote, or the state folder of a service. Fails
// with a sentence where it cannot be read or has no such job.
Result<std::string> story_of(std::int64_t job, const std::string& journal);

}  // namespace rota::cli
