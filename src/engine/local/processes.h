// The processes of this machine, as /proc tells of them: which of them are a job's, and how they are ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rota::local {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t sid = 0;            // its first ancestor that called setsid()
  std::uint64_t began = 0;  // in the kernel's ticks since the start of the system: with pid, its identity
  bool zombie = false;      // with all its threads: it runs no more, and only waits for somebody to wait for it
  int status = 0;           // of a zombie: as waitpid says it; 0 also where this process may not trace that one
  std::int64_t used = 0;    // milliseconds of processor time, with that of its children that it has waited for
  bool runs = false;        // or would as soon as it is woken: neither stopped nor waiting for a device
  std::int64_t owner = -1;  // of the first of a job: the user as whom all of it runs; -1: not known, or nobody looked
};

std::optional<Process> look_at(pid_t pid);  // nullopt: there is none
std::vector<Process> all_processes();

// Those that stem from it, at this moment, without itself.
std::vector<pid_t> descendants(pid_t ancestor);
bool only_zombies(pid_t ancestor);  // none of them lives

bool all_stopped(pid_t ancestor);         // none of them runs
std::int64_t used_below(pid_t ancestor);  // milliseconds of processor time that those have used that are there now

// As long as there is one, this thread runs before all that has no priority of its own, where it may (as root): among a
// thousand processes that replace each other it would have no more of the processors than each of them.
class Ahead {
 public:
  Ahead();
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

 private:
  bool raised_ = false;
};

// To all that stem from this process, which adopts them, and to nobody else who got the number of one that has ended.
// Nobody waits for a child meanwhile, in another thread say: until then a child's number is its own.
void signal_children(int number);
// SIGSTOP or SIGKILL to them, until none appears that was not there the last time; but for a fifth of a second at most,
// however many there are: then it is to be done again a little later.
void stop_children();
void kill_children();

inline constexpr std::chrono::seconds kToEndLeftovers{2};

// Ends all that runs there and nobody waits for any more: those that have that first process's sid, and its owner,
// those with `mark` (NAME=VALUE) in their environment, and those in the cgroups. False: some are still there by then,
// though each was told so.
bool end_leftovers(const Process& first, const std::string& mark, const std::vector<std::string>& cgroups,
                   std::chrono::steady_clock::time_point until = std::chrono::steady_clock::now() + kToEndLeftovers);

}  // namespace rota::local
