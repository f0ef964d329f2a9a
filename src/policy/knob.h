// A knob of a policy, as its mechanism declares it: what it takes, what it means, and where its value goes. The parser,
// `rota policies`, the manual and completion read nothing else.
#pragma once

#include <climits>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "policy/chain_knobs.h"

namespace rota {

// A value that is written as a word, and what it stands for: an enumerator, no or yes, or a number.
struct NamedValue {
  std::string_view name = {};
  std::int64_t stands_for = 0;
  std::string_view alias = {};  // also read, never written

  constexpr NamedValue() = default;
  constexpr NamedValue(std::string_view word, std::int64_t number) : name(word), stands_for(number) {}
  template <class Choice>
    requires std::is_enum_v<Choice>
  constexpr NamedValue(std::string_view word, Choice choice, std::string_view also = {})
      : name(word), stands_for(static_cast<std::int64_t>(choice)), alias(also) {}
};
inline constexpr NamedValue kYesOrNo[]{{"yes", 1}, {"no", 0}};

// What a knob takes beside words.
struct Range {
  enum class Of : std::uint8_t { nothing, whole_numbers, numbers, times };
  Of of = Of::nothing;
  std::int64_t least = 0;  // times: in milliseconds, up to kLongest
  std::int64_t most = 0;
  double low = 0;  // numbers; the bounds have four decimals at most
  double high = 0;
  int decimals = kAsMany;  // numbers: so many are taken at most

  static constexpr int kAsMany = INT_MAX;  // as a user may write

  static constexpr Range whole(std::int64_t least, std::int64_t most) { return {Of::whole_numbers, least, most}; }
  static constexpr Range number(double low, double high) { return {Of::numbers, 0, 0, low, high}; }
  static constexpr Range hundredths(double low, double high) { return {Of::numbers, 0, 0, low, high, 2}; }
  static constexpr Range time(Duration least = Duration{0}) { return {Of::times, least.count(), kLongest.count()}; }
};

// A value that has been read and is within its range.
struct KnobValue {
  bool named = false;      // it was a word
  std::int64_t whole = 0;  // what the word stands for, or the number, or milliseconds
  double number = 0;
};

// The default where another knob has a certain value.
struct OtherDefault {
  std::string_view knob;
  std::string_view value;
  std::string_view fallback;
};

struct Knob {
  std::string_view name = {};
  std::span<const NamedValue> names = {};
  Range range = {};
  std::string_view fallback = {};  // the default: a value, or in words what holds where none is set
  OtherDefault other = {};
  std::string_view follows = {};  // the knob whose value it has where it is not set itself
  std::string_view unit = {};     // of a number
  std::string_view meaning = {};
  std::string_view source = {};
  void (*set)(ChainKnobs&, const KnobValue&) = nullptr;
  // Why it would change nothing among these; empty: it matters.
  std::string_view (*idle)(const ChainKnobs&) = nullptr;
};

// Fails with a sentence that says what the knob takes.
Result<KnobValue> read_value(const Knob& knob, std::string_view text);

// For people: "0 .. 100000 | all (jobs)" without and with its unit, "20m; with auction=announced: 30s".
std::string values_text(const Knob& knob);
std::string unit_text(const Knob& knob);
std::string default_text(const Knob& knob);

// Sets the member that the path leads to.
template <auto... Path>
void put(ChainKnobs& knobs, const KnobValue& value) {
  auto& field = (knobs.*....*Path);
  using Field = std::remove_reference_t<decltype(field)>;
  if constexpr (std::is_same_v<Field, Duration>) {
    field = Duration{value.whole};
  } else if constexpr (std::is_floating_point_v<Field>) {
    field = value.number;
  } else {
    field = static_cast<Field>(value.whole);
  }
}

// Puts a value into a member that counts hundredths; its range is one of hundredths.
template <auto... Path>
void put_hundredths(ChainKnobs& knobs, const KnobValue& value) {
  auto& field = (knobs.*....*Path);
  field = static_cast<std::remove_reference_t<decltype(field)>>(std::lround(value.number * 100.0));
}

}  // namespace rota
