// Time as Rota counts it: integer milliseconds on a clock of its own, so that an Instant can never be mixed up with
// the wall clock. Rehearsals count from the workload's epoch (SWF: second 0 of the log).
#pragma once

#include <chrono>
#include <cstdint>

namespace rota {

using Duration = std::chrono::duration<std::int64_t, std::milli>;

// Tag of Rota's time line. It has no now(): only a Loop knows what time it is.
struct Clock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<Clock, Duration>;
  static constexpr bool is_steady = true;
};

using Instant = Clock::time_point;

// Later than every instant that a workload can name, with room to add durations to it without overflow.
inline constexpr Instant kNever{Duration{std::int64_t{1} << 62}};
inline constexpr Instant kEpoch{};

// The longest duration that any input may name (about 3,170 years); readers refuse more.
inline constexpr Duration kLongest{std::int64_t{100'000'000'000} * 1000};

constexpr Instant at_seconds(std::int64_t s) { return Instant{Duration{s * 1000}}; }
constexpr Duration seconds(std::int64_t s) { return Duration{s * 1000}; }
constexpr double to_seconds(Duration d) { return static_cast<double>(d.count()) / 1000.0; }

}  // namespace rota
