// The job's own process, between the fork and the program: everything that it is to be is set up here, with the rights
// of the user as soon as those are all that is needed.
#pragma once

#include <array>
#include <csignal>
#include <string>

#include "engine/local/attachment.h"
#include "engine/local/record.h"

namespace rota::local {

// By supervisors; all others are as at the start of a program.
inline constexpr std::array kIgnoredSignals{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2};

// How far it has come, as it comes through the pipe: the latest counts.
struct LaunchError {
  enum class Step : int { setup, user, folder, input, output, error, program };
  static constexpr int kLate = -1;  // none of the system's
  Step step = Step::setup;
  int error = 0;      // that kept it from being executed; 0: it is about to take this step
  bool pipe = false;  // the step is to open one that has a name (a FIFO), which waits for its other end
};

// The supervisor's end of that pipe, which closes when the program is executed.
class LaunchReport {
 public:
  process::Descriptor open();  // gives the other end; none: there is no pipe to be had
  int pipe() const { return pipe_.get(); }
  bool is_open() const { return static_cast<bool>(pipe_); }
  bool is_awaited() const { return is_open() && error_.error == 0; }
  bool read();  // false: it has closed
  void is_late() { error_.error = LaunchError::kLate; }
  const LaunchError& error() const { return error_; }

 private:
  process::Descriptor pipe_;
  std::string text_;  // what is no whole row yet
  LaunchError error_;
};

// Never returns: becomes the job's program, or reports through `report` why it cannot. `parent`: its supervisor.
[[noreturn]] void become_job(const Order& order, int record_file, int report, pid_t parent, const JobStreams& streams);

// Never returns: becomes the command that has the job, whose first process is `main`, write a checkpoint: in the job's
// place, as its user. Whatever keeps it from being executed shows in how it ends.
[[noreturn]] void become_checkpoint(const Order& job, pid_t main, pid_t parent);

// For people, and whether another try can help.
std::string launch_sentence(const LaunchError& error, const RunRequest& run);
bool another_try_helps(const LaunchError& error);

}  // namespace rota::local
