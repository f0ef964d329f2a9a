// The comparison for programs: `rota simulate --json`. docs/report.md lists every field; names carry their unit, and a
// field is never renamed or given another meaning, only added.
#pragma once

#include <span>
#include <string>

#include "report/metrics.h"
#include "report/parties.h"

namespace rota::report {

// One JSON document, indented, ended by a newline; names that are not UTF-8 have the wrong bytes replaced.
std::string to_json(std::span<const Summary> summaries, std::span<const PartySummaries> parties = {});

}  // namespace rota::report
