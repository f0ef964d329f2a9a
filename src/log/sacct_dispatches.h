// The rows of one or several exports of sacct, put together to jobs: an export tells of a job in each window in which
// it waited or ran, and with -D one row for each time that the job was started.
#pragma once

#include <cstdint>
#include <vector>

#include "log/sacct_cell.h"
#include "log/swf_row.h"
#include "log/workload.h"

namespace rota::log {

constexpr std::int64_t kNoTime = -1;

// One row, and what becomes of it. Times in seconds since 1970; kNoTime: not told.
struct SacctRow {
  SwfRow row;  // all of it but number, submit, wait, run and status
  SacctId id;
  std::int64_t submit = kNoTime;
  std::int64_t eligible = kNoTime;
  std::int64_t start = kNoTime;
  std::int64_t end = kNoTime;
  std::int64_t elapsed = kNoTime;  // in milliseconds
  std::int64_t given_nodes = 0;    // that it had; 0: not told
  std::uint32_t request = 0;       // what else it asks for, by place in a table; 0: nothing
  SacctState state = SacctState::unknown;
  bool component = false;  // of a heterogeneous job
};

// The jobs: of rows that tell of the same start the one that knows most, of a job's dispatches one job with the last
// that ran, of its sizes one job with the first size. In the order of their first rows. What is left out is counted.
// O(rows log rows)
std::vector<SacctRow> jobs_of_rows(std::vector<SacctRow> rows, ImportReport& report);

}  // namespace rota::log
