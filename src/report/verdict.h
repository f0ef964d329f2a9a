// The report's first sentences: which policy did best and by how much.
#pragma once

#include <span>
#include <string>

#include "report/metrics.h"

namespace rota::report {

// Judged by mean wait, told against the second best and the worst; then what bounded slowdown and utilization say to
// that. Summaries of one workload; at least one.
std::string verdict(std::span<const Summary> summaries);

}  // namespace rota::report
