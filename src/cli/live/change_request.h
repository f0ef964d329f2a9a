// What `rota update` was asked to change, put into JSON.
#pragma once

#include "base/result.h"
#include "cli/live/service.h"
#include "cli/live/submit_options.h"

namespace rota::cli {

// Name, processors, nodes, memory and labels that a job is to have in place of those that it has.
Result<void> put_changes(const SubmitValues& values, Json& into);

}  // namespace rota::cli
