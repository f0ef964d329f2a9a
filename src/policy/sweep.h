// One text that stands for several policies: "easy+depth=1..16" for sixteen, "easy+depth=1|2|all" for three. Where two
// knobs have several values, every one of the first goes with every one of the second.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policy/knob.h"

namespace rota {

inline constexpr std::size_t kMostSwept = 200;  // policies that one text may stand for

// The values that a text names for a knob, as they are written behind it: "1|2|4", "1..16", with a step
// "10s..60s..10s", and both together "1..4|all". A range of times or decimals needs a step. Fails with a sentence.
Result<std::vector<std::string>> swept_values(const Knob& knob, std::string_view text);

// The policies that a text stands for, the values of its last knob changing fastest; a text without a sweep stands for
// itself, whatever it is. Fails with a sentence, also where there would be more than kMostSwept.
Result<std::vector<std::string>> swept_policies(std::string_view text);

// A value of a knob as it is written behind it: "30s", "1.5", "8".
std::string written_value(const Knob& knob, const KnobValue& value);

}  // namespace rota
