#include "engine/local/supervisor_process.h"

#include <fmt/core.h>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/words.h"
#include "engine/local/cgroups.h"
#include "engine/local/job_files.h"
#include "engine/local/job_process.h"
#include "engine/local/spare_supervisor.h"
#include "engine/local/system_state.h"
#include "process/clock.h"
#include "process/descriptor.h"
#include "process/process_table.h"

namespace rota::local {

using process::boot_milliseconds;
using process::Descriptor;
using process::look_at;
using process::send_whole;

namespace {

constexpr std::int64_t kStoppedLook = 1000;  // milliseconds: so often it is looked whether what was stopped still is

std::size_t length_of(const RunRequest& run) {
  std::size_t length = run.script.size() + run.node_file.size();
  for (const std::string& variable : run.environment) length += variable.size();
  return length;
}

// By its own doing or that of a shell above it.
bool ended_by_sigterm(int status) {
  constexpr int kShellSays = 128 + SIGTERM;
  return WIFSIGNALED(status) ? WTERMSIG(status) == SIGTERM : WEXITSTATUS(status) == kShellSays;
}

}  // namespace

SupervisorProcess::SupervisorProcess(Order order, Claim claim, Connection born_with, Quarters& quarters)
    : quarters_(quarters),
      small_(length_of(order.run) <= kLongestForSpares),
      order_(std::move(order)),
      record_(order_.claim),
      log_(std::move(claim.record)),
      callers_(std::move(claim.listener), std::move(born_with),
               [this](const Tell& tell, const Connection& from) { hear(tell, from); }) {}

Connection SupervisorProcess::run() {
  if (begin()) launch();
  callers_.read_first();
  while (!is<run::Gone>() || launch_report_.is_open()) wait_for_something();
  finish();
  return record_.spare ? callers_.leave() : Connection{};
}

bool SupervisorProcess::begin() {
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  ::prctl(PR_SET_NAME, "rota-job", 0, 0, 0);
  for (const int number : kIgnoredSignals) std::signal(number, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t heard;
  ::sigemptyset(&heard);
  ::sigaddset(&heard, SIGCHLD);
  ::sigaddset(&heard, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &heard, nullptr);
  signals_.reset(::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) {
    fail_launch("The job's supervisor could not be set up.", true);
    return false;
  }
  if (const std::string why = write_files(order_); !why.empty()) {
    fail_launch(why, true);
    return false;
  }
  if (const std::string why = attachment_.open(order_.run); !why.empty()) {
    fail_launch(why, false);
    return false;
  }
  make_cgroups();
  return true;
}

void SupervisorProcess::make_cgroups() {
  std::vector<std::string> made;
  for (const std::string& cgroup : record_.cgroups) {
    if (quarters_.lives_in(cgroup)) {
      made.push_back(cgroup);
    } else if (make_cgroup(cgroup, record_.cores, order_.most_memory)) {
      made.push_back(cgroup);
      quarters_.move_into(cgroup);
    } else if (record_.sentence.empty()) {
      record_.sentence = fmt::format("The job runs without the control group {}, which could not be made.", cgroup);
    }
  }
  record_.cgroups = made;
  std::erase_if(made, [&](const std::string& cgroup) { return quarters_.lives_in(cgroup); });
  order_.claim.cgroups = std::move(made);  // the job joins these itself
}

void SupervisorProcess::launch() {
  const Descriptor report = launch_report_.open();
  if (!report) return fail_launch("The job's supervisor could not be set up.", true);
  const pid_t parent = ::getpid();
  // A signal that comes before the job has taken them back waits for that, and is not lost.
  sigset_t kept;
  sigset_t early;
  ::sigemptyset(&early);
  for (const int number : kIgnoredSignals) ::sigaddset(&early, number);
  ::sigprocmask(SIG_BLOCK, &early, &kept);
  main_ = ::fork();
  if (main_ == 0) {
    callers_.close();
    become_job(order_, log_.file(), report.get(), parent, attachment_.streams());
  }
  ::sigprocmask(SIG_SETMASK, &kept, nullptr);
  attachment_.started();
  if (main_ < 0) {
    main_ = 0;
    launch_report_ = {};
    return fail_launch(fmt::format("No process could be made for the job: {}.", std::strerror(errno)), true);
  }
  launched_at_ = boot_milliseconds();
  clock_.start(std::min(order_.since, launched_at_));
}

void SupervisorProcess::wait_for_something() {
  std::vector<pollfd> watched{{signals_.get(), POLLIN, 0}};
  Descriptor timer;
  if (const std::int64_t look = next_look(); look != kNoTime) {
    timer.reset(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC));
    const itimerspec at{.it_interval = {}, .it_value = {.tv_sec = look / 1000, .tv_nsec = look % 1000 * 1'000'000 + 1}};
    ::timerfd_settime(timer.get(), TFD_TIMER_ABSTIME, &at, nullptr);
  }
  watched.push_back({timer.get(), POLLIN, 0});
  watched.push_back({launch_report_.pipe(), 0, 0});  // its end: how far the job is counts only if it comes no further
  watched.push_back({attachment_.socket(), POLLIN, 0});
  const std::size_t first = watched.size();
  callers_.watch(watched);
  for (const Descriptor& left : attachment_.left()) watched.push_back({left.get(), POLLIN, 0});
  if (::poll(watched.data(), watched.size(), more_to_reap_ ? 0 : -1) < 0) return;
  if (launch_report_.is_open() && watched[2].revents != 0) read_launch_report();
  if (!attachment_.left().empty()) attachment_.keep_what_is_left(order_.run, record_.sentence);
  if (watched[3].revents != 0) hear_attached();
  callers_.read(&watched[first]);
  if (watched[0].revents != 0 || more_to_reap_) reap();
  look_at_the_clock();
}

void SupervisorProcess::read_launch_report() {
  if (launch_report_.read()) return;
  const LaunchError& error = launch_report_.error();
  if (error.error == 0) return executed();
  fail_launch(launch_sentence(error, order_.run), another_try_helps(error));
}

// The attached process passes signals on. Its end is that of the job, as a terminal's is, unless the job may go on.
void SupervisorProcess::hear_attached() {
  bool gone = false;
  for (const int number : attachment_.hear(gone)) signal_children(number);
  if (!gone || main_over()) return;
  if (order_.run.attach.keep) {
    if (const std::string lost = attachment_.go_on_alone(order_.run); !lost.empty()) record_.sentence = lost;
    return;
  }
  if (record_.asked != Asked::nothing) return;
  record_.sentence = "Who waited at its terminal is gone.";
  stop(Asked::hangup, boot_milliseconds());
}

void SupervisorProcess::hear(const Tell& tell, const Connection& from) {
  if (tell.kind != Tell::Kind::hello && tell.epoch < record_.epoch) return;  // of a service that was replaced
  record_.epoch = std::max(record_.epoch, tell.epoch);
  reap();  // it may have ended before it is told anything, which counts
  if (tell.key > record_.key && !main_over()) {
    log_.before_key_of(record_);
    record_.key = tell.key;
    carry_out(tell);
  } else if (tell.kind == Tell::Kind::kill || tell.kind == Tell::Kind::signal || tell.kind == Tell::Kind::limit) {
    carry_out(tell);
  }
  record_.ran = clock_.ran(boot_milliseconds());
  record_.paused = is<run::Paused>() ? 1 : 0;
  record_.deadline = is_stopped() ? kNoTime : order_.claim.deadline;
  send_whole(from.socket.get(), in_words(log_.as_kept(record_)));
}

void SupervisorProcess::carry_out(const Tell& tell) {
  const std::int64_t now = boot_milliseconds();
  switch (tell.kind) {
    case Tell::Kind::hello:
      return;
    case Tell::Kind::stop:
      return stop(tell.asked, now, tell.checkpoint);
    case Tell::Kind::kill:
      if (record_.asked == Asked::nothing && !main_over()) record_.asked = tell.asked;
      return kill(now);
    case Tell::Kind::suspend:
      return suspend(now);
    case Tell::Kind::go_on:
      return go_on(tell);
    case Tell::Kind::limit:
      order_.claim.deadline = tell.deadline;
      if (auto* paused = at<run::Paused>()) paused->since = now;  // it is told as if the job went on now
      if (tell.limit > 0) record_.limit = tell.limit;
      warned_ = false;
      return;
    case Tell::Kind::signal:
      if (tell.number == SIGSTOP) {
        pause(now);
      } else {
        if (tell.number == SIGCONT) end_pause(now);
        signal_children(tell.number);
      }
      return tell_attached();
  }
}

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
    const auto* writes = at<run::Checkpointing>();
    if (writes && pid > 0 && pid == writes->checkpoint.command()) checkpoint_ended(status);
    if (pid < 0 && errno == ECHILD) nothing_left();
    more_to_reap_ = pid > 0;
  }
  end_leftovers(boot_milliseconds());
}

void SupervisorProcess::look_at_the_clock() {
  const std::int64_t now = boot_milliseconds();
  if (next_look() > now) return;
  if (is<run::Ending>() || is<run::Leftovers>()) return kill_again(now);
  if (is<run::Checkpointing>()) return checkpoint_is_late(now);
  if (is_stopped()) look_at_the_stopped(now);
  if (launch_until() <= now) {  // a file that does not open would keep the job's nodes for ever
    read_launch_report();
    if (!launch_report_.is_awaited()) return;
    launch_report_.is_late();
    ::kill(main_, SIGKILL);  // the failure is told once it is gone
  }
  look_at_the_limit(now);
}

void SupervisorProcess::look_at_the_limit(std::int64_t now) {
  const std::int64_t deadline = order_.claim.deadline;
  const RunRequest& run = order_.run;
  if (run.warning_signal > 0 && !warned_ && deadline != kNoTime && deadline - run.warning_lead.count() <= now) {
    warned_ = true;
    if (run.warning_to_script) {
      ::kill(main_, run.warning_signal);  // its number is its own until reap() has seen its end
    } else {
      signal_children(run.warning_signal);
    }
  }
  if (deadline <= now) stop(Asked::limit, now);
}

std::int64_t SupervisorProcess::next_look() const {
  if (const auto* ending = std::get_if<run::Ending>(&state_)) return ending->kill_at;
  if (const auto* left = std::get_if<run::Leftovers>(&state_)) return left->kill_at;
  if (const auto* writes = std::get_if<run::Checkpointing>(&state_)) return writes->until;
  if (const auto* paused = std::get_if<run::Paused>(&state_)) return paused->since + kStoppedLook;
  if (const auto* suspended = std::get_if<run::Suspended>(&state_)) return suspended->since + kStoppedLook;
  if (is<run::Gone>()) return kNoTime;
  std::int64_t due = order_.claim.deadline;
  if (due == kNoTime) return launch_until();
  if (order_.run.warning_signal > 0 && !warned_) due -= order_.run.warning_lead.count();
  return std::min(std::max<std::int64_t>(due, 1), launch_until());
}

std::int64_t SupervisorProcess::launch_until() const {
  return launch_report_.is_awaited() ? launched_at_ + order_.launch_wait : kNoTime;
}

void SupervisorProcess::note_phase() {
  const std::int64_t now = boot_milliseconds();
  record_.deadline = is_stopped() ? kNoTime : order_.claim.deadline;
  record_.ran = clock_.ran(now);
  if (const auto main = record_.began == 0 ? look_at(main_) : std::nullopt) record_.began = main->began;
  log_.note(record_, order_.engine_folder);
}

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
  int error = log_.add(record_);
  callers_.take_new();
  record_.spare = error == 0 && waits_for_more();
  tell_all();
  if (record_.spare) return;
  quarters_.move_out();
  remove_cgroups(record_.cgroups);  // which takes the kernel a while, and no service waits for it
  while (error != 0) {  // the disk is full: the services that are there were told, and a later one must find it
    constexpr int kRetryMilliseconds = 1000;
    callers_.wait_for_new(kRetryMilliseconds);
    tell_all();
    if (log_.is_removed()) return;
    error = log_.add(record_);
  }
}

// It must not be larger than others, nor have anything left of what is over; and only the service may be connected, as
// the next service waits for all supervisors that hold the lock.
bool SupervisorProcess::waits_for_more() {
  const auto kept = [&](const std::string& cgroup) { return quarters_.lives_in(cgroup); };
  return small_ && record_.phase == RunPhase::ended && callers_.is_one() &&
         std::ranges::all_of(record_.cgroups, kept) && quarters_.lock().try_lock();
}

void SupervisorProcess::tell_attached() {
  attachment_.tell(record_, is<run::Paused>() ? RunPhase::suspended : record_.phase);
}

void SupervisorProcess::tell_all() {
  callers_.tell(log_.as_kept(record_));
  tell_attached();
}

}  // namespace rota::local
