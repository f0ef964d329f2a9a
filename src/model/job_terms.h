// What keeps a job from being queued, and the terms of a waiting job that can be amended. Few jobs have terms of their
// own; what a job asked for when it was submitted never changes (View::request).
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace rota {

// A set of reasons; while there is one, the job is known and not queued.
using Bars = std::uint8_t;
inline constexpr Bars kNoBars = 0;
inline constexpr Bars kHeldByUser = 1;
inline constexpr Bars kHeldByOperator = 2;
inline constexpr Bars kBeginTime = 4;       // it has not come yet
inline constexpr Bars kDependency = 8;      // another job has not started or ended yet
inline constexpr Bars kNeverAgain = 16;     // a dependency that can no longer be met
inline constexpr Bars kArrayThrottle = 32;  // so many of its array are queued or run already
inline constexpr Bars kNotOurs = 64;        // another scheduler starts it; also of a job that runs
inline constexpr Bars kOverLimit = 128;     // jobs hold as much of what is limited as they may
inline constexpr Bars kHolds = kHeldByUser | kHeldByOperator;
inline constexpr Bars kUntilLifted = kHolds | kNotOurs;  // those that stay until they are released

// What is asked for, and what a partition adds to it, lies between this and its negative.
inline constexpr std::int32_t kMostPriority = 1'000'000;

// A job that waits for another one.
struct Dependency {
  // in_turn: it has ended, and if it never ran, those that it waited for in turn have, too. So a long row of jobs of
  // which each waits for all before it needs one of these a job.
  enum class When : std::uint8_t { started, ended, succeeded, failed, in_turn };
  JobId on;
  When when = When::ended;
  JobId group = {};   // failed: the same in all that stand for one array, of which all must end and one fail; else none
  Duration later{0};  // started: the job that waits begins so long after that at the earliest

  bool operator==(const Dependency&) const = default;
};

struct JobTerms {
  Duration limit{0};  // > 0
  std::int32_t priority = 0;
  PartitionId partition;
  Instant begin = kEpoch;              // not before; kEpoch: at any time
  std::vector<Dependency> after = {};  // all of them, or
  bool any = false;                    // one of them will do
  std::int64_t array = 0;              // number of the array that it belongs to; 0: none
  std::uint32_t throttle = 0;          // so many of the array at one time; 0: no limit
};

}  // namespace rota
