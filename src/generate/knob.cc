#include "generate/knob.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace rota::generate {
namespace {

template <class... F>
struct Overload : F... {
  using F::operator()...;
};

std::string number_text(double value) {
  if (value == std::trunc(value) && std::abs(value) < 1e16) return std::to_string(static_cast<std::int64_t>(value));
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

// In the greatest unit that needs no fraction: 5400 s is "90m".
std::string duration_text(Duration value) {
  struct Unit {
    std::int64_t milliseconds;
    const char* name;
  };
  static constexpr std::array<Unit, 4> kUnits{{{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1000, "s"}}};
  for (const Unit& unit : kUnits) {
    if (value.count() % unit.milliseconds == 0 && value.count() >= unit.milliseconds) {
      return std::to_string(value.count() / unit.milliseconds) + unit.name;
    }
  }
  return std::to_string(value.count()) + "ms";
}

Duration as_duration(double seconds) { return Duration{std::llround(seconds * 1000.0)}; }

bool in_range(const Knob& knob) {
  const auto within = [&](double value) { return value >= knob.low && value <= knob.high; };
  return std::visit(
      Overload{[&](const double* value) { return within(*value) || (std::isnan(*value) && !knob.unset.empty()); },
               [&](const std::int64_t* value) { return within(static_cast<double>(*value)); },
               [&](const Duration* value) { return within(to_seconds(*value)); },
               [&](const std::string* value) { return std::ranges::find(knob.choices, *value) != knob.choices.end(); }},
      knob.value);
}

std::unexpected<Error> refuse(const Knob& knob, std::string_view text) {
  return fail("--{} takes {}, not {}.", knob.name, domain_text(knob), quoted(text));
}

// Reads the text into the place, keeps it only if it is in range.
template <class T>
Result<void> assign(const Knob& knob, T* place, const Result<T>& read, std::string_view text) {
  if (!read) return refuse(knob, text);
  const T before = *place;
  *place = *read;
  if (in_range(knob)) return {};
  *place = before;
  return refuse(knob, text);
}

Result<double> number_or_unset(const Knob& knob, std::string_view text) {
  if (!knob.unset.empty() && text == knob.unset) return kUnset;
  return parse_number(text);
}

}  // namespace

Result<void> set(const Knob& knob, std::string_view text) {
  return std::visit(
      Overload{[&](double* place) { return assign(knob, place, number_or_unset(knob, text), text); },
               [&](std::int64_t* place) { return assign(knob, place, parse_integer(text), text); },
               [&](Duration* place) { return assign(knob, place, parse_duration(text), text); },
               [&](std::string* place) { return assign(knob, place, Result<std::string>(std::string(text)), text); }},
      knob.value);
}

Result<void> check(const Knobs& knobs) {
  for (const Knob& knob : knobs) {
    if (!in_range(knob)) return refuse(knob, value_text(knob));
  }
  return {};
}

std::string value_text(const Knob& knob) {
  return std::visit(
      Overload{[&](const double* value) { return std::isnan(*value) ? std::string(knob.unset) : number_text(*value); },
               [](const std::int64_t* value) { return std::to_string(*value); },
               [](const Duration* value) { return duration_text(*value); },
               [](const std::string* value) { return *value; }},
      knob.value);
}

std::string domain_text(const Knob& knob) {
  if (std::holds_alternative<std::string*>(knob.value)) {
    std::string words;
    for (const std::string_view choice : knob.choices) words += (words.empty() ? "" : "|") + std::string(choice);
    return words;
  }
  const bool duration = std::holds_alternative<Duration*>(knob.value);
  const auto end = [&](double value) { return duration ? duration_text(as_duration(value)) : number_text(value); };
  const std::string unset = knob.unset.empty() ? "" : ", or " + std::string(knob.unset);
  return fmt::format("{} to {}{}", end(knob.low), end(knob.high), unset);
}

std::string as_options(const Knobs& knobs) {
  std::string options;
  for (const Knob& knob : knobs) {
    const auto* number = std::get_if<double*>(&knob.value);
    if (number != nullptr && std::isnan(**number)) continue;
    options += fmt::format(" --{} {}", knob.name, value_text(knob));
  }
  return options;
}

}  // namespace rota::generate
