// How long work takes on a node, and what is done of it in a time.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace rota::sim {

inline constexpr std::int32_t kTold = 1000;  // the CPU factor of the node for which run times are told

inline Duration time_for(Duration work, std::int32_t cpu_factor) {
  if (cpu_factor == kTold) return work;
  return Duration{(work.count() * kTold + cpu_factor - 1) / cpu_factor};
}

// What is done of a job's work by then, less than all of it.
inline Duration work_in(Duration time, std::int32_t cpu_factor) {
  return cpu_factor == kTold ? time : Duration{time.count() * cpu_factor / kTold};
}

}  // namespace rota::sim
