// Which starts people are told. A policy counts on a job without a limit, or one that stands still, for as long as can
// be: what it plans behind such a job is no start, and everybody who tells of starts passes them through here.
#pragma once

#include "base/time.h"

namespace rota::serve {

// So long from now, behind one without a limit.
inline constexpr Duration kTooFar = kLongest / 2;

// kNever: nothing can be told.
inline Instant told_start(Instant start, Instant now) {
  return start != kNever && start - now < kTooFar ? start : kNever;
}

}  // namespace rota::serve
