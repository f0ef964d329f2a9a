// The options that rehearse a part of a log.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command_line.h"
#include "log/workload.h"

namespace rota::cli {

struct WindowFlags {
  std::string from;
  std::string until;
  std::string warm_up;

  void declare(Command command);
  bool asked() const { return !from.empty() || !until.empty() || !warm_up.empty(); }
  // Leaves out what is not asked for. Dates are of UTC, and need a log that knows when it began.
  Result<void> apply(log::Workload& workload) const;
  // What to remark about it; "" : nothing.
  std::string note(const log::Workload& workload) const;
};

}  // namespace rota::cli
