// How long planning expects a job to run. A prediction is never a kill time: only the limit is.
// Pure functions of the view; thread-safe.
#pragma once

#include <cstdint>

#include "model/cluster.h"

namespace rota {

enum class Estimator : std::uint8_t {
  limit,    // what the user asked for
  tsafrir,  // the mean of the user's last two run times (Tsafrir, Etsion and Feitelson, TPDS 18(6) 2007)
};

// For a job that is being submitted, or comes back to the queue.
Duration expected_run_time(Estimator estimator, const View& view, const JobSpec& spec);

// From a move of a running job at `now` to nodes of another CPU factor until it ends: the cost of the move, and what is
// left of what was expected, or all of it where the job starts over, at the speed of the new nodes.
Duration time_after_move(const Job& job, Instant now, std::int32_t factor_before, std::int32_t factor);
// That time to plan with: a second longer, for milliseconds are rounded at each change of speed; at most what the limit
// leaves.
Duration moved_run_time(const Job& job, Instant now, std::int32_t factor_before, std::int32_t factor);

// For a running job that has outlived what was expected: the first expectation plus 1, 5, 15, 30 min, 1, 2, 5, 10, 20,
// 50, 100 h in turn, at most what its limit leaves of this dispatch.
Duration corrected_run_time(const Job& job);

}  // namespace rota
