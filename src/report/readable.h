// Figures as people read them, the same in the terminal and in the report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace rota::report {

// The two largest units, rounded: "0 s", "12.3 s", "4 min 5 s", "1 h 54 min", "4 d 2 h", "1,234 d". Negative: "-12.3
// s".
std::string readable_seconds(double seconds);
inline std::string readable(Duration d) { return readable_seconds(to_seconds(d)); }

// "13,823.53"; digits after the point: 0..3.
std::string readable_number(double number, int digits);

// 0.68561 with one digit: "68.6"; the caller writes the unit.
std::string readable_percent(double share, int digits);

// Moments of a workload. With the Unix time of its second 0 a date in UTC, "2011-02-03 04:05:06", else the days since
// then, "day 12, 04:05:06".
std::string readable(Instant at, std::int64_t unix_start);

}  // namespace rota::report
