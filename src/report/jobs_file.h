// What became of each job, as files for other programs. Times are seconds from the workload's epoch, written as .mmm
// only where they are not whole. Rows are in order of submission. Write errors are left in the stream's state.
#pragma once

#include <iosfwd>

#include "report/outcome.h"

namespace rota::report {

// number,submit,start,end,wait,processors,limit,user,backfilled,kills,first_promise,state
// and energy_j where the cluster file tells watts: joules that the job accounts for, killed dispatches too.
// start and end are those of the last dispatch, wait what of the time before it was no earlier run of which something
// is kept; a value that does not exist is left empty. backfilled is 0 or 1; kills counts killed dispatches; state is
// completed, timed_out, rejected, waiting, running, or what the log says of a job that really ran. Where some job was
// suspended in its last dispatch there is suspended, for how long, which is no run time. With several sites there
// is one more column, site: the name of the one at which it ran; with one site there are, at the end, partition, nodes
// (names, blanks between them; empty where processors are counted) and why it started when it did.
void write_jobs_csv(std::ostream& out, const Outcome& outcome);

}  // namespace rota::report
