// A rehearsal as a log: the workload as it would have been under the policy.
#pragma once

#include <iosfwd>

#include "log/workload.h"
#include "report/outcome.h"

namespace rota {

// Standard Workload Format 2.2, as log/swf_writer.h writes it, with the rehearsal's waits and run times; names, nodes
// and the beginning of time are those of the workload. Status: 1 completed, 0 stopped at its limit, 5 rejected or never
// ended (no wait, no run time). Write errors are left in the stream's state.
void write_jobs_swf(std::ostream& out, const report::Outcome& outcome, const log::Workload& workload);

}  // namespace rota
