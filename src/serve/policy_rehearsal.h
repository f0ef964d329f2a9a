// What another policy would make of the present queue: both are rehearsed on a copy of the state, as a forecast in
// which nothing is drawn. Every job takes as long as the policy counts on, and no job comes any more.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/controller.h"

namespace rota::serve {

struct PolicyRehearsal {
  struct Side {
    std::string policy;
    std::int64_t started = 0;                // of the jobs that wait, within four weeks
    std::optional<Duration> mean_wait = {};  // from now on, of those that start under both; nothing: none does
  };
  struct Change {
    JobId job;
    std::uint32_t processors = 0;
    Instant present = kNever;  // its start; kNever: not within four weeks
    Instant proposed = kNever;
  };
  Side present;
  Side proposed;
  std::int64_t waiting = 0;     // jobs that are not held
  std::vector<Change> changes;  // whose start is another one, by the earlier of both
  bool cut = false;             // there was no time to rehearse all of it: what is missing starts later
};

// A queue to rehearse, with all that it takes: nothing of the service is looked at meanwhile.
struct QueueToRehearse {
  Instant now = kEpoch;
  std::vector<Fact> facts;  // the snapshot of its state
  std::shared_ptr<const Machine> machine;
  std::shared_ptr<const LimitBook> limits;  // nullptr: there are none
  std::string present;                      // the policies
  std::string proposed;
};

// Takes some seconds at most, on whatever thread; ends early once `given_up` says so. Fails with a sentence where a
// policy fails.
Result<PolicyRehearsal> rehearse_policies(const QueueToRehearse& queue, const std::function<bool()>& given_up);

}  // namespace rota::serve
