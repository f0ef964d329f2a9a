// Job logs of any kind that Rota reads.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "log/line_blocks.h"
#include "log/swf.h"
#include "log/workload.h"

namespace rota::log {

enum class LogFormat : std::uint8_t { swf, sacct, sacct_json, json_lines, pbs, lsf, batsim };

// The format of the log that the blocks come from, by its beginning; nothing of them is used up.
Result<LogFormat> format_of(LineBlocks& blocks);

// Reads a log in any of them; "-" is standard input, what is packed is recognised. The rules are those of log/swf.h.
Result<Workload> read_log(const std::string& path, const SwfOptions& options = {});

}  // namespace rota::log
