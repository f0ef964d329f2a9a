// A policy as people write it, read: which knobs it sets, in whatever order, and to what.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "policy/registry.h"

namespace rota {

// A knob that is set, and the text of its value.
struct Setting {
  const Knob* knob = nullptr;
  std::string_view value;
};

// The name of a policy and the knobs behind it, as "easy+candidates=sjf+overrun=grace". Views into the text, or for
// ever.
struct ChainText {
  const PolicyName* policy = nullptr;
  std::vector<Setting> own;  // those that stand behind the name, each once
};

// Fails with a sentence that names the nearest name or knob, or the knob that is set twice.
Result<ChainText> read_chain_text(std::string_view text);

// The text of what a knob is set to, by the rules below; its default where nothing sets it.
std::string_view value_of(const ChainText& text, const Knob& knob);

// What the knobs are set to: those behind the name, else those that the name stands for, else as another knob has it,
// else their defaults. Fails where a value is none, a knob that is set would change nothing, or some do not go
// together.
Result<ChainKnobs> knobs_of(const ChainText& text);

}  // namespace rota
