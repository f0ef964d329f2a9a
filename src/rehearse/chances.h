// A rehearsal of policy slurm held against what really happened, over what is chance: when the backfill passes fell,
// and the half seconds that a log in whole seconds does not tell. They can move the mean wait of a hundred jobs by a
// tenth.
#pragma once

#include <optional>

#include "rehearse/rehearse.h"
#include "report/trust.h"

namespace rota {

inline constexpr std::size_t kChances = 8;             // rehearsals, each with a phase and fractions of its own
inline constexpr std::size_t kMostByChances = 20'000;  // jobs: in a longer log chance evens out

// Each job's wait is the mean over these rehearsals. Nothing where the log is longer, tells fractions or no waits, or
// the policy is another one. O(kChances rehearsals); each is reproducible.
Result<std::optional<report::Trust>> trust_over_chances(const log::Workload& workload, const Chain& chain,
                                                        const RehearseOptions& options);

}  // namespace rota
