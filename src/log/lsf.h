// Accounting logs of LSF (lsb.acct), a record a line: fields with blanks between them, texts in double quotes, in which
// "" is one quote. Jobs are the JOB_FINISH records, of any version since 7:
//
//   "JOB_FINISH" "10.1" 1709294441 1234 1000 33554435 8 1709290800 0 0 1709290841 "anna" "normal" "span[hosts=1]" ...
//
// docs/workloads.md has the rules.
#pragma once

#include <string_view>

#include "base/result.h"
#include "log/accounted_jobs.h"
#include "log/line_blocks.h"
#include "log/swf.h"

namespace rota::log {

bool looks_like_lsf(std::string_view line);

// Errors name file and line. With skip_bad_rows, records that cannot be read are counted and dropped. Each record is a
// row: one that becomes a job, or one that is told to be dropped.
Result<AccountedLog> read_lsf_log(LineBlocks blocks, const SwfOptions& options);

}  // namespace rota::log
