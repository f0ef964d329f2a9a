// How long work takes on a node, and what is done of it in a time. Factors are per mille.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace rota {

inline constexpr std::int32_t kStandardFactor = 1000;  // the CPU factor of the node for which run times are told

inline Duration time_for(Duration work, std::int32_t cpu_factor) {
  if (cpu_factor == kStandardFactor) return work;
  return Duration{(work.count() * kStandardFactor + cpu_factor - 1) / cpu_factor};
}

// What is done of a job's work by then, less than all of it.
inline Duration work_in(Duration time, std::int32_t cpu_factor) {
  return cpu_factor == kStandardFactor ? time : Duration{time.count() * cpu_factor / kStandardFactor};
}

}  // namespace rota
