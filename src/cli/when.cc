#include "cli/when.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <optional>
#include <vector>

#include "base/letters.h"
#include "base/text.h"

namespace rota::cli {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kFarthest = 253'402'300'799;   // the end of the year 9999
constexpr std::int64_t kLastTaken = 100'000'000'000;  // by a service, in the year 5138
constexpr double kNoLimit = 1e11;                     // seconds; rota::kLongest

std::unexpected<Error> no_time(std::string_view text) {
  return fail(rota::quoted(text) +
              " is no time; write it such as now+1hour, 16:00, tomorrow, 2026-11-30 or 2026-11-30T12:00.");
}

std::tm local(std::int64_t when) {
  const std::time_t seconds = when;
  std::tm out{};
  ::localtime_r(&seconds, &out);
  return out;
}

// The instant of a local date and time of day; days and hours out of range carry over.
std::int64_t instant(std::tm date, std::int64_t second_of_day) {
  date.tm_hour = static_cast<int>(second_of_day / kHour);
  date.tm_min = static_cast<int>(second_of_day / kMinute % 60);
  date.tm_sec = static_cast<int>(second_of_day % 60);
  date.tm_isdst = -1;
  return std::mktime(&date);
}

std::int64_t on_day(std::int64_t now, int days, std::int64_t second_of_day) {
  std::tm date = local(now);
  date.tm_mday += days;
  return instant(date, second_of_day);
}

std::optional<std::int64_t> digits(std::string_view text, std::size_t least, std::size_t most) {
  if (text.size() < least || text.size() > most || text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return parse_integer(text).value_or(-1);
}

// "16:00", "16:00:30", "4:00pm", "4:00 PM": seconds of the day.
std::optional<std::int64_t> time_of_day(std::string_view text) {
  const std::string half = text.size() < 2 ? "" : lower(text.substr(text.size() - 2));
  if (half == "am" || half == "pm") {
    const auto second = time_of_day(trimmed(text.substr(0, text.size() - 2)));
    if (!second || *second < kHour || *second >= 13 * kHour) return std::nullopt;
    return *second % (12 * kHour) + (half == "pm" ? 12 * kHour : 0);
  }
  const auto pieces = split(text, ':');
  if (pieces.size() < 2 || pieces.size() > 3) return std::nullopt;
  const auto hour = digits(pieces[0], 1, 2), minute = digits(pieces[1], 2, 2);
  const auto second = pieces.size() == 3 ? digits(pieces[2], 2, 2) : std::optional<std::int64_t>{0};
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  return *hour * kHour + *minute * kMinute + *second;
}

// Year, month and day of "2026-11-30", and as sbatch has them "11/30", "11/30/26", "11.30.26" and "113026"; the number
// of letters is what it takes of the text.
struct Date {
  std::optional<std::int64_t> year, month, day;
  std::size_t letters = 0;
};

Date read_date(std::string_view text, std::int64_t now, bool past) {
  Date date{.year = {}, .month = {}, .day = {}, .letters = std::min(text.find_first_of("T "), text.size())};
  const std::size_t separator = text.find_first_of("/.");
  std::vector<std::string_view> pieces;
  if (separator < date.letters) {
    date.letters = std::min(date.letters, text.find('-'));
    pieces = split(text.substr(0, date.letters), text[separator]);
  } else if (date.letters == 6 && digits(text.substr(0, 6), 6, 6)) {
    pieces = {text.substr(0, 2), text.substr(2, 2), text.substr(4, 2)};
  } else {
    pieces = split(text.substr(0, date.letters), '-');
    if (pieces.size() == 3)
      date = {digits(pieces[0], 4, 4), digits(pieces[1], 1, 2), digits(pieces[2], 1, 2), date.letters};
    return date;
  }
  if (pieces.size() != 2 && pieces.size() != 3) return date;
  date.month = digits(pieces[0], 1, 2);
  date.day = digits(pieces[1], 1, 2);
  const std::tm today = local(now);
  const auto in_year = [](std::int64_t month, std::int64_t day) { return month * 100 + day; };
  const bool over = in_year(date.month.value_or(0), date.day.value_or(0)) < in_year(today.tm_mon + 1, today.tm_mday);
  date.year = 1900 + today.tm_year + (over && !past ? 1 : 0);
  if (pieces.size() == 3) date.year = digits(pieces[2], 2, 2);
  if (pieces.size() == 3 && date.year) *date.year += 2000;
  return date;
}

std::optional<std::int64_t> date_and_time(std::string_view text, std::int64_t now, bool past) {
  const auto [year, month, day, letters] = read_date(text, now, past);
  const auto second = letters >= text.size() ? std::optional<std::int64_t>{0} : time_of_day(text.substr(letters + 1));
  if (!year || !month || !day || !second) return std::nullopt;
  std::tm date{};
  date.tm_year = static_cast<int>(*year) - 1900;
  date.tm_mon = static_cast<int>(*month) - 1;
  date.tm_mday = static_cast<int>(*day);
  const std::int64_t out = instant(date, *second);
  const std::tm back = local(out);  // a day that is not there carries over into the next month
  if (back.tm_mon != date.tm_mon || back.tm_mday != date.tm_mday) return std::nullopt;
  return out;
}

// What follows "now": "", "+1hour", "-7days", "+90" (seconds, as in sbatch), "+1h30m".
std::optional<std::int64_t> after_now(std::string_view text) {
  if (text.empty()) return 0;
  const std::int64_t sign = text[0] == '-' ? -1 : 1;
  if (text[0] != '+' && text[0] != '-') return std::nullopt;
  const std::string_view amount = text.substr(1);
  const std::size_t end = std::min(amount.find_first_not_of("0123456789"), amount.size());
  const std::string_view unit = amount.substr(end);
  struct Unit {
    std::string_view name;
    std::int64_t seconds;
  };
  constexpr std::array<Unit, 14> kUnits{{{"sec", 1},
                                         {"secs", 1},
                                         {"min", kMinute},
                                         {"mins", kMinute},
                                         {"second", 1},
                                         {"seconds", 1},
                                         {"minute", kMinute},
                                         {"minutes", kMinute},
                                         {"hour", kHour},
                                         {"hours", kHour},
                                         {"day", kDay},
                                         {"days", kDay},
                                         {"week", 7 * kDay},
                                         {"weeks", 7 * kDay}}};
  for (const Unit& each : kUnits) {
    const auto number = digits(amount.substr(0, end), 1, 9);
    if (unit == each.name && number) return sign * *number * each.seconds;
  }
  const auto duration = parse_duration(amount);
  if (!duration || *duration >= kLongest) return std::nullopt;
  return sign * (duration->count() / 1000);
}

// "friday", "Fri": how many days from now, 1 to 7.
std::optional<int> days_to_weekday(std::string_view text, std::int64_t now) {
  constexpr std::array<std::string_view, 7> kDays{"sunday",   "monday", "tuesday", "wednesday",
                                                  "thursday", "friday", "saturday"};
  const std::string word = lower(text);
  for (int day = 0; day < 7; ++day) {
    const std::string_view name = kDays[static_cast<std::size_t>(day)];
    if (word == name || word == name.substr(0, 3)) return (day - local(now).tm_wday + 6) % 7 + 1;
  }
  return std::nullopt;
}

std::optional<std::int64_t> when_of(std::string_view text, std::int64_t now, bool past) {
  if (text.starts_with("now")) {
    const auto later = after_now(text.substr(3));
    return later ? std::optional(now + *later) : std::nullopt;
  }
  if (text == "today") return on_day(now, 0, 0);
  if (text == "tomorrow") return on_day(now, 1, 0);
  if (text == "yesterday") return on_day(now, -1, 0);
  if (const auto days = days_to_weekday(text, now)) return on_day(now, *days, 0);
  if (text.starts_with('@')) return digits(text.substr(1), 1, 11);
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kHours{
      {{"midnight", 0}, {"elevenses", 11}, {"noon", 12}, {"fika", 15}, {"teatime", 16}}};
  const auto* const hour = std::ranges::find(kHours, text, &std::pair<std::string_view, std::int64_t>::first);
  const auto second = hour != kHours.end() ? std::optional(hour->second * kHour) : time_of_day(text);
  if (!second) return date_and_time(text, now, past);
  const std::int64_t today = on_day(now, 0, *second);
  return today < now && !past ? on_day(now, 1, *second) : today;
}

}  // namespace

Result<std::int64_t> parse_when(std::string_view text, std::int64_t now, bool past) {
  const auto when = when_of(trimmed(text), now, past);
  if (!when || *when < 0 || *when > kFarthest) return no_time(text);
  if (*when > kLastTaken) return fail(rota::quoted(text) + " is too far away; times up to the year 5138 are taken.");
  return *when;
}

std::string time_text(double unix_time) {
  if (!(unix_time >= 0) || unix_time > static_cast<double>(kFarthest)) return "N/A";
  const std::tm date = local(static_cast<std::int64_t>(unix_time));
  std::array<char, 32> out{};
  return {out.data(), std::strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%S", &date)};
}

std::string run_text(double seconds) {
  const auto all = static_cast<std::int64_t>(std::min(std::max(seconds, 0.0), kNoLimit));
  const std::int64_t day = all / kDay, hour = all / kHour % 24, minute = all / kMinute % 60, second = all % 60;
  std::array<char, 48> out{};
  if (day != 0) {
    std::snprintf(out.data(), out.size(), "%lld-%02d:%02d:%02d", static_cast<long long>(day), static_cast<int>(hour),
                  static_cast<int>(minute), static_cast<int>(second));
  } else if (hour != 0) {
    std::snprintf(out.data(), out.size(), "%d:%02d:%02d", static_cast<int>(hour), static_cast<int>(minute),
                  static_cast<int>(second));
  } else {
    std::snprintf(out.data(), out.size(), "%d:%02d", static_cast<int>(minute), static_cast<int>(second));
  }
  return out.data();
}

std::string limit_text(double seconds) { return seconds >= kNoLimit ? "UNLIMITED" : run_text(seconds); }

std::string spoken_time(double seconds) {
  const auto all = static_cast<std::int64_t>(std::min(std::max(seconds, 0.0), kNoLimit));
  const std::array<std::int64_t, 4> parts{all / kDay, all / kHour % 24, all / kMinute % 60, all % 60};
  constexpr std::string_view kUnits = "dhms";
  std::string out;
  int told = 0;
  for (std::size_t i = 0; i < parts.size() && told < 2; ++i) {
    if (parts[i] == 0 && told == 0) continue;
    ++told;
    if (parts[i] != 0) out += std::to_string(parts[i]) + kUnits[i];
  }
  return out.empty() ? "0s" : out;
}

std::string memory_text(double bytes) {
  return bytes >= 0 && bytes < 9e18 ? format_size(static_cast<std::int64_t>(bytes)) : "N/A";
}

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace rota::cli
