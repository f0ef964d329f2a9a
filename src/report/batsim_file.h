// A rehearsal as the simulator Batsim writes its own (out_jobs.csv), for programs that draw such schedules.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "report/outcome.h"

namespace rota::report {

// job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,
// starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,
// metadata. Where a job ran is told as numbers of processors ("0-3 8"), dealt out anew in order of starts: each is one
// job's at a time, and more than the cluster has only where jobs shared time by being suspended. Write errors are left
// in the stream's state.
void write_jobs_batsim(std::ostream& out, const Outcome& outcome);

// Processors from 0 on for each job of the last dispatch of each, "0-3 8"; empty: it did not run. Where jobs follow
// each other on a processor, each ends before the next one starts, or when it does.
std::vector<std::string> dealt_processors(const Outcome& outcome);

}  // namespace rota::report
