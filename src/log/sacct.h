// Job logs of Slurm, as `sacct -X -P` prints them: '|' (or what --delimiter says) between the columns, the first line
// names them in any order.
//
//   TZ=UTC sacct -X -P -D --allusers -S 2024-01-01 -E 2024-07-01 --format=(kSacctFormat, log/sacct_columns.h)
//
// Needed: JobID or JobIDRaw; Submit; Start; End; and AllocCPUS, NCPUS, ReqCPUS, AllocTRES or ReqTRES. Several exports
// may stand one after the other, each with its own line of names. Columns that Rota does not know are passed over;
// Slurm's Priority on purpose, for it grows while a job waits. docs/workloads.md tells what becomes of each kind of
// row.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/accounted_rows.h"
#include "log/line_blocks.h"
#include "log/sacct_reader.h"
#include "log/swf.h"
#include "log/swf_row.h"
#include "log/workload.h"

namespace rota::log {

// The jobs of a log on the terms of SWF. Names became numbers in order of appearance, from 1. A job is submitted when
// it is eligible: that is when it begins to wait.
// Rows of one instant stand by number; group: Group or Account; queue: QOS; attributes: accelerators and licences.
struct SacctLog : AccountedLog {
  std::string cluster;  // whose jobs they are; empty: not told
  std::vector<SacctExport> exports;
  bool local_times = false;  // times of a clock on the wall were told: taken as UTC where no zone was given
};

// Counted in the report: a guess, for any of them might have been the one.
inline constexpr const char* kGuessedSpread =
    "had one node, and asked for one at least, as all do who do not say how many: taken as content with any number, as "
    "others of the same user with as many processors were";
inline constexpr const char* kSeveralPartitions =
    "several partitions, as long as it has not started in one of them: taken as of the first";

// Errors name file, line and column. With skip_bad_rows, rows that cannot be read are counted and dropped.
// Several exports, in either of sacct's forms, are one log.
Result<SacctLog> read_sacct_log(std::vector<LineBlocks> exports, const SwfOptions& options);
Result<SacctLog> read_sacct_log(LineBlocks blocks, const SwfOptions& options);

// One export as a workload, by the rules of log/swf.h. Its processors are a guess: sacct does not tell them.
Result<Workload> read_sacct(LineBlocks blocks, const std::string& path, const SwfOptions& options);
Result<Workload> parse_sacct(std::string_view text, const std::string& name, const SwfOptions& options = {});

}  // namespace rota::log
