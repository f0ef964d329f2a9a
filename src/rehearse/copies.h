// Copies of a workload that differ by chance alone: every job comes a little later. What differs between two policies
// by no more than between copies is noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "log/workload.h"
#include "rehearse/rehearse.h"

namespace rota {

inline constexpr Duration kMostDelay = seconds(60);  // of a submission in a copy

// The same jobs, each up to a minute later, in the same order; nothing is recorded of them. The same for the same seed.
log::Workload later_copy(const log::Workload& workload, std::uint64_t seed);

struct Copies {
  std::size_t count = 0;
  std::int64_t seed = 1;  // of the first; the others have the next ones
};

// The summaries of a policy on the copies, so many at a time: no more of them are in memory.
Result<std::vector<report::Summary>> rehearse_copies(const log::Workload& workload, const Copies& copies,
                                                     const Chain& chain, RehearseOptions options, std::size_t threads);

}  // namespace rota
