// The processes of this machine, as /proc tells of them: which of them are a job's, and how they are ended.
#pragma once

#include <sys/types.h>

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
  bool runs = false;        // or would as soon as it is woken: neither stopped nor waiting for a device
  std::int64_t owner = -1;  // of the first of a job: the user as whom all of it runs; -1: not known, or nobody looked
};

std::optional<Process> look_at(pid_t pid);  // nullopt: there is none
std::vector<Process> all_processes();

// Those that stem from it, at this moment, without itself.
std::vector<pid_t> descendants(pid_t ancestor);
bool only_zombies(pid_t ancestor);  // none of them lives

// SIGSTOP to all that stem from it, until none appears that is not stopped.
void stop_descendants(pid_t ancestor);
bool all_stopped(pid_t ancestor);                     // none of them runs
void signal_descendants(pid_t ancestor, int number);  // and to nobody else who got the number of one that has ended

// Ends all that runs there and nobody waits for any more: those that have that first process's sid, and its owner,
// those with `mark` (NAME=VALUE) in their environment, and those in the cgroups. False: some are still there after a
// while.
bool end_leftovers(const Process& first, const std::string& mark, const std::vector<std::string>& cgroups);

}  // namespace rota::local
