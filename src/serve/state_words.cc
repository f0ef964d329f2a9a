#include "serve/state_words.h"

#include <algorithm>
#include <array>

#include "base/letters.h"
#include "base/text.h"

namespace rota::serve {
namespace {

constexpr std::array<StateWord, 14> kStates{{{"PD", "PENDING"},
                                             {"CF", "CONFIGURING"},
                                             {"R", "RUNNING"},
                                             {"S", "SUSPENDED"},
                                             {"CG", "COMPLETING"},
                                             {"CD", "COMPLETED", true},
                                             {"F", "FAILED", true},
                                             {"CA", "CANCELLED", true},
                                             {"TO", "TIMEOUT", true},
                                             {"NF", "NODE_FAIL", true},
                                             {"OOM", "OUT_OF_MEMORY", true},
                                             {"PR", "PREEMPTED", true},
                                             {"BF", "BOOT_FAIL", true},
                                             {"DL", "DEADLINE", true}}};

}  // namespace

const StateWord* state_called(std::string_view text) {
  const std::string large = upper(text);
  const auto* found =
      std::ranges::find_if(kStates, [&](const StateWord& s) { return large == s.letters || large == s.name; });
  return found == kStates.end() ? nullptr : found;
}

std::string no_state(std::string_view text) {
  return rota::quoted(text) +
         " is no state of a job; write one such as PENDING, RUNNING, COMPLETED or FAILED, or its letters, as PD.";
}

}  // namespace rota::serve
