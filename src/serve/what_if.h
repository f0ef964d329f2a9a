// What would happen to one waiting job if it asked for less: each tried for real, by deciding on a copy of the state.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/controller.h"

namespace rota::serve {

struct Start {
  bool now = false;
  Instant at = kNever;  // promised; kNever: nothing is known
};

// A copy of a state, to be changed and decided on. Each trial costs O(jobs + nodes) and a cycle.
class WhatIf {
 public:
  // The options and the chain must outlive it.
  WhatIf(const Controller& controller, const ClusterOptions& options, const Chain& chain);

  Instant now() const { return now_; }
  // When the job would start if it asked for that.
  Start start_of(JobId job, const JobSpec& asked) const;
  // All that wait and start now, or are promised a start.
  std::vector<std::pair<JobId, Instant>> starts() const;
  // A job that is not there yet.
  Start start_of_new(const JobSpec& spec) const;

 private:
  std::vector<Fact> facts_;
  Instant now_;
  const ClusterOptions& options_;
  const Chain& chain_;
};

}  // namespace rota::serve
