#include "engine/local/supervisor_process.h"

#include <fmt/core.h>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "base/words.h"
#include "engine/local/cgroups.h"
#include "engine/local/job_files.h"
#include "engine/local/job_process.h"
#include "engine/local/spare_supervisor.h"
#include "process/clock.h"
#include "process/descriptor.h"
#include "process/process_table.h"

namespace rota::local {

using process::accept_from;
using process::add_line;
using process::boot_milliseconds;
using process::Descriptor;
using process::kLongestTold;
using process::look_at;
using process::read_more;
using process::read_piece;
using process::send_whole;
using process::take_line;

namespace {

constexpr std::int64_t kNoTime = INT64_MAX;
constexpr std::int64_t kKillAgain = 20;      // until all that was killed is gone
constexpr std::int64_t kStoppedLook = 1000;  // whether what was stopped still is: so often, by and large

std::size_t length_of(const RunRequest& run) {
  std::size_t length = run.script.size() + run.node_file.size();
  for (const std::string& variable : run.environment) length += variable.size();
  return length;
}

void pin(pid_t pid, const std::vector<std::uint32_t>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::uint32_t core : cores) CPU_SET(core, &set);
  ::sched_setaffinity(pid, sizeof(set), &set);
}

}  // namespace

SupervisorProcess::SupervisorProcess(Order order, Claim claim, Connection born_with, Quarters& quarters)
    : quarters_(quarters),
      small_(length_of(order.run) <= kLongestForSpares),
      order_(std::move(order)),
      record_(order_.claim),
      record_file_(std::move(claim.record)),
      listener_(std::move(claim.listener)) {
  connections_.push_back(std::move(born_with));
}

Connection SupervisorProcess::run() {
  if (begin()) launch();
  hear_lines(connections_.front());  // what came behind the order
  while (!finished()) wait_for_something();
  finish();
  return record_.spare ? std::move(connections_.front()) : Connection{};
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
  return true;
}

void SupervisorProcess::fail_launch(const std::string& sentence, bool again) {
  record_.phase = RunPhase::failed;
  record_.sentence = sentence;
  record_.again = again;
  if (main_ == 0) all_over_ = true;  // else it has yet to be waited for
}

void SupervisorProcess::launch() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_launch("The job's supervisor could not be set up.", true);
  launch_report_.reset(ends[0]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  Descriptor report(ends[1]);
  const pid_t parent = ::getpid();
  // A signal that comes before the job has taken them back waits for that, and is not lost.
  sigset_t kept;
  sigset_t early;
  ::sigemptyset(&early);
  for (const int number : kIgnoredSignals) ::sigaddset(&early, number);
  ::sigprocmask(SIG_BLOCK, &early, &kept);
  main_ = ::fork();
  if (main_ == 0) {
    listener_.reset();
    connections_.clear();
    become_job(order_, record_file_.get(), report.get(), parent, attachment_.streams());
  }
  ::sigprocmask(SIG_SETMASK, &kept, nullptr);
  attachment_.started();
  if (main_ < 0) {
    main_ = 0;
    return fail_launch(fmt::format("No process could be made for the job: {}.", std::strerror(errno)), true);
  }
  launched_at_ = boot_milliseconds();
  since_ = std::min(order_.since, launched_at_);
}

void SupervisorProcess::wait_for_something() {
  std::vector<pollfd> watched{{signals_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  Descriptor timer;
  if (const std::int64_t look = next_look(); look != kNoTime) {
    timer.reset(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC));
    const itimerspec at{.it_interval = {}, .it_value = {.tv_sec = look / 1000, .tv_nsec = look % 1000 * 1'000'000 + 1}};
    ::timerfd_settime(timer.get(), TFD_TIMER_ABSTIME, &at, nullptr);
  }
  watched.push_back({timer.get(), POLLIN, 0});
  watched.push_back({launch_report_.get(), 0, 0});  // its end: how far the job is counts only if it comes no further
  watched.push_back({attachment_.socket(), POLLIN, 0});
  const std::size_t first = watched.size();
  for (const Connection& connection : connections_) watched.push_back({connection.socket.get(), POLLIN, 0});
  for (const Descriptor& left : attachment_.left()) watched.push_back({left.get(), POLLIN, 0});
  if (::poll(watched.data(), watched.size(), more_to_reap_ ? 0 : -1) < 0) return;
  if (launch_report_ && watched[3].revents != 0) read_launch_report();
  if (!attachment_.left().empty()) attachment_.keep_what_is_left(order_.run, record_.sentence);
  if (watched[4].revents != 0) hear_attached();
  std::size_t next = first;
  for (auto at = connections_.begin(); at != connections_.end(); ++next) {
    if (watched[next].revents != 0) read(*at);
    at = at->socket ? std::next(at) : connections_.erase(at);
  }
  if (watched[1].revents != 0) take_connections();
  if (watched[0].revents != 0 || more_to_reap_) reap();
  look_at_the_clock();
}

// The pipe closes when the program is executed.
void SupervisorProcess::read_launch_report() {
  const bool goes_on = read_more(launch_report_.get(), launch_text_);
  for (; launch_text_.size() >= sizeof(LaunchError); launch_text_.erase(0, sizeof(LaunchError))) {
    if (launch_state_.error == 0) std::memcpy(&launch_state_, launch_text_.data(), sizeof(LaunchError));
  }
  if (goes_on) return;
  launch_report_.reset();
  if (launch_state_.error != 0)
    return fail_launch(launch_sentence(launch_state_, order_.run), another_try_helps(launch_state_));
  record_.phase = RunPhase::runs;
  record_.paused = 0;
  record_.pid = main_;
  tell_all();
}

// A file that does not open would keep the job's nodes for ever. The failure is told once the process is gone.
void SupervisorProcess::launch_late() {
  read_launch_report();
  if (!launch_report_ || launch_state_.error != 0) return;
  launch_state_.error = LaunchError::kLate;
  ::kill(main_, SIGKILL);
}

void SupervisorProcess::take_connections() {
  while (true) {
    Descriptor socket = accept_from(listener_.get());
    if (!socket) return;
    connections_.push_back({std::move(socket), {}});
  }
}

void SupervisorProcess::read(Connection& connection) {
  const bool open = read_piece(connection.socket.get(), connection.text);
  hear_lines(connection);
  if (!open || connection.text.size() > kLongestTold) connection.socket.reset();
}

void SupervisorProcess::hear_lines(Connection& connection) {
  std::string line;
  while (take_line(connection.text, line)) {
    Tell tell;
    read_words(line, tell);
    hear(tell, connection);
  }
}

// The attached process passes signals on. Its end is that of the job, as a terminal's is, unless the job may go on.
void SupervisorProcess::hear_attached() {
  bool gone = false;
  for (const int number : attachment_.hear(gone)) signal_children(number);
  if (!gone || main_over_) return;
  if (order_.run.attach.keep) {
    if (const std::string lost = attachment_.go_on_alone(order_.run); !lost.empty()) record_.sentence = lost;
    return;
  }
  if (record_.asked != Asked::nothing) return;
  record_.sentence = "Who waited at its terminal is gone.";
  stop(Asked::hangup, boot_milliseconds());
}

void SupervisorProcess::hear(const Tell& tell, Connection& from) {
  if (tell.kind != Tell::Kind::hello && tell.epoch < record_.epoch) return;  // of a service that was replaced
  record_.epoch = std::max(record_.epoch, tell.epoch);
  reap();  // it may have ended before it is told anything, which counts
  if (tell.key > record_.key && !main_over_) {
    if (phase_kept_) key_before_ = record_.key;
    record_.key = tell.key;
    carry_out(tell);
  } else if (tell.kind == Tell::Kind::kill || tell.kind == Tell::Kind::signal || tell.kind == Tell::Kind::limit) {
    carry_out(tell);
  }
  record_.ran = ran(boot_milliseconds());
  record_.paused = paused_at_ > 0 ? 1 : 0;
  record_.deadline = is_stopped() ? kNoTime : order_.claim.deadline;
  send_whole(from.socket.get(), in_words(told()));
}

void SupervisorProcess::carry_out(const Tell& tell) {
  switch (tell.kind) {
    case Tell::Kind::hello:
      return;
    case Tell::Kind::stop:
      return stop(tell.asked, boot_milliseconds(), tell.checkpoint);
    case Tell::Kind::kill:
      if (record_.asked == Asked::nothing && !main_over_) record_.asked = tell.asked;
      kill_at_ = boot_milliseconds();
      return kill_all();
    case Tell::Kind::suspend:
      return suspend();
    case Tell::Kind::go_on:
      return go_on(tell);
    case Tell::Kind::limit:
      order_.claim.deadline = tell.deadline;
      if (paused_at_ > 0) paused_at_ = boot_milliseconds();  // it is told as if the job went on now
      if (tell.limit > 0) record_.limit = tell.limit;
      warned_ = false;
      return;
    case Tell::Kind::signal:
      if (tell.number == SIGSTOP) {
        pause(boot_milliseconds());
      } else {
        if (tell.number == SIGCONT) end_pause(boot_milliseconds());
        signal_children(tell.number);
      }
      return tell_attached();
  }
}

void SupervisorProcess::look_at_the_clock() {
  const std::int64_t now = boot_milliseconds();
  if (checkpoint_until_ <= now) checkpoint_late(now);
  if (main_over_ || record_.asked != Asked::nothing) {
    if (kill_at_ <= now && !all_over_) kill_all();
    return;
  }
  if (launch_until() <= now) launch_late();
  if (is_stopped() && !look_at_the_stopped(now)) return;
  const std::int64_t lead = order_.run.warning_lead.count();
  if (order_.run.warning_signal > 0 && !warned_ && order_.claim.deadline != kNoTime &&
      order_.claim.deadline - lead <= now) {
    warned_ = true;
    if (order_.run.warning_to_script) {
      ::kill(main_, order_.run.warning_signal);  // its number is its own until reap() has seen its end
    } else {
      signal_children(order_.run.warning_signal);
    }
  }
  if (order_.claim.deadline <= now) stop(Asked::limit, now);
}

std::int64_t SupervisorProcess::next_look() const {
  if (main_over_ || record_.asked != Asked::nothing) return std::min(kill_at_, checkpoint_until_);
  if (is_stopped()) return stopped_look_;
  if (order_.claim.deadline == kNoTime) return launch_until();
  const bool warns = order_.run.warning_signal > 0 && !warned_;
  const std::int64_t due = warns ? order_.claim.deadline - order_.run.warning_lead.count() : order_.claim.deadline;
  return std::min(std::max<std::int64_t>(due, 1), launch_until());
}

std::int64_t SupervisorProcess::launch_until() const {
  return launch_report_ && launch_state_.error == 0 ? launched_at_ + order_.launch_wait : kNoTime;
}

void SupervisorProcess::stop(Asked asked, std::int64_t now, bool checkpoint) {
  if (record_.asked == Asked::limit && asked != Asked::cancel) return;  // it is not to have another turn
  const bool first = record_.asked == Asked::nothing;
  record_.asked = asked;
  const bool no_longer = checkpointing() && !checkpoint;  // it is cancelled, say, while it writes one
  if (!first && !no_longer) return;
  if (first && checkpoint && begin_checkpoint(now)) return;
  forget_checkpoint();
  stop_now(now);
  if (asked == Asked::limit) tell_all();
}

void SupervisorProcess::stop_now(std::int64_t now) {
  if (!ahead_) ahead_.emplace();
  record_.ran = ran(now);
  kill_at_ = now + order_.run.kill_wait.count();
  signal_children(record_.asked == Asked::hangup ? SIGHUP : SIGTERM);
  signal_children(SIGCONT);  // where it was stopped it could not obey
  tell_attached();
}

void SupervisorProcess::suspend() {
  if (record_.phase != RunPhase::runs || record_.asked != Asked::nothing) return;
  stop_children();
  const std::int64_t now = boot_milliseconds();
  ran_before_ = ran(now);
  left_ = order_.claim.deadline == kNoTime ? kNoTime : order_.claim.deadline - now;
  ran_on_ = paused_at_ = 0;
  look_again_soon(now);
  record_.phase = RunPhase::suspended;
  note_phase();
  tell_attached();
}

// For a service that cannot ask: whether the job goes on, or begins anew where it may. What a full disk has cut off
// does not spoil the next line. That it is suspended is told once it is kept, also if the power fails.
void SupervisorProcess::note_phase() {
  record_.deadline = is_stopped() ? kNoTime : order_.claim.deadline;
  record_.ran = ran(boot_milliseconds());
  if (const auto main = record_.began == 0 ? look_at(main_) : std::nullopt) record_.began = main->began;
  phase_written_ = add_line(record_file_.get(), "\n" + in_words(record_)) == 0;
  keep_phase();
}

// With its name, which may be no older than the job.
void SupervisorProcess::keep_phase() {
  const bool needed = record_.phase == RunPhase::suspended;
  const Descriptor folder(needed ? ::open(order_.engine_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
  phase_kept_ = !needed || (phase_written_ && ::fdatasync(record_file_.get()) == 0 && ::fsync(folder.get()) == 0);
}

// Its limit does not run meanwhile.
void SupervisorProcess::pause(std::int64_t now) {
  stop_children();
  if (paused_at_ > 0 || record_.phase != RunPhase::runs) return;
  paused_at_ = now;
  look_again_soon(now);
}

// Its user can let it go on by a signal of their own: it is stopped again, and its limit has run meanwhile. False:
// its limit does not count now.
bool SupervisorProcess::look_at_the_stopped(std::int64_t now) {
  if (now < stopped_look_) return false;
  const bool held = has_stood();
  if (!held) stop_children();
  const std::int64_t since = stood_since_;
  look_again_soon(now);
  if (record_.phase == RunPhase::suspended) {
    if (!phase_kept_) {
      if (phase_written_) {
        keep_phase();
      } else {
        note_phase();
      }
      if (phase_kept_) tell_all();
    }
    if (!held) ran_on(now, now - since);
    return false;
  }
  if (held) end_pause(now);
  paused_at_ = now;
  return true;
}

// None of them runs now, nor has any run since the last look and been stopped before this one.
bool SupervisorProcess::has_stood() {
  constexpr std::int64_t kToStop = 20;  // milliseconds of processor time
  return all_stopped(::getpid()) && used_below(::getpid()) + use_.milliseconds() <= stood_used_ + kToStop;
}

// At a moment that no process outside can foresee.
void SupervisorProcess::look_again_soon(std::int64_t now) {
  std::uint64_t chance = 0;
  if (::getrandom(&chance, sizeof(chance), GRND_NONBLOCK) != sizeof(chance)) chance = 0;
  stopped_look_ = now + kStoppedLook / 2 + static_cast<std::int64_t>(chance % kStoppedLook);
  stood_since_ = now;
  stood_used_ = used_below(::getpid()) + use_.milliseconds();
}

// While it was to stand. When nothing is left of its limit by that, it is over.
void SupervisorProcess::ran_on(std::int64_t now, std::int64_t milliseconds) {
  ran_before_ += milliseconds;
  ran_on_ += milliseconds;
  if (ran_on_ >= left_) stop(Asked::limit, now);
}

void SupervisorProcess::end_pause(std::int64_t now) {
  if (paused_at_ == 0) return;
  if (order_.claim.deadline != kNoTime) order_.claim.deadline += now - paused_at_;
  since_ += now - paused_at_;
  paused_at_ = 0;
}

void SupervisorProcess::go_on(const Tell& tell) {
  if (record_.phase != RunPhase::suspended) return;
  record_.dispatch = tell.dispatch;
  record_.cores = tell.cores;
  order_.claim.deadline = tell.deadline == kNoTime ? kNoTime : tell.deadline - ran_on_;
  warned_ = false;
  for (const std::string& cgroup : record_.cgroups) set_cores(cgroup, tell.cores);
  if (!tell.cores.empty()) {
    for (const pid_t pid : descendants(::getpid())) pin(pid, tell.cores);
  }
  record_.used_in += ran_before_;
  ran_before_ = 0;
  since_ = std::min(tell.since, boot_milliseconds());
  record_.phase = RunPhase::runs;
  note_phase();  // before it does anything
  signal_children(SIGCONT);
  tell_attached();
}

void SupervisorProcess::kill_all() {
  // Not before: of a process with very many threads that come and go no look sees that one lives.
  if (std::exchange(killed_, true) && wait_no_longer()) return;
  kill_children();
  kill_at_ = boot_milliseconds() + kKillAgain;
}

// Milliseconds of this dispatch.
std::int64_t SupervisorProcess::ran(std::int64_t now) const {
  if (main_over_ || launched_at_ == 0) return record_.ran;
  const std::int64_t pause = paused_at_ > 0 ? now - paused_at_ : 0;
  return ran_before_ + (record_.phase == RunPhase::suspended ? 0 : now - since_ - pause);
}

void SupervisorProcess::tell_attached() {
  const bool stopped = paused_at_ > 0;
  attachment_.tell(record_, stopped ? RunPhase::suspended : record_.phase);
}

// As far as a service may count on it: what was told last is not carried out until kept. Silence would seem a hang.
RunRecord SupervisorProcess::told() const {
  RunRecord told = record_;
  if (phase_kept_ || told.phase != RunPhase::suspended) return told;
  told.phase = RunPhase::runs;
  told.key = key_before_;
  return told;
}

void SupervisorProcess::tell_all() {
  const std::string line = in_words(told());
  for (const Connection& connection : connections_) send_whole(connection.socket.get(), line);
  tell_attached();
}

}  // namespace rota::local
