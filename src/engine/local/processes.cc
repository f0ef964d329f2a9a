#include "engine/local/processes.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "process/descriptor.h"
#include "process/process_table.h"

namespace rota::local {

using process::all_processes;
using process::children_of;
using process::contents_of;
using process::Descriptor;
using process::has_variable;
using process::look_at;
using process::Process;
using process::user_of;

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kAtOnce{200};  // what a call may take before it returns

std::vector<pid_t> descendants_by_parents(pid_t ancestor) {
  const std::vector<Process> all = all_processes();
  std::vector<pid_t> found{ancestor};
  for (std::size_t next = 0; next < found.size(); ++next) {
    for (const Process& process : all) {
      if (process.parent == found[next] && !process.zombie) found.push_back(process.pid);
    }
  }
  found.erase(found.begin());
  return found;
}

// Another process may have the number by now: it is held while it is looked whether it is the one that is meant.
template <class Is>
void signal_where(pid_t pid, int number, const Is& is) {
  const Descriptor held(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
  if (!held && errno == ESRCH) return;
  const auto now = look_at(pid);
  if (!now || !is(*now)) return;
  if (held) {
    ::syscall(SYS_pidfd_send_signal, held.get(), number, nullptr, 0U);
  } else {
    ::kill(pid, number);  // no descriptor is left
  }
}

bool has_ended(pid_t child) {
  siginfo_t end{};
  return ::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == child;
}

// A signal to all that stem from this process. Whole process groups get it at once, so that none in them makes another
// process meanwhile; a process that leaves its group as soon as it is made stands at the end of the list of children,
// and is reached within microseconds.
class Signal {
 public:
  explicit Signal(int number) : number_(number) {}

  void to_children(const std::vector<pid_t>& children) {
    for (const pid_t child : children) to_group_of(child);
    for (const pid_t child : std::views::reverse(children)) {
      if (!is_told(child)) ::kill(child, number_);
    }
  }

  // To the processes below them, parents first. A number may be another process's by the time that it is reached, and
  // so may that of its parent.
  void to_processes_below(const std::vector<pid_t>& children, const std::vector<pid_t>& pids) {
    std::map<pid_t, std::uint64_t> family;  // when each began
    const auto belongs = [&](pid_t parent) {
      if (is_told(parent) || std::ranges::find(children, parent) != children.end()) return true;
      const auto found = family.find(parent);
      const auto now = found == family.end() ? std::nullopt : look_at(parent);
      return now && now->began == found->second;
    };
    for (const pid_t pid : pids) {
      if (is_told(pid)) continue;
      signal_where(pid, number_, [&](const Process& now) {
        if (!belongs(now.parent)) return false;
        family[pid] = now.began;
        return true;
      });
    }
  }

 private:
  // A group's number is no other group's for as long as a process is in it that cannot leave it and is not waited for.
  void to_group_of(pid_t child) {
    const bool stays = ::getsid(child) == child || has_ended(child);
    const pid_t group = stays ? ::getpgid(child) : -1;
    if (group > 1 && group != ::getpgrp() && groups_.insert(group).second) ::kill(-group, number_);
  }

  bool is_told(pid_t pid) const { return groups_.contains(::getpgid(pid)); }

  int number_;
  std::set<pid_t> groups_;
};

std::vector<pid_t> below(const std::vector<pid_t>& children) {
  std::vector<pid_t> pids = children;
  for (std::size_t next = 0; next < pids.size(); ++next) children_of(pids[next], pids);
  pids.erase(pids.begin(), pids.begin() + static_cast<std::ptrdiff_t>(children.size()));
  return pids;
}

// To all that stem from this process; returns which these were. `at_once`: its children get it before it is looked what
// is below them; else all are found first, as one that gets it may end and leave others behind.
std::vector<pid_t> signal_all(int number, bool at_once) {
  Signal signal(number);
  std::vector<pid_t> pids;
  if (!children_of(::getpid(), pids)) {
    pids = descendants_by_parents(::getpid());
    signal.to_processes_below({::getpid()}, pids);
    return pids;
  }
  std::vector<pid_t> others = at_once ? std::vector<pid_t>{} : below(pids);
  signal.to_children(pids);
  if (at_once) others = below(pids);
  signal.to_processes_below(pids, others);
  pids.insert(pids.end(), others.begin(), others.end());
  return pids;
}

std::map<pid_t, Process> left_over(const Process& first, const std::string& mark,
                                   const std::vector<std::string>& cgroups) {
  const std::vector<Process> all = all_processes();
  // The number may be another process's by now; then so is what has that number as its sid. So it may have been, and
  // left others behind: those of another user are none of the job's.
  const bool reused = std::any_of(all.begin(), all.end(), [&](const Process& process) {
    return process.pid == first.pid && process.began != first.began;
  });
  std::map<pid_t, Process> found;
  for (const Process& process : all) {
    if (process.pid == ::getpid()) continue;
    const bool in_session = first.pid > 0 && !reused && process.sid == first.pid &&
                            (first.owner < 0 || user_of(process.pid) == first.owner);
    if (in_session || has_variable(process.pid, mark)) found[process.pid] = process;
  }
  for (const std::string& cgroup : cgroups) {
    const std::string pids = contents_of(cgroup + "/cgroup.procs");
    for (const std::string_view line : split(pids, '\n')) {
      const auto pid = parse_integer(line);
      if (const auto process = pid ? look_at(static_cast<pid_t>(*pid)) : std::nullopt) found[process->pid] = *process;
    }
  }
  return found;
}

}  // namespace

std::vector<pid_t> descendants(pid_t ancestor) {
  std::vector<pid_t> found{ancestor};
  for (std::size_t next = 0; next < found.size(); ++next) {
    if (!children_of(found[next], found)) return descendants_by_parents(ancestor);
  }
  found.erase(found.begin());
  return found;
}

// A process that is not root's could not go back.
Ahead::Ahead() {
  const sched_param lowest{.sched_priority = 1};
  raised_ = ::geteuid() == 0 && ::sched_getscheduler(0) == SCHED_OTHER &&
            ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) == 0;
}

Ahead::~Ahead() {
  const sched_param none{};
  if (raised_) ::sched_setscheduler(0, SCHED_OTHER, &none);
}

void signal_children(int number) {
  const Ahead ahead;
  signal_all(number, false);
}

// A process that is told to stop while it makes another may finish that first, and may be seen to stand before the new
// one is seen: so all must stand twice in a row.
void stop_children() {
  const Ahead ahead;
  const auto until = Clock::now() + kAtOnce;
  constexpr int kPassesAtOnce = 3;
  int stood = 0;
  for (int pass = 0; stood < 2 && Clock::now() < until; ++pass) {
    if (pass >= kPassesAtOnce) ::poll(nullptr, 0, 1);  // a millisecond, for those whose processor another one has
    signal_all(SIGSTOP, true);
    stood = all_stopped(::getpid()) ? stood + 1 : 0;
  }
}

// A process that was killed makes no other any more: what appears now was made by one that was missed.
void kill_children() {
  const Ahead ahead;
  const auto until = Clock::now() + kAtOnce;
  std::vector<pid_t> before;
  for (bool others = true; others && Clock::now() < until;) {
    std::vector<pid_t> now = signal_all(SIGKILL, true);
    std::ranges::sort(now);
    others = !std::ranges::includes(before, now);
    before = std::move(now);
  }
}

bool all_stopped(pid_t ancestor) {
  return std::ranges::none_of(descendants(ancestor), [](pid_t pid) {
    const auto process = look_at(pid);
    return process && process->runs;
  });
}

bool end_leftovers(const Process& first, const std::string& mark, const std::vector<std::string>& cgroups,
                   Clock::time_point until) {
  constexpr int kRounds = 2;  // at least: what the first one kills is gone in the second one
  constexpr int kRoundMilliseconds = 5;
  for (int round = 0; round < kRounds || Clock::now() < until; ++round) {
    const auto left = left_over(first, mark, cgroups);
    const bool none_lives = std::ranges::all_of(left, [](const auto& each) { return each.second.zombie; });
    // What looks like a zombie may have a thread that no look has seen, until it is killed.
    if (left.empty() || (none_lives && round > 0)) return true;
    for (const auto& [pid, process] : left)
      signal_where(pid, SIGKILL, [&](const Process& seen) { return seen.began == process.began; });
    ::poll(nullptr, 0, kRoundMilliseconds);
  }
  return false;
}

}  // namespace rota::local
