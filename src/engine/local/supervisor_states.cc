// All changes of what a job is at (supervisor_states.h).
#include "engine/local/supervisor_states.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "engine/local/cgroups.h"
#include "engine/local/supervisor_process.h"
#include "process/clock.h"
#include "process/process_table.h"

namespace rota::local {

using process::boot_milliseconds;
using process::look_at;
using process::unix_milliseconds;

namespace {

constexpr std::int64_t kKillAgain = 20;        // milliseconds, until all that was killed is gone
constexpr std::int64_t kLeftoverGrace = 1000;  // for what a job leaves behind

void pin(pid_t pid, const std::vector<std::uint32_t>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::uint32_t core : cores) CPU_SET(core, &set);
  ::sched_setaffinity(pid, sizeof(set), &set);
}

}  // namespace

void SupervisorProcess::fail_launch(const std::string& sentence, bool again) {
  record_.phase = RunPhase::failed;
  record_.sentence = sentence;
  record_.again = again;
  if (main_ == 0) state_ = run::Gone{};  // else it has yet to be waited for
}

void SupervisorProcess::executed() {
  record_.phase = RunPhase::runs;
  record_.paused = 0;
  record_.pid = main_;
  if (is<run::Launching>()) state_ = run::Running{};  // else it was told to end meanwhile, or has ended
  tell_all();
}

void SupervisorProcess::stop(Asked asked, std::int64_t now, bool checkpoint) {
  if (record_.asked == Asked::limit && asked != Asked::cancel) return;  // it is not to have another turn
  const bool first = record_.asked == Asked::nothing;
  record_.asked = asked;
  const auto* writes = at<run::Checkpointing>();
  if (writes && checkpoint) return;
  if (writes) {  // it is cancelled, say, while it writes one
    writes->checkpoint.end();
  } else if (!first || is<run::Ending>() || (checkpoint && begin_checkpoint(now))) {
    return;
  }
  end(now);
  if (asked == Asked::limit) tell_all();
}

// False: the job has no way to write one.
bool SupervisorProcess::begin_checkpoint(std::int64_t now) {
  if (!is<run::Running>() && !is<run::Paused>()) return false;
  const auto checkpoint = Checkpoint::begin(order_, main_, clock_.ran(now), record_);
  if (!checkpoint) return false;
  end_pause(now);
  signal_children(SIGCONT);  // where its user has stopped it, it could not write one
  const std::int64_t until = now + order_.run.checkpoint_time.count();
  state_ = run::Checkpointing{*checkpoint, std::min(until, order_.claim.deadline)};  // else there would be no limit
  return true;
}

void SupervisorProcess::end(std::int64_t now) {
  record_.ran = clock_.ran(now);
  state_ = run::Ending{now + order_.run.kill_wait.count(), std::make_unique<Ahead>()};
  signal_children(record_.asked == Asked::hangup ? SIGHUP : SIGTERM);
  signal_children(SIGCONT);  // where it was stopped it could not obey
  tell_attached();
}

void SupervisorProcess::kill(std::int64_t now) {
  if (const auto* writes = at<run::Checkpointing>()) writes->checkpoint.end();
  if (!main_over() && !is<run::Ending>()) state_ = run::Ending{};
  kill_again(now);
}

void SupervisorProcess::kill_again(std::int64_t now) {
  kill_children();
  if (auto* ending = at<run::Ending>()) ending->kill_at = now + kKillAgain;
  if (auto* left = at<run::Leftovers>()) left->kill_at = now + kKillAgain;
}

// Its limit does not run meanwhile.
void SupervisorProcess::pause(std::int64_t now) {
  stop_children();
  if (!is<run::Running>()) return;
  clock_.stop(now);
  state_ = run::Paused{now};
}

void SupervisorProcess::end_pause(std::int64_t now) {
  const auto* paused = at<run::Paused>();
  if (!paused) return;
  if (order_.claim.deadline != kNoTime) order_.claim.deadline += now - paused->since;
  clock_.start(now);
  state_ = run::Running{};
}

void SupervisorProcess::suspend(std::int64_t now) {
  end_pause(now);
  if (!is<run::Running>()) return;
  stop_children();
  clock_.stop(now);
  state_ = run::Suspended{now};
  record_.phase = RunPhase::suspended;
  note_phase();
  tell_attached();
}

void SupervisorProcess::go_on(const Tell& tell) {
  const auto* suspended = at<run::Suspended>();
  if (!suspended) return;
  const std::int64_t now = boot_milliseconds();
  record_.dispatch = tell.dispatch;
  record_.cores = tell.cores;
  order_.claim.deadline = tell.deadline == kNoTime ? kNoTime : tell.deadline - suspended->ran_on;
  warned_ = false;
  for (const std::string& cgroup : record_.cgroups) set_cores(cgroup, tell.cores);
  if (!tell.cores.empty()) {
    for (const pid_t pid : descendants(::getpid())) pin(pid, tell.cores);
  }
  record_.used_in += clock_.ran(now);
  clock_ = {};
  clock_.start(std::min(tell.since, now));
  state_ = run::Running{};
  record_.phase = RunPhase::runs;
  note_phase();  // before it does anything
  signal_children(SIGCONT);
  tell_attached();
}

// A user can let a stopped job go on by a signal: it is stopped again, and its limit has run meanwhile.
void SupervisorProcess::look_at_the_stopped(std::int64_t now) {
  auto* suspended = at<run::Suspended>();
  std::int64_t& since = suspended ? suspended->since : at<run::Paused>()->since;
  const std::int64_t past = now - std::exchange(since, now);
  if (all_stopped(::getpid())) {
    if (order_.claim.deadline != kNoTime) order_.claim.deadline += past;
  } else {
    stop_children();
    clock_.add(past);
    if (suspended) suspended->ran_on += past;
  }
  if (suspended && log_.note_again(record_, order_.engine_folder)) tell_all();
}

void SupervisorProcess::checkpoint_ended(int status) {
  const auto* writes = at<run::Checkpointing>();
  writes->checkpoint.command_ended(status, record_);
  end(boot_milliseconds());
}

void SupervisorProcess::checkpoint_is_late(std::int64_t now) {
  const auto* writes = at<run::Checkpointing>();
  writes->checkpoint.time_is_up(record_);
  writes->checkpoint.end();
  end(now);
}

void SupervisorProcess::main_ended(int status) {
  const std::int64_t now = boot_milliseconds();
  clock_.stop(now);
  record_.ran = clock_.ran(now);
  record_.ended = unix_milliseconds();
  record_.status = status;
  if (const auto* writes = at<run::Checkpointing>()) {
    writes->checkpoint.main_ended(status, record_);
    writes->checkpoint.end();
  }
  auto* ending = at<run::Ending>();
  state_ = ending ? run::Leftovers{ending->kill_at, std::move(ending->ahead)} : run::Leftovers{};
}

// What the job leaves behind must not go on.
void SupervisorProcess::end_leftovers(std::int64_t now) {
  auto* left = at<run::Leftovers>();
  if (!left || left->kill_at != kNoTime) return;
  left->kill_at = now + kLeftoverGrace;
  signal_children(SIGTERM);
  signal_children(SIGCONT);
}

void SupervisorProcess::nothing_left() { state_ = run::Gone{}; }

}  // namespace rota::local
