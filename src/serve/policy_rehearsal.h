// What another policy would make of the present queue: both are rehearsed on a copy of the state, by the controller
// that runs live on a simulated cluster. Every job takes as long as the policy counts on, and nobody comes any more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/controller.h"

namespace rota::serve {

struct PolicyRehearsal {
  struct Side {
    std::string policy;
    std::int64_t started = 0;  // of the jobs that wait, within four weeks
    Duration mean_wait{0};     // from now on, of those that start under both
  };
  struct Change {
    JobId job;
    Instant present = kNever;  // its start; kNever: not within four weeks
    Instant proposed = kNever;
  };
  Side present;
  Side proposed;
  std::int64_t waiting = 0;     // jobs that are not held
  std::vector<Change> changes;  // whose start is another one, by the earlier of both
  bool cut = false;             // there was no time to rehearse all of it: what is missing starts later
};

// The state to rehearse; what is named must outlive the call.
struct RehearsedState {
  Instant now = kEpoch;
  const std::vector<Fact>& facts;  // its snapshot
  ClusterOptions options;          // before a chain asks for its indexes
};

// Takes some seconds at most, and fails with a sentence where a policy fails.
Result<PolicyRehearsal> rehearse_policies(const RehearsedState& state, const Chain& present, const Chain& proposed);

}  // namespace rota::serve
