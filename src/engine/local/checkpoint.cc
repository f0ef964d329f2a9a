#include <fmt/core.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "engine/local/job_process.h"
#include "engine/local/supervisor_states.h"

namespace rota::local {

std::optional<Checkpoint> Checkpoint::begin(const Order& order, pid_t main, std::int64_t ran, RunRecord& record) {
  const RunRequest& run = order.run;
  if (run.checkpoint_signal == 0 && run.checkpoint.empty()) return std::nullopt;
  Checkpoint checkpoint;
  checkpoint.ran_ = ran;
  if (run.checkpoint_signal > 0) {
    signal_children(run.checkpoint_signal);
    return checkpoint;
  }
  const pid_t parent = ::getpid();
  checkpoint.command_ = ::fork();
  if (checkpoint.command_ == 0) become_checkpoint(order, main, parent);
  if (checkpoint.command_ > 0) return checkpoint;
  record.sentence = fmt::format("No process could be made for its checkpoint: {}.", std::strerror(errno));
  return std::nullopt;
}

void Checkpoint::command_ended(int status, RunRecord& record) const {
  if (status == 0) {
    record.kept = ran_;
  } else {
    record.sentence = fmt::format("Its checkpoint command {}.",
                                  WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                                                      : "ended with " + std::to_string(WEXITSTATUS(status)));
  }
}

void Checkpoint::main_ended(int status, RunRecord& record) const {
  if (command_ > 0) {
    record.asked = Asked::nothing;  // it was not told to stop yet: it has ended by itself
  } else if (WIFEXITED(status)) {
    record.kept = ran_;  // that is how it obeys the signal, unless it died of it
  }
}

// After a signal the time is all that tells: it had that to write it.
void Checkpoint::time_is_up(RunRecord& record) const {
  if (command_ > 0) {
    record.sentence = "Its checkpoint command did not end in time and was killed.";
  } else {
    record.kept = ran_;
  }
}

void Checkpoint::end() const {
  if (command_ <= 0) return;
  ::kill(command_, SIGKILL);
  ::kill(-command_, SIGKILL);  // as soon as it has a process group of its own
}

}  // namespace rota::local
