// What people call the states of jobs.
#pragma once

#include <string>
#include <string_view>

namespace rota::serve {

struct StateWord {
  std::string_view letters;  // as squeue has them
  std::string_view name;
  bool ended = false;
};

// By its letters or its name, in capitals or not; nullptr: no state is called so.
const StateWord* state_called(std::string_view text);

// What is wrong with a text that is no state: a sentence.
std::string no_state(std::string_view text);

}  // namespace rota::serve
