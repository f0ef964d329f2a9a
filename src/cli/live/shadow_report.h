// What a service beside another resource manager can tell that goes beyond how well it foretold starts: what other
// policies would have made of the jobs of late, which nodes would have slept, and what is worth changing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace rota::cli {

struct ForkAsked {
  std::string state;                    // folder of the service, which may run meanwhile
  std::int64_t since = 0;               // jobs that were submitted from this Unix time on are counted
  std::vector<std::string> policies{};  // beside what really happened, and the manager's own
  double idle_watts = 0;                // of a node; 0: nothing is known of watts
  std::size_t tries = 100;              // settings that are tried where knobs are tuned; 0: none are
};

// Text for people, each part under a line that names it. What cannot be told is said in its place. Fails where the
// state cannot be read, or a policy is none. Takes as long as the rehearsals of these jobs: seconds to minutes.
Result<std::string> forked_text(const ForkAsked& asked);

}  // namespace rota::cli
