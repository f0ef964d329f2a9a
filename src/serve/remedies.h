// What would let a waiting job start sooner: less of what it asks for, or another partition. Each is tried for real, by
// deciding on a copy of the state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/machine.h"
#include "serve/what_if.h"

namespace rota::serve {

// One change of what the job asks for.
struct Remedy {
  std::optional<Duration> limit = {};
  std::optional<std::uint32_t> processors = {};
  std::optional<std::int64_t> memory = {};               // bytes on each node
  std::optional<std::uint8_t> accelerators = {};         // on each node
  std::optional<std::vector<LicenceUse>> licences = {};  // all that it is to hold, fewer of one kind
  std::optional<PartitionId> partition = {};
  Instant start = kNever;  // kNever: now
  std::string text;        // "starts now if it asks for at most 1:50:00"
};

// A time limit as the command line shows it: "5:00", "1:50:00".
std::string limit_text(Duration limit);

// Those with which `policy` starts it now; of each kind the one that gives up least (a limit or memory to a twentieth;
// a limit from twenty minutes on to a minute). Where there is none: those with which it would start sooner than now, by
// at least a minute and a tenth of its wait, if every job took its whole limit and no job came before it; that is told
// by `planned`, the state under a policy that promises every job a start. At most some 70 trials (WhatIf tells what one
// costs), none of which begins after a third of a second of CPU time.
std::vector<Remedy> remedies(const WhatIf& policy, const WhatIf& planned, const Machine& machine, JobId id,
                             const JobSpec& spec);

}  // namespace rota::serve
