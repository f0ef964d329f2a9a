// --seeds FIRST-LAST: other streams of a workload that `rota generate` made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/rehearse/window_flags.h"
#include "log/swf.h"
#include "rehearse/copies.h"

namespace rota::cli {

struct Seeds {
  std::int64_t first = 0;
  std::size_t count = 0;
};

// "1-10". Fails with a sentence.
Result<Seeds> parse_seeds(std::string_view text);

// What the command in the workload's header makes of each of these seeds, as it is read from its file, and the part of
// it that the window leaves. Attributes come along: those of the log by the options that its command has for them, and
// those of a sidecar by the ones that its first line names; a sidecar that names no job holds for all. Fails with a
// sentence where the header names no command, and where a sidecar speaks of jobs and does not say what made it.
// `sidecar`: of --attributes; empty: none.
Result<Copies> streams_of(const log::Workload& workload, const std::string& sidecar, const Seeds& seeds,
                          const log::SwfOptions& options, const WindowFlags& window);

}  // namespace rota::cli
