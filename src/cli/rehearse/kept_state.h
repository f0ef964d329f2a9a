// The jobs that a live service has run, as a workload with what really became of them.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "log/workload.h"
#include "model/machine.h"

namespace rota::cli {

struct KeptState {
  log::Workload workload;                  // jobs that ran and have left, as far as the history goes back, with what
                                           // really happened to them
  std::shared_ptr<const Machine> machine;  // on which
  std::string policy;                      // that the service has now, as it was written
};

// The database of a state folder; of any other path that itself.
std::string database_of(const std::string& path);

// Whether a path is the state folder of a service, or the database in one.
bool is_state(const std::string& path);

// Fails with a sentence where it cannot be read, or where no job has run yet.
Result<KeptState> read_state(const std::string& path);

}  // namespace rota::cli
