// Copies of a workload that differ by chance alone. What differs between two policies by no more than between copies is
// noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "log/workload.h"
#include "rehearse/rehearse.h"

namespace rota {

inline constexpr Duration kMostDelay = seconds(60);  // of a submission in a copy

// The same jobs, each up to a minute later, in the same order; nothing is recorded of them. One seed gives one copy.
log::Workload later_copy(const log::Workload& workload, std::uint64_t seed);

struct Copies {
  std::size_t count = 0;
  std::function<Result<log::Workload>(std::size_t copy)> make;  // the same at every call, from any thread
  // Each is drawn anew, and not a copy of the workload in the strict sense: with attributes of its own, where it has
  // any.
  bool streams = false;
};

// Copies in which every job comes a little later; the first has this seed, the others the next ones. The workload must
// outlive them.
Copies later_copies(const log::Workload& workload, std::size_t count, std::int64_t seed);

// The summaries of a policy on the copies, so many at a time: no more of them are in memory.
Result<std::vector<report::Summary>> rehearse_copies(const Copies& copies, const Chain& chain, RehearseOptions options,
                                                     std::size_t threads);

}  // namespace rota
