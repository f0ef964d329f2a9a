// Job logs of Slurm as `sacct --json` prints them, of 22.05 and later: one JSON document. Each of its jobs becomes a
// row of cells under the names of `sacct -P`, so that there is one set of rules for both.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "log/line_blocks.h"
#include "log/sacct_reader.h"
#include "log/swf.h"

namespace rota::log {

// Whether a log begins as that document does: with an object whose first member is one of its own.
bool looks_like_json_sacct(std::string_view text);

// Hands the jobs to the taker one by one; holds one at a time. The result is how many lines there are, with those
// before.
Result<std::int64_t> read_json_sacct(LineBlocks blocks, const SwfOptions& options, std::int64_t lines_before,
                                     SacctRowTaker& taker);

}  // namespace rota::log
