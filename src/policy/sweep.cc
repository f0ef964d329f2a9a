#include "policy/sweep.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "policy/registry.h"

namespace rota {
namespace {

constexpr std::string_view kRange = "..";
constexpr double kSteps = 10'000;  // four decimals of a number

bool is_swept(std::string_view value) { return value.contains('|') || value.contains(kRange); }

std::string written_time(std::int64_t milliseconds) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 4> kUnits{
      {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1000, "s"}}};
  for (const auto& [size, unit] : kUnits)
    if (milliseconds > 0 && milliseconds % size == 0) return fmt::format("{}{}", milliseconds / size, unit);
  return milliseconds == 0 ? "0" : fmt::format("{}ms", milliseconds);
}

// Whole numbers, milliseconds, or ten-thousandths: what a range is counted in.
std::int64_t counted(const Knob& knob, const KnobValue& value) {
  return knob.range.of == Range::Of::numbers ? std::llround(value.number * kSteps) : value.whole;
}
KnobValue value_of_count(const Knob& knob, std::int64_t count) {
  if (knob.range.of == Range::Of::numbers) return {.number = static_cast<double>(count) / kSteps};
  return {.whole = count};
}

Result<std::int64_t> end_of_range(const Knob& knob, std::string_view range, std::string_view text) {
  const auto value = TRY(read_value(knob, text));
  if (!value.named) return counted(knob, value);
  return fail(
      "policy knob {}: the range {} goes from one number to another, and {} is none. Put the word beside it, as in "
      "1..4|{}.",
      knob.name, quoted(range), quoted(text), text);
}

// Steps are counted as the knob counts, and may be smaller than any value that it takes.
Result<std::int64_t> step_of(const Knob& knob, std::string_view range, std::string_view text) {
  if (text.empty() && knob.range.of == Range::Of::whole_numbers) return 1;
  std::int64_t step = 0;
  if (knob.range.of == Range::Of::times) {
    if (const auto time = parse_duration(text)) step = time->count();
  } else if (const auto number = parse_number(text)) {
    step = std::llround(*number * (knob.range.of == Range::Of::numbers ? kSteps : 1));
  }
  if (step > 0) return step;
  return fail("policy knob {}: the range {} needs a step above 0 behind it, as in {}.", knob.name, quoted(range),
              knob.range.of == Range::Of::times     ? "10s..60s..10s"
              : knob.range.of == Range::Of::numbers ? "1..2..0.25"
                                                    : "1..16..5");
}

std::unexpected<Error> too_many(std::string_view what) {
  return fail("{} stands for more than {} policies. Name fewer values, or a step, as in depth=1..1000..50.",
              quoted(what), kMostSwept);
}

Result<void> add_range(const Knob& knob, std::string_view range, std::vector<std::string>& values) {
  if (knob.range.of == Range::Of::nothing)
    return fail("policy knob {} takes words, of which there is no range. Put | between them.", knob.name);
  const std::size_t first_end = range.find(kRange);
  const std::string_view rest = range.substr(first_end + kRange.size());
  const std::size_t second_end = std::min(rest.find(kRange), rest.size());
  const std::string_view step_text =
      second_end < rest.size() ? rest.substr(second_end + kRange.size()) : std::string_view{};
  const auto low = TRY(end_of_range(knob, range, range.substr(0, first_end)));
  const auto high = TRY(end_of_range(knob, range, rest.substr(0, second_end)));
  const auto step = TRY(step_of(knob, range, step_text));
  if (high < low)
    return fail("policy knob {}: the range {} ends below its beginning. Turn it round.", knob.name, quoted(range));
  if ((high - low) / step >= static_cast<std::int64_t>(kMostSwept))
    return too_many(fmt::format("{}={}", knob.name, range));
  for (std::int64_t count = low; count <= high; count += step)
    values.push_back(written_value(knob, value_of_count(knob, count)));
  return {};
}

}  // namespace

std::string written_value(const Knob& knob, const KnobValue& value) {
  if (value.named) {
    const auto named = std::ranges::find(knob.names, value.whole, &NamedValue::stands_for);
    if (named != knob.names.end()) return std::string(named->name);
  }
  switch (knob.range.of) {
    case Range::Of::times:
      return written_time(value.whole);
    case Range::Of::numbers:
      return fmt::format("{}", value.number);
    case Range::Of::nothing:
    case Range::Of::whole_numbers:
      break;
  }
  return std::to_string(value.whole);
}

Result<std::vector<std::string>> swept_values(const Knob& knob, std::string_view text) {
  std::vector<std::string> values;
  for (const std::string_view part : split(text, '|')) {
    if (part.contains(kRange)) {
      TRY(add_range(knob, part, values));
    } else {
      TRY(read_value(knob, part));
      values.emplace_back(part);
    }
  }
  return values;
}

Result<std::vector<std::string>> swept_policies(std::string_view text) {
  std::vector<std::string> all{""};
  for (const std::string_view part : split(text, '+')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view value = part.substr(std::min(equals + 1, part.size()));
    const Knob* const knob = is_swept(value) ? knob_named(part.substr(0, equals)) : nullptr;
    std::vector<std::string> pieces{std::string(part)};
    if (knob != nullptr) {
      pieces = TRY(swept_values(*knob, value));
      for (std::string& piece : pieces) piece.insert(0, part.substr(0, equals + 1));
    }
    if (all.size() * pieces.size() > kMostSwept) return too_many(text);
    const bool first = part.data() == text.data();
    std::vector<std::string> longer;
    for (const std::string& begun : all)
      for (const std::string& piece : pieces) longer.push_back(first ? piece : fmt::format("{}+{}", begun, piece));
    all = std::move(longer);
  }
  return all;
}

}  // namespace rota
