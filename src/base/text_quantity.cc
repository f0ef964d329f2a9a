// Durations and sizes: the parts of base/text.h that deal with units.
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

#include "base/letters.h"
#include "base/text.h"

namespace rota {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

bool digit(char c) { return c >= '0' && c <= '9'; }

bool same_word(std::string_view a, std::string_view upper) {
  if (a.size() != upper.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != upper[i] && a[i] != upper[i] - 'A' + 'a') return false;
  return true;
}

// A decimal number without sign or exponent, exact: doubles would turn 0.1 h into 359,999 ms on some inputs.
struct Decimal {
  std::int64_t whole = 0;
  std::int64_t billionths = 0;
};

// Takes a decimal from the front of text; "too large" is told by whole = -1, nothing there by nullopt.
std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal out;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out.whole);
  if (text.empty() || !digit(text[0])) return std::nullopt;
  if (error == std::errc::result_out_of_range) out.whole = -1;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (text.empty() || text[0] != '.') return out;
  text.remove_prefix(1);
  if (text.empty() || !digit(text[0])) return std::nullopt;
  for (std::int64_t place = 100'000'000; !text.empty() && digit(text[0]); place /= 10) {
    out.billionths += (text[0] - '0') * place;
    text.remove_prefix(1);
  }
  return out;
}

// number * unit added to sum, rounded to the nearest; nullopt above most. unit < 2^33 where a fraction is present.
std::optional<std::int64_t> add(std::int64_t sum, const Decimal& number, std::int64_t unit, std::int64_t most) {
  if (number.whole < 0 || number.whole > (most - sum) / unit) return std::nullopt;
  sum += number.whole * unit;
  const std::int64_t part = unit / 1'000'000'000 * number.billionths +
                            (unit % 1'000'000'000 * number.billionths + 500'000'000) / 1'000'000'000;
  if (part > most - sum) return std::nullopt;
  return sum + part;
}

std::unexpected<Error> not_a_duration(std::string_view text) {
  return fail(quoted(text) + " is not a duration; write it such as 90, 90s, 1.5h, 2d12h, 30:00 or 1-12:00:00.");
}

std::unexpected<Error> too_long(std::string_view text) {
  return fail(quoted(text) + " is too long a duration; the longest is 100,000,000,000 s, or write UNLIMITED.");
}

// "D-HH", "HH:MM:SS" and their kin, as sbatch and sacct write them; the last number may have a fraction where it counts
// seconds. Like sbatch, numbers may be larger than the clock's (0-36:00 is 36 hours).
Result<Duration> parse_clock(std::string_view text) {
  const std::string_view all = text;
  std::int64_t sum = 0;
  const std::size_t dash = text.find_first_of("-d");
  const bool own = dash != std::string_view::npos && text[dash] == 'd';  // "2d 03:04:05", as format_duration writes
  if (dash != std::string_view::npos) {
    std::string_view days = text.substr(0, dash);
    const auto number = take_decimal(days);
    if (!number || !days.empty() || number->billionths != 0) return not_a_duration(all);
    const auto added = add(0, *number, kDay, kLongest.count());
    if (!added) return too_long(all);
    sum = *added;
    text.remove_prefix(dash + 1);
    if (own && text.starts_with(' ')) text.remove_prefix(1);
  }
  const auto pieces = split(text, ':');
  if (pieces.size() > 3 || (own && pieces.size() != 3)) return not_a_duration(all);
  std::int64_t unit = dash != std::string_view::npos || pieces.size() == 3 ? kHour : kMinute;
  for (std::string_view piece : pieces) {
    const auto number = take_decimal(piece);
    if (!number || !piece.empty() || (number->billionths != 0 && unit != kSecond)) return not_a_duration(all);
    const auto added = add(sum, *number, unit, kLongest.count());
    if (!added) return too_long(all);
    sum = *added;
    unit /= 60;
  }
  return Duration{sum};
}

// Milliseconds of the unit that text starts with, taken off it; 0: none. `Alone` allows for none at all: seconds.
std::int64_t take_unit(std::string_view& text) {
  struct Unit {
    std::string_view name;
    std::int64_t milliseconds;
  };
  static constexpr std::array<Unit, 6> units{
      {{"ms", 1}, {"s", kSecond}, {"m", kMinute}, {"h", kHour}, {"d", kDay}, {"w", 7 * kDay}}};
  for (const Unit& unit : units) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    return unit.milliseconds;
  }
  return 0;
}

std::string clock_text(std::int64_t ms, bool hours) {
  std::array<char, 32> out{};
  const int h = static_cast<int>(ms / kHour % 24), m = static_cast<int>(ms / kMinute % 60);
  const int s = static_cast<int>(ms / kSecond % 60), rest = static_cast<int>(ms % kSecond);
  std::string text;
  if (hours) {
    std::snprintf(out.data(), out.size(), "%02d:", h);
    text += out.data();
  }
  std::snprintf(out.data(), out.size(), "%02d:%02d", m, s);
  text += out.data();
  if (rest != 0) {
    std::snprintf(out.data(), out.size(), ".%03d", rest);
    text += out.data();
  }
  return text;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  if (same_word(text, "UNLIMITED") || same_word(text, "INFINITE")) return kLongest;
  if (text.find(':') != std::string_view::npos || text.find('-', 1) != std::string_view::npos) return parse_clock(text);
  std::string_view rest = text;
  std::int64_t sum = 0;
  std::int64_t last = INT64_MAX;  // units must fall: 1h30m, not 30m1h and not 1h1h
  do {
    const bool first = rest.size() == text.size();
    const auto number = take_decimal(rest);
    if (!number) return not_a_duration(text);
    const std::int64_t unit = first && rest.empty() ? kSecond : take_unit(rest);
    if (unit == 0 || unit >= last) return not_a_duration(text);
    last = unit;
    const auto added = add(sum, *number, unit, kLongest.count());
    if (!added) return too_long(text);
    sum = *added;
  } while (!rest.empty());
  return Duration{sum};
}

std::string format_duration(Duration d) {
  const std::uint64_t size =
      d.count() < 0 ? 0 - static_cast<std::uint64_t>(d.count()) : static_cast<std::uint64_t>(d.count());
  const std::uint64_t days = size / static_cast<std::uint64_t>(kDay);
  const auto rest = static_cast<std::int64_t>(size % static_cast<std::uint64_t>(kDay));
  std::string out = d.count() < 0 ? "-" : "";
  if (days != 0) out += std::to_string(days) + "d ";
  return out + clock_text(rest, days != 0 || rest >= kHour);
}

Result<std::int64_t> parse_size(std::string_view text) {
  const auto wrong = [&] {
    return fail(quoted(text) + " is not a size; write it such as 4096, 64K, 2.5G or 1T (bytes).");
  };
  std::string_view rest = text;
  const auto number = take_decimal(rest);
  if (!number) return wrong();
  constexpr std::string_view letters = "KMGTPE";
  std::int64_t unit = 1;
  if (!rest.empty()) {
    const std::size_t power = letters.find(upper(rest[0]));
    if (power != std::string_view::npos) {
      unit = std::int64_t{1} << (10 * (power + 1));
      rest.remove_prefix(1);
      if (rest.starts_with("iB")) rest.remove_prefix(1);
    }
    if (rest == "B" || rest == "b") rest = {};
  }
  if (!rest.empty()) return wrong();
  const auto bytes = add(0, *number, unit, INT64_MAX);
  if (!bytes) return fail(quoted(text) + " is too large a size; the largest is 8 EiB less one byte.");
  return *bytes;
}

std::string format_size(std::int64_t bytes) {
  constexpr std::string_view letters = "KMGTPE";
  const std::uint64_t size = bytes < 0 ? 0 - static_cast<std::uint64_t>(bytes) : static_cast<std::uint64_t>(bytes);
  std::string out = bytes < 0 ? "-" : "";
  std::size_t power = 0;
  while (power < letters.size() && size >> (10 * (power + 1)) != 0) ++power;
  if (power == 0) return out + std::to_string(size);
  const std::uint64_t unit = std::uint64_t{1} << (10 * power);
  const std::uint64_t rest = size % unit;
  const std::uint64_t tenth = rest / (unit / 1024) * 10 / 1024;  // cut, not rounded: 1023.99K must not read 1024K
  out += std::to_string(size / unit);
  if (tenth != 0) out += "." + std::to_string(tenth);
  return out + letters[power - 1];
}

}  // namespace rota
