// What a rehearsal says on standard error of the rows of its workload.
#pragma once

#include "cli/rehearse/window_flags.h"
#include "log/workload.h"
#include "rehearse/rehearse.h"

namespace rota::cli {

void print_findings(const log::Workload& workload, const RehearseOptions& options, const WindowFlags& window);

}  // namespace rota::cli
