// What spares a node that goes to sleep and wakes: power-least-on, power-cycles and power-ramp. Pure.
#pragma once

#include <cstdint>

#include "model/node_power.h"
#include "policy/power/power_knobs.h"

namespace rota {

// When it may go to sleep: it has been on for long enough, and not too often asleep today. `now` or before: it may.
inline Instant may_sleep_at(const NodePower& power, const PowerKnobs& knobs, NodeId node, Instant now) {
  constexpr Duration kDay = seconds(86'400);
  const Instant on_for_long = power.since(node) + (power.cycles(node) > 0 ? knobs.least_on : Duration{0});
  if (on_for_long > now || knobs.most_cycles == 0) return on_for_long;
  const std::int64_t day = now.time_since_epoch() / kDay + 1;
  return power.cycles(node) < knobs.most_cycles * day ? now : kEpoch + kDay * day;
}

// How many more may be woken, or sent to sleep, in the minute of `now`, in which so many were.
inline std::int64_t left_of_ramp(const PowerKnobs& knobs, std::int64_t done) {
  return knobs.ramp == 0 ? INT64_MAX : knobs.ramp - done;
}

inline Instant next_minute(Instant now) { return kEpoch + seconds(60) * (NodePower::minute_of(now) + 1); }

}  // namespace rota
