// One job's supervisor. See supervisor.h; this is the process after the fork.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "engine/local/attachment.h"
#include "engine/local/children_use.h"
#include "engine/local/claim.h"
#include "engine/local/job_process.h"
#include "engine/local/quarters.h"
#include "engine/local/record.h"
#include "engine/local/run_log.h"
#include "engine/local/supervisor_callers.h"
#include "engine/local/supervisor_states.h"
#include "process/descriptor.h"

namespace rota::local {

class SupervisorProcess {
 public:
  // In the folder of the engine. `born_with`: the connection to the service that ordered it.
  SupervisorProcess(Order order, Claim claim, Connection born_with, Quarters& quarters);

  // Executes the job, and looks after it until nothing is left of it. The connection on which another order may come;
  // none: no more is to be done.
  Connection run();

 private:
  // supervisor_process.cc: what happens, one event after the other
  bool begin();
  void make_cgroups();
  void launch();
  void wait_for_something();
  void read_launch_report();
  void hear(const Tell& tell, const Connection& from);
  void hear_attached();
  void carry_out(const Tell& tell);
  void read_signals();
  void reap();
  void look_at_the_clock();
  std::int64_t next_look() const;
  std::int64_t launch_until() const;  // kNoTime: it has been executed, or never will be
  void look_at_the_limit(std::int64_t now);
  void finish();
  bool waits_for_more();
  void tell_all();
  void tell_attached();

  // supervisor_states.cc: each changes the state, and does what belongs to that
  void fail_launch(const std::string& sentence, bool again);
  void executed();
  void stop(Asked asked, std::int64_t now, bool checkpoint = false);
  bool begin_checkpoint(std::int64_t now);
  void end(std::int64_t now);
  void kill(std::int64_t now);
  void pause(std::int64_t now);
  void end_pause(std::int64_t now);
  void suspend(std::int64_t now);
  void go_on(const Tell& tell);
  void look_at_the_stopped(std::int64_t now);
  void checkpoint_ended(int status);
  void checkpoint_is_late(std::int64_t now);
  void main_ended(int status);
  void end_leftovers(std::int64_t now);
  void kill_again(std::int64_t now);
  void nothing_left();

  template <class Kind>
  bool is() const {
    return std::holds_alternative<Kind>(state_);
  }
  template <class Kind>
  Kind* at() {
    return std::get_if<Kind>(&state_);
  }
  bool is_stopped() const { return is<run::Paused>() || is<run::Suspended>(); }
  bool main_over() const { return is<run::Leftovers>() || is<run::Gone>(); }
  void note_phase();

  Quarters& quarters_;
  const bool small_;  // its order was
  Order order_;       // with the limit's end as it is now, on the clock of boot_milliseconds(), as all times here
  RunRecord record_;
  RunLog log_;
  Callers callers_;
  process::Descriptor signals_;
  LaunchReport launch_report_;
  ChildrenUse use_;
  Attachment attachment_;
  pid_t main_ = 0;
  std::int64_t launched_at_ = 0;
  RunState state_;
  RunClock clock_;
  bool warned_ = false;
  bool more_to_reap_ = false;  // children that have ended
  bool told_to_end_ = false;   // by a SIGTERM from outside, on which it does nothing
};

}  // namespace rota::local
