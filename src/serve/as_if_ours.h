// A state in which another resource manager's jobs are ours: what a policy would do with them, were it to decide.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/fact.h"
#include "serve/job_lookup.h"
#include "serve/reservation_desk.h"

namespace rota::serve {

// A manager's jobs, nodes and words as they stand.
struct TheirState {
  const JobLookup& jobs;
  const View& view;
  const Machine& machine;
  const std::map<std::int64_t, std::uint32_t>& throttles;  // tasks at one time, by array
  const ReservationDesk* reservations = nullptr;           // nullptr: jobs that run in one are not foretold
  bool limits_at_start = false;  // the policy keeps to limits by itself (ClusterOptions::limits_at_start)
};

// Why nothing here tells when such a job will start, as half a sentence ("waits for something else: JobHeldUser");
// empty: a forecast may be made of it. O(jobs that it waits for)
std::string not_foretold(JobId job, const TheirState& theirs);

// A snapshot in which jobs that are not ours run and wait as if they were: for their turn, for limits, for other jobs,
// for tasks of their array. Those that are not foretold stay what they are, and are never started.
std::vector<Fact> as_if_ours(std::vector<Fact> facts, const TheirState& theirs);

}  // namespace rota::serve
