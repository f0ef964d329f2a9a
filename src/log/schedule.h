// A saved schedule: which job started when. CSV with a header line that names the columns job_id and start (seconds).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace rota::log {

struct SavedStart {
  std::int64_t number = 0;  // JobSpec::number
  Instant start;            // kNever: left empty, or -1 in Batsim's, the job did not start
};

// Sorted by job number; plain or packed. Fails with file and line on rows that cannot be read or name a job twice.
Result<std::vector<SavedStart>> read_schedule(const std::string& path);

}  // namespace rota::log
