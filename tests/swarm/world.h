// Runs one case of the swarm: faults for a while, then everything is healed, and then every job must come to its end.
#pragma once

#include <optional>
#include <string>

#include "swarm/site.h"

namespace rota::swarm {

struct RunOutcome {
  std::optional<std::string> failure;  // what was found, as a sentence
  std::uint64_t hash = 0;              // of all facts and commands
  Totals totals;
  sim::LinkFaultCounts link;
  sim::EngineFaultCounts engine;
  sim::RunLedger::Counts ledger;
  std::int64_t jobs = 0;
  std::int64_t steps = 0;
};

RunOutcome run_case(const Case& drawn);

}  // namespace rota::swarm
