#include "cli/job_state.h"

#include <algorithm>
#include <array>

#include "base/letters.h"
#include "base/text.h"
#include "cli/command.h"

namespace rota::cli {
namespace {

struct State {
  std::string_view letters;
  std::string_view name;
  bool ended = false;
};

constexpr std::array<State, 14> kStates{{{"PD", "PENDING"},
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

std::string state_letters(const std::string& state) {
  const auto* found = std::ranges::find(kStates, state, &State::name);
  return found == kStates.end() ? state.substr(0, 2) : std::string(found->letters);
}

std::string state_named(const std::string& text) {
  const std::string large = upper(text);
  for (const State& state : kStates) {
    if (large == state.letters || large == state.name) return std::string(state.name);
  }
  return "";
}

bool has_ended(const std::string& state) {
  const auto* found = std::ranges::find(kStates, state, &State::name);
  return found != kStates.end() && found->ended;
}

int exit_code_of(const Json& job) {
  constexpr int kSignals = 128;
  const int code = static_cast<int>(std::clamp(number_of(job, "exit_code"), 0.0, 255.0));
  const int signal = static_cast<int>(std::clamp(number_of(job, "signal"), 0.0, 127.0));
  if (signal != 0) return kSignals + signal;
  if (code != 0) return code;
  return text_of(job, "state") == "COMPLETED" ? kDone : kFailed;
}

}  // namespace rota::cli
