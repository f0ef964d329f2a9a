// How a run comes to its end: its processes are waited for, and what became of it is written down and told.
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <span>

#include "base/words.h"
#include "engine/local/cgroups.h"
#include "engine/local/supervisor_process.h"
#include "engine/local/system_state.h"
#include "process/clock.h"
#include "process/descriptor.h"
#include "process/process_table.h"

namespace rota::local {

using process::add_line;
using process::boot_milliseconds;
using process::look_at;
using process::unix_milliseconds;

namespace {

constexpr std::int64_t kLeftoverGrace = 1000;  // milliseconds, for what a job leaves behind

// By its own doing or that of a shell above it.
bool ended_by_sigterm(int status) {
  constexpr int kShellSays = 128 + SIGTERM;
  return WIFSIGNALED(status) ? WTERMSIG(status) == SIGTERM : WEXITSTATUS(status) == kShellSays;
}

}  // namespace

void SupervisorProcess::read_signals() {
  std::array<signalfd_siginfo, 8> news{};
  for (ssize_t got = 0; (got = ::read(signals_.get(), news.data(), sizeof(news))) > 0;) {
    const auto count = static_cast<std::size_t>(got) / sizeof(signalfd_siginfo);
    told_to_end_ = told_to_end_ || std::ranges::any_of(std::span(news).first(count),
                                                       [](const auto& one) { return one.ssi_signo == SIGTERM; });
  }
}

void SupervisorProcess::reap() {
  read_signals();
  constexpr int kMostAtOnce = 1000;  // children may end as fast as they are waited for
  more_to_reap_ = true;
  for (int count = 0; more_to_reap_ && count < kMostAtOnce; ++count) {
    int status = 0;
    rusage used{};
    const pid_t pid = ::wait4(-1, &status, WNOHANG, &used);
    if (pid > 0) use_.add(used);
    if (pid > 0 && pid == main_) main_ended(status);
    if (pid > 0 && pid == checkpoint_) checkpoint_ended(status);
    if (pid < 0 && errno == ECHILD) all_over_ = true;
    more_to_reap_ = pid > 0;
  }
  if (main_over_ && !all_over_ && kill_at_ == INT64_MAX) {  // what it leaves behind must not go on
    kill_at_ = boot_milliseconds() + kLeftoverGrace;
    signal_children(SIGTERM);
    signal_children(SIGCONT);
  }
}

void SupervisorProcess::main_ended(int status) {
  record_.ran = ran(boot_milliseconds());
  record_.ended = unix_milliseconds();
  record_.status = status;
  main_over_ = true;
  if (!checkpointing()) return;
  if (checkpoint_ == 0) {
    if (WIFEXITED(status)) record_.kept = checkpoint_of_;  // that is how it obeys the signal, unless it died of it
  } else {
    record_.asked = Asked::nothing;  // it was not told to stop yet: it has ended by itself
  }
  forget_checkpoint();
}

// A process that is traced stays a zombie for as long as its tracer likes, and cannot be waited for until then.
bool SupervisorProcess::wait_no_longer() {
  reap();
  if (all_over_) return true;
  if (!only_zombies(::getpid())) return false;
  reap();
  if (all_over_) return true;
  if (!main_over_) {
    const auto main = look_at(main_);
    main_ended(main ? main->status : SIGKILL);
  }
  return all_over_ = zombies_left_ = true;
}

bool SupervisorProcess::finished() const { return all_over_ && !launch_report_; }

void SupervisorProcess::finish() {
  if (record_.phase != RunPhase::failed) {
    use_.write_into(record_);
    record_.used_in += record_.ran;
    record_.stood = record_.phase == RunPhase::suspended;
    record_.phase = RunPhase::ended;
    const bool failed = record_.asked == Asked::nothing && record_.status != 0;
    record_.out_of_memory = failed && ran_out_of_memory(record_.cgroups);
    read_signals();  // the job may have been told to end before its supervisor, and have obeyed at once
    const bool told_to_end = told_to_end_ || ended_by_sigterm(record_.status);
    record_.lost = failed && !record_.out_of_memory && system_goes_down(told_to_end);
  }
  constexpr int kMostPieces = 64;  // more than pipes hold: what comes then is not the job's, which is over
  for (int piece = 0; piece < kMostPieces && attachment_.keep_what_is_left(order_.run, record_.sentence); ++piece) {
  }
  int error = add_line(record_file_.get(), "\n" + in_words(record_));
  take_connections();
  record_.spare = error == 0 && waits_for_more();
  tell_all();
  if (record_.spare) return;
  quarters_.move_out();
  remove_cgroups(record_.cgroups);  // which takes the kernel a while, and no service waits for it
  while (error != 0) {  // the disk is full: the services that are there were told, and a later one must find it
    constexpr int kRetryMilliseconds = 1000;
    pollfd newcomer{listener_.get(), POLLIN, 0};
    ::poll(&newcomer, 1, kRetryMilliseconds);
    take_connections();
    tell_all();
    connections_.clear();
    struct stat file{};
    if (::fstat(record_file_.get(), &file) == 0 && file.st_nlink == 0) return;  // no service will ask any more
    error = add_line(record_file_.get(), "\n" + in_words(record_));
  }
}

// It must not be larger than others, nor have anything left of what is over, no zombie either; and only the service may
// be connected, as the next service waits for all supervisors that hold the lock.
bool SupervisorProcess::waits_for_more() {
  const auto kept = [&](const std::string& cgroup) { return quarters_.lives_in(cgroup); };
  return small_ && !zombies_left_ && record_.phase == RunPhase::ended && connections_.size() == 1 &&
         std::ranges::all_of(record_.cgroups, kept) && quarters_.lock().take();
}

}  // namespace rota::local
