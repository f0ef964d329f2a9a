// A schedule with all that is told of its jobs, so that it can be summed up and drawn: what `rota simulate --jobs`
// writes, or the out_jobs.csv of the simulator Batsim.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job.h"

namespace rota::log {

struct Schedule {
  std::vector<Job> jobs;        // by submit time; those of one instant in file order
  std::int64_t processors = 0;  // the highest that a job is said to have had, and one; 0: not told
  std::int64_t unfinished = 0;  // jobs that neither ended nor were rejected
};

// CSV with a line that names the columns, in any order: number (job_id), submit (submission_time), start
// (starting_time), end (finish_time, or execution_time) and processors (requested_number_of_resources) are needed;
// limit (requested_time), user, state (final_state), first_promise, backfilled, kills and allocated_resources are
// read, and wait and suspended: of the time between submission and start what is no wait was run before, and what a job
// stood still it did not run. The others are passed over. Times are in seconds. A job without a start, or one at
// second -1 (Batsim), did not run. Fails with file and line on rows that cannot be read, end before they start, or name
// a job twice.
Result<Schedule> read_schedule_jobs(const std::string& path);
Result<Schedule> parse_schedule_jobs(std::string_view text, const std::string& name);

}  // namespace rota::log
