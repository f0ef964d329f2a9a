// What rota simulate reads: job logs, and states of services.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/rehearse/window_flags.h"
#include "log/swf.h"
#include "log/workload.h"
#include "model/machine.h"

namespace rota::cli {

struct Workloads {
  std::vector<log::Workload> all;
  std::vector<std::shared_ptr<const Machine>> machines;  // of each; nullptr: it tells of none
  std::vector<std::string> policies;                     // of the services that they are the state of, else empty
};

// The workloads at these paths, each with a name of its own. `watched`: progress is shown. For the folder that an
// import made, the error names the files in it.
Result<Workloads> read_workloads(const std::vector<std::string>& paths, const log::SwfOptions& swf,
                                 const WindowFlags& window, bool watched);

}  // namespace rota::cli
