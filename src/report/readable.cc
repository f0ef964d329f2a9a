#include "report/readable.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace rota::report {
namespace {

struct Units {
  std::int64_t seconds;  // in the larger one
  const char* large;
  std::int64_t part;  // seconds in the smaller one
  const char* small;
};
constexpr std::array kUnits{Units{86'400, "d", 3'600, "h"}, Units{3'600, "h", 60, "min"}, Units{60, "min", 1, "s"}};
constexpr double kManyDays = 1'000.0 * 86'400;
constexpr double kMost = 9e15;  // larger numbers are shown as this: nothing that is measured comes near

std::int64_t rounded(double number) { return std::llround(std::clamp(number, -kMost, kMost)); }

std::string few_seconds(double seconds) {
  const std::int64_t tenths = rounded(seconds * 10);
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text += "." + std::to_string(tenths % 10);
  return text + " s";
}

}  // namespace

std::string readable_seconds(double seconds) {
  if (std::isnan(seconds)) return "-";
  if (seconds < 0) return "-" + readable_seconds(-seconds);
  if (seconds > 0 && seconds < 0.05) return "< 0.1 s";
  if (rounded(seconds * 10) < 600) return few_seconds(seconds);
  if (seconds >= kManyDays) return grouped(rounded(seconds / 86'400)) + " d";
  for (const Units& unit : kUnits) {
    const std::int64_t parts = rounded(seconds / static_cast<double>(unit.part));
    const std::int64_t per_large = unit.seconds / unit.part;
    if (parts < per_large) continue;
    std::string text = fmt::format("{} {}", grouped(parts / per_large), unit.large);
    if (parts % per_large != 0) text += fmt::format(" {} {}", parts % per_large, unit.small);
    return text;
  }
  return few_seconds(seconds);
}

std::string readable_number(double number, int digits) {
  constexpr std::array<std::int64_t, 4> kScales{1, 10, 100, 1000};
  if (std::isnan(number)) return "-";
  digits = std::clamp(digits, 0, 3);
  const std::int64_t scale = kScales[static_cast<std::size_t>(digits)];
  const std::int64_t parts = rounded(std::abs(number) * static_cast<double>(scale));
  std::string text = (number < 0 && parts > 0 ? "-" : "") + grouped(parts / scale);
  if (digits > 0) {
    const std::string fraction = std::to_string(parts % scale);
    text += fmt::format(".{}{}", std::string(static_cast<std::size_t>(digits) - fraction.size(), '0'), fraction);
  }
  return text;
}

std::string readable_percent(double share, int digits) { return readable_number(share * 100, digits); }

std::string readable(Instant at, std::int64_t unix_start) {
  if (at >= kNever) return "never";
  const auto whole = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch());
  const auto days = std::chrono::floor<std::chrono::days>(whole + std::chrono::seconds{unix_start});
  const std::chrono::hh_mm_ss clock{whole + std::chrono::seconds{unix_start} - days};
  std::array<char, 64> time{};
  std::snprintf(time.data(), time.size(), "%02d:%02d:%02d", static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()));
  if (unix_start == 0) return fmt::format("day {}, {}", grouped(days.count()), time.data());
  const std::chrono::year_month_day date{std::chrono::sys_days{days}};
  std::array<char, 64> day{};
  std::snprintf(day.data(), day.size(), "%04d-%02u-%02u ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return std::string(day.data()) + time.data();
}

}  // namespace rota::report
