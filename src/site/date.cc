#include "site/date.h"

#include <charconv>
#include <chrono>

namespace rota::site {
namespace {

// Takes so many digits; -1: there are not so many.
int take(std::string_view& text, std::size_t digits) {
  int number = 0;
  if (text.size() < digits) return -1;
  const char* const end = text.data() + digits;
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || number < 0) return -1;
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, char sign) {
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(1);
  return true;
}

// "08:00"; -1: it is none.
int take_minutes(std::string_view& text) {
  const int hours = take(text, std::size_t{2});
  if (hours < 0 || hours > 23 || !take(text, ':')) return -1;
  const int minutes = take(text, std::size_t{2});
  return minutes < 0 || minutes > 59 ? -1 : hours * 60 + minutes;
}

}  // namespace

std::optional<std::int64_t> unix_milliseconds_of(std::string_view text) {
  const int year = take(text, std::size_t{4});
  if (year < 1970 || !take(text, '-')) return std::nullopt;
  const int month = take(text, std::size_t{2});
  if (month < 1 || !take(text, '-')) return std::nullopt;
  const int day = take(text, std::size_t{2});
  if (day < 1 || !(take(text, 'T') || take(text, ' '))) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  const int minutes = take_minutes(text);
  if (minutes < 0) return std::nullopt;
  int seconds = 0;
  if (take(text, ':')) seconds = take(text, std::size_t{2});
  if (seconds < 0 || seconds > 59) return std::nullopt;
  int zone = 0;
  if (!take(text, 'Z')) {
    const bool east = text.starts_with('+');
    if (!east && !text.starts_with('-')) return std::nullopt;
    text.remove_prefix(1);
    zone = take_minutes(text);
    if (zone < 0) return std::nullopt;
    if (!east) zone = -zone;
  }
  if (!text.empty()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  const std::int64_t told = ((days * 24 * 60 + minutes - zone) * 60 + seconds) * 1000;
  return told < 0 ? std::nullopt : std::optional(told);
}

}  // namespace rota::site
