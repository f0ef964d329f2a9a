// --by of `rota simulate`: the comparison once more for each user, account, partition or QOS.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/rehearse/simulate_run.h"
#include "report/parties.h"

namespace rota::cli {

struct PartyFlags {
  std::vector<std::string> kinds;

  void declare(Command command);
  bool asked() const { return !kinds.empty(); }
};

// The parties of each workload in turn; the jobs of the runs must have been kept. What a log does not tell of is
// remarked on.
std::vector<report::PartySummaries> by_party(const std::vector<Run>& runs, const PartyFlags& flags, bool json);

}  // namespace rota::cli
