#include "policy/knob.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace rota {
namespace {

// With no more decimals than it has, four at most.
std::string short_number(double number) {
  std::string text = std::to_string(std::lround(number * 10'000.0));
  text.insert(0, text.size() < 5 ? 5 - text.size() : 0, '0');
  text.insert(text.size() - 4, ".");
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string_view times_in_words(std::int64_t least) {
  if (least == 0) return "a time such as 20m";
  return least == 1000 ? "a time of a second or more such as 20m" : "a time above 0 such as 20m";
}

// What the range takes, in words; empty where it takes nothing.
std::string in_words(const Range& range) {
  switch (range.of) {
    case Range::Of::nothing:
      return "";
    case Range::Of::whole_numbers:
      return fmt::format("a whole number from {}{}", range.least,
                         range.most == INT64_MAX ? " on" : " to " + std::to_string(range.most));
    case Range::Of::numbers:
      return fmt::format(
          "a number from {} to {}{}", short_number(range.low), short_number(range.high),
          range.decimals == Range::kAsMany ? "" : fmt::format(", with {} at most", amount(range.decimals, "decimal")));
    case Range::Of::times:
      return std::string(times_in_words(range.least));
  }
  return "";
}

std::string bounds(const Range& range) {
  switch (range.of) {
    case Range::Of::nothing:
      return "";
    case Range::Of::whole_numbers:
      return fmt::format("{} ..{}", range.least, range.most == INT64_MAX ? "" : " " + std::to_string(range.most));
    case Range::Of::numbers:
      return fmt::format("{} .. {}", short_number(range.low), short_number(range.high));
    case Range::Of::times:
      return "DURATION";
  }
  return "";
}

// Whether it has no more decimals than the range takes.
bool has_so_few_decimals(const Range& range, double number) {
  if (range.decimals == Range::kAsMany) return true;
  const double steps = number * std::pow(10.0, range.decimals);
  return std::abs(steps - std::round(steps)) < 1e-6;
}

std::unexpected<Error> wrong(const Knob& knob, std::string_view text) {
  std::vector<std::string> takes;
  for (const NamedValue& value : knob.names) takes.emplace_back(value.name);
  if (std::string range = in_words(knob.range); !range.empty()) takes.push_back(std::move(range));
  return fail("policy knob {} is {}, not {}.", knob.name, alternatives(takes), quoted(text));
}

}  // namespace

Result<KnobValue> read_value(const Knob& knob, std::string_view text) {
  for (const NamedValue& value : knob.names) {
    if (text == value.name || (!text.empty() && text == value.alias)) return KnobValue{true, value.stands_for};
  }
  const Range& range = knob.range;
  if (range.of == Range::Of::numbers) {
    const auto number = parse_number(text);
    if (number && *number >= range.low && *number <= range.high && has_so_few_decimals(range, *number)) {
      return KnobValue{.number = *number};
    }
  } else if (range.of == Range::Of::whole_numbers) {
    const auto whole = parse_integer(text);
    if (whole && *whole >= range.least && *whole <= range.most) return KnobValue{.whole = *whole};
  } else if (range.of == Range::Of::times) {
    const auto time = parse_duration(text);
    if (time && time->count() >= range.least && time->count() <= range.most) return KnobValue{.whole = time->count()};
  }
  return wrong(knob, text);
}

std::string values_text(const Knob& knob) {
  std::string all;
  const auto add = [&](std::string_view one) { all += (all.empty() ? "" : " | ") + std::string(one); };
  for (const NamedValue& value : knob.names) add(value.name);
  if (knob.range.of != Range::Of::nothing) add(bounds(knob.range));
  return all;
}

std::string unit_text(const Knob& knob) {
  return knob.range.of == Range::Of::times ? "90, 90s, 10m, 1.5h" : std::string(knob.unit);
}

std::string default_text(const Knob& knob) {
  std::string text(knob.follows.empty() ? std::string(knob.fallback) : "as " + std::string(knob.follows));
  if (knob.other.knob.empty()) return text;
  return fmt::format("{}; with {}={}: {}", text, knob.other.knob, knob.other.value, knob.other.fallback);
}

}  // namespace rota
