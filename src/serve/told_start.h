// Which starts people are told: all code that shows starts asks here. A policy counts on a job without a limit, or one
// that stands still, for as long as can be: what it plans behind such a job is no start. Nor is what it counted on and
// has passed, as behind a job that takes long to end at its limit.
#pragma once

#include "base/time.h"

namespace rota::serve {

// So long from now, behind one without a limit.
inline constexpr Duration kTooFar = kLongest / 2;

// Between a start that is due and the decision that makes it.
inline constexpr Duration kDue = seconds(1);

inline bool has_passed(Instant start, Instant now) { return start != kNever && now - start > kDue; }

// kNever: nothing can be told. `now`: of the clock, while that of the state stands still between two events.
inline Instant told_start(Instant start, Instant now) {
  return start != kNever && start - now < kTooFar && !has_passed(start, now) ? start : kNever;
}

}  // namespace rota::serve
