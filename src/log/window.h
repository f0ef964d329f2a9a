// A part of a log: the jobs that were submitted in a stretch of time, the first of which only make the cluster as full
// as it is on other days.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/time.h"
#include "log/workload.h"

namespace rota::log {

struct Window {
  Instant from = Instant::min();   // jobs submitted before are left out
  Instant until = kNever;          // and those submitted at or after it
  Duration warm_up = Duration{0};  // from `from` or the beginning of the log on: such jobs run, and are not counted
};

// Leaves the others out and says so in the report. Fails where no job is left to be counted.
Result<void> cut(Workload& workload, const Window& window);

// What has been left out.
bool cut_before(const Workload& workload);
bool cut_anywhere(const Workload& workload);

}  // namespace rota::log
