// The charts of a rehearsal as figures that stand alone, for papers and mails: `rota simulate --plots`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/outcome.h"
#include "report/plot.h"

namespace rota::report {

struct NamedPlot {
  std::string name;  // of its file, without an ending
  Plot plot;
};

// Outcomes with their jobs, of one workload and cluster, have a line each: "waits" (which wait so many of
// the jobs do not exceed), "waiting", "processors" and, where jobs ask for such, "accelerators" and "memory" over time.
// Cost: O(jobs log jobs) for each outcome.
std::vector<NamedPlot> plots_of(std::span<const Outcome* const> outcomes);

}  // namespace rota::report
