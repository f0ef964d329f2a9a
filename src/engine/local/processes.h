// Which of the processes of this machine are a job's, and how they are ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "process/process_table.h"

namespace rota::local {

// Those that stem from it, at this moment, without itself.
std::vector<pid_t> descendants(pid_t ancestor);

bool all_stopped(pid_t ancestor);  // none of them runs

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

// To all that stem from this process, which adopts them, and to no other process that got the number of one that has
// ended. No other thread may wait for a child meanwhile: until it is waited for, a child's number is its own.
void signal_children(int number);
// SIGSTOP or SIGKILL to them, until none appears that was not there the last time; but for a fifth of a second at most,
// however many there are: then it is to be done again a little later.
void stop_children();
void kill_children();

inline constexpr std::chrono::seconds kToEndLeftovers{2};

// Ends all that runs there and that no process waits for any more: those that have that first process's sid, and its
// owner, those with `mark` (NAME=VALUE) in their environment, and those in the cgroups. False: some are still there by
// then, though each was told so.
bool end_leftovers(const process::Process& first, const std::string& mark, const std::vector<std::string>& cgroups,
                   std::chrono::steady_clock::time_point until = std::chrono::steady_clock::now() + kToEndLeftovers);

}  // namespace rota::local
