// A knob is one setting of a workload generator. From a model's one table of knobs come the options of the command
// line, their help, the checks, and the line in a generated file that says how to make it again.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace rota::generate {

inline constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();

struct Knob {
  using Value = std::variant<double*, std::int64_t*, Duration*, std::string*>;

  std::string_view name;     // "run-mean" is the option --run-mean
  Value value;               // where it is kept; what is there before it is set is the default
  std::string_view meaning;  // for the help: a phrase with its unit
  double low = 0;            // the range of a number, both ends included; of a duration, in seconds
  double high = 0;
  std::vector<std::string_view> choices = {};  // of a word
  std::string_view unset = {};                 // the word for kUnset in a double; empty where a value is a must
};

using Knobs = std::vector<Knob>;

// Takes a number, a duration (base/text.h), or one of the words. Fails with a sentence that names the option and what
// it takes; the value is then as before.
Result<void> set(const Knob& knob, std::string_view text);

// Fails on the first knob whose value is out of its range.
Result<void> check(const Knobs& knobs);

std::string value_text(const Knob& knob);   // as set() takes it: "0.244", "1h", "modal"
std::string domain_text(const Knob& knob);  // what it takes: "0 to 1", "1s to 2d", "none|exact"

// " --jobs 10000 --seed 1": every knob that is set, in order.
std::string as_options(const Knobs& knobs);

}  // namespace rota::generate
