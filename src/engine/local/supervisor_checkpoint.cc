// A job writes down how far it is before it is stopped to go on elsewhere or later: by a signal, or by a command of its
// user's.
#include <fmt/core.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "engine/local/job_process.h"
#include "engine/local/supervisor_process.h"
#include "process/clock.h"

namespace rota::local {

using process::boot_milliseconds;

// False: it has no way to, or none that works.
bool SupervisorProcess::begin_checkpoint(std::int64_t now) {
  const RunRequest& run = order_.run;
  if (main_over_ || record_.phase != RunPhase::runs) return false;
  if (run.checkpoint_signal == 0 && run.checkpoint.empty()) return false;
  if (run.checkpoint_signal > 0) {
    signal_children(run.checkpoint_signal);
  } else {
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) become_checkpoint(order_, main_, parent);
    if (child < 0) {
      record_.sentence = fmt::format("No process could be made for its checkpoint: {}.", std::strerror(errno));
      return false;
    }
    checkpoint_ = child;
  }
  checkpoint_of_ = ran(now);  // what it does while that is written may not be in it
  end_pause(now);
  signal_children(SIGCONT);  // where its user has stopped it, it could not write one
  checkpoint_until_ =
      std::min(now + run.checkpoint_time.count(), order_.claim.deadline);  // else there would be no limit
  return true;
}

// The command, by itself.
void SupervisorProcess::checkpoint_ended(int status) {
  const std::int64_t now = boot_milliseconds();
  if (status == 0) {
    record_.kept = checkpoint_of_;
  } else {
    record_.sentence = fmt::format("Its checkpoint command {}.",
                                   WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                                                       : "ended with " + std::to_string(WEXITSTATUS(status)));
  }
  checkpoint_ = 0;
  forget_checkpoint();
  if (!main_over_) stop_now(now);
}

// After a signal the time is all that tells: it had that to write it.
void SupervisorProcess::checkpoint_late(std::int64_t now) {
  if (checkpoint_ == 0) {
    record_.kept = checkpoint_of_;
  } else {
    record_.sentence = "Its checkpoint command did not end in time and was killed.";
  }
  forget_checkpoint();
  if (!main_over_) stop_now(now);
}

void SupervisorProcess::forget_checkpoint() {
  if (checkpoint_ > 0) {
    ::kill(checkpoint_, SIGKILL);
    ::kill(-checkpoint_, SIGKILL);  // as soon as it has a process group of its own
  }
  checkpoint_ = 0;
  checkpoint_until_ = INT64_MAX;
}

}  // namespace rota::local
