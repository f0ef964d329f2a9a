#include "cli/live/job_state.h"

#include <algorithm>

#include "cli/command.h"
#include "serve/state_words.h"

namespace rota::cli {

std::string state_letters(const std::string& state) {
  const serve::StateWord* const found = serve::state_called(state);
  return found == nullptr ? state.substr(0, 2) : std::string(found->letters);
}

std::string state_named(const std::string& text) {
  const serve::StateWord* const found = serve::state_called(text);
  return found == nullptr ? "" : std::string(found->name);
}

bool has_ended(const std::string& state) {
  const serve::StateWord* const found = serve::state_called(state);
  return found != nullptr && found->ended;
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
