// One job's supervisor. See supervisor.h; this is the process after the fork.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "engine/local/attachment.h"
#include "engine/local/children_use.h"
#include "engine/local/claim.h"
#include "engine/local/job_process.h"
#include "engine/local/processes.h"
#include "engine/local/quarters.h"
#include "engine/local/record.h"
#include "process/descriptor.h"

namespace rota::local {

struct Connection {
  process::Descriptor socket;
  std::string text;  // read so far
};

class SupervisorProcess {
 public:
  // In the folder of the engine. `born_with`: the connection to the service that ordered it.
  SupervisorProcess(Order order, Claim claim, Connection born_with, Quarters& quarters);

  // Executes the job, and looks after it until nothing is left of it. The connection on which another order may come;
  // none: no more is to be done.
  Connection run();

 private:
  bool begin();
  void launch();
  void fail_launch(const std::string& sentence, bool again);
  void wait_for_something();
  void read_launch_report();
  void launch_late();
  void take_connections();
  void read(Connection& connection);
  void hear_lines(Connection& connection);
  void hear_attached();
  void hear(const Tell& tell, Connection& from);
  void carry_out(const Tell& tell);
  void read_signals();
  void reap();
  void main_ended(int status);
  bool wait_no_longer();
  void look_at_the_clock();
  void stop(Asked asked, std::int64_t now, bool checkpoint = false);
  void stop_now(std::int64_t now);
  // supervisor_checkpoint.cc
  bool begin_checkpoint(std::int64_t now);
  bool checkpointing() const { return checkpoint_until_ != INT64_MAX; }
  void checkpoint_ended(int status);
  void checkpoint_late(std::int64_t now);
  void forget_checkpoint();
  void suspend();
  void note_phase();
  void keep_phase();
  RunRecord told() const;
  void pause(std::int64_t now);
  void end_pause(std::int64_t now);
  bool is_stopped() const { return record_.phase == RunPhase::suspended || paused_at_ > 0; }
  bool look_at_the_stopped(std::int64_t now);
  bool has_stood();
  void look_again_soon(std::int64_t now);
  void ran_on(std::int64_t now, std::int64_t milliseconds);
  void go_on(const Tell& tell);
  void kill_all();
  std::int64_t next_look() const;
  std::int64_t launch_until() const;  // the latest that it may be executed; INT64_MAX: it has been, or is not
  std::int64_t ran(std::int64_t now) const;
  bool finished() const;
  void finish();
  bool waits_for_more();
  void tell_all();
  void tell_attached();

  Quarters& quarters_;
  const bool small_;  // its order was
  Order order_;
  RunRecord record_;
  process::Descriptor record_file_;
  process::Descriptor listener_;
  process::Descriptor signals_;
  process::Descriptor launch_report_;  // of the child, until it is executed
  std::string launch_text_;            // of it, what is no whole row yet
  LaunchError launch_state_;
  std::list<Connection> connections_;
  ChildrenUse use_;
  Attachment attachment_;
  std::optional<Ahead> ahead_;  // from when it is told to end
  pid_t main_ = 0;
  bool main_over_ = false;
  bool all_over_ = false;      // no child is left
  bool more_to_reap_ = false;  // children that have ended
  bool killed_ = false;        // all of them, once
  bool zombies_left_ = false;  // but those that it cannot wait for, as they are traced
  bool phase_written_ = true;
  std::uint64_t key_before_ = 0;  // of what it was told before that
  bool phase_kept_ = true;        // that it is suspended is in the record, where it is
  bool warned_ = false;
  bool told_to_end_ = false;      // by a SIGTERM from outside, on which it does nothing
  std::int64_t launched_at_ = 0;  // all on the clock of boot_milliseconds()
  std::int64_t since_ = 0;        // since when it counts as running; later by so long as it was paused
  std::int64_t ran_before_ = 0;   // until it was suspended
  std::int64_t kill_at_ = INT64_MAX;
  std::int64_t paused_at_ = 0;      // by a signal from any process, or when it was last seen to be; 0: it is not
  std::int64_t stopped_look_ = 0;   // when it is looked whether it still is
  std::int64_t stood_since_ = 0;    // the latest look, or when it was stopped
  std::int64_t stood_used_ = 0;     // milliseconds of processor time that it had used by then
  std::int64_t left_ = 0;           // of its limit, when it was suspended; INT64_MAX: it has none
  std::int64_t ran_on_ = 0;         // of that, while it was to stand
  pid_t checkpoint_ = 0;            // the command that sees to it, if there is one
  std::int64_t checkpoint_of_ = 0;  // milliseconds that it had run when it was told to write it
  std::int64_t checkpoint_until_ = INT64_MAX;  // what it may take; later: none is being written
};

}  // namespace rota::local
