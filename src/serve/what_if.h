// What would happen to one waiting job if it asked for less: each tried for real, by deciding on a copy of the state.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "control/controller.h"

namespace rota::serve {

struct Start {
  bool now = false;
  Instant at = kNever;  // promised; kNever: nothing is known
};

// Jobs that hold what they have longer than was counted on, and until when at most; kNever: not known.
using LateEnds = std::map<JobId, Instant>;

// A copy of a state, to be changed and decided on. Each trial costs O(jobs + nodes) and a cycle.
class WhatIf {
 public:
  // A state as Controller::snapshot() gives it, decided on at `now`, which may be later: nothing has happened since.
  // The chain must outlive it.
  WhatIf(std::vector<Fact> state, Instant now, const ClusterOptions& options, const Chain& chain, const LateEnds& late);
  // The same copy, decided on by another policy.
  WhatIf under(const ClusterOptions& options, const Chain& chain) const { return WhatIf(facts_, now_, options, chain); }

  Instant now() const { return now_; }
  // When the job would start if it asked for that.
  Start start_of(JobId job, const JobSpec& asked) const;
  // All that wait and start now, or are promised a start.
  std::vector<std::pair<JobId, Instant>> starts() const;
  // A job that is not there yet.
  Start start_of_new(const JobSpec& spec) const;

 private:
  using Facts = std::shared_ptr<const std::vector<Fact>>;

  WhatIf(Facts facts, Instant now, const ClusterOptions& options, const Chain& chain)
      : facts_(std::move(facts)), now_(now), options_(options), chain_(chain) {}

  Facts facts_;
  Instant now_;
  ClusterOptions options_;
  const Chain& chain_;
};

}  // namespace rota::serve
