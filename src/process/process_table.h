// The processes of this machine, as /proc tells of them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rota::process {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t sid = 0;            // its first ancestor that called setsid()
  std::uint64_t began = 0;  // in the kernel's ticks since the start of the system: with pid, its identity
  bool zombie = false;      // with all its threads: it runs no more, and only waits for its parent to wait for it
  bool runs = false;        // or would as soon as it is woken: neither stopped nor waiting for a device
  std::int64_t owner = -1;  // of the first of a job: the user that all of it runs as; -1: not known, or not looked at
};

std::optional<Process> look_at(pid_t pid);  // nullopt: there is none
std::vector<Process> all_processes();

// Adds its children, by the list that the kernel keeps; false: this kernel keeps none.
bool children_of(pid_t pid, std::vector<pid_t>& children);
std::int64_t user_of(pid_t pid);  // the real one; -1: it is gone
// NAME=VALUE stands in the environment with which it was executed, and may be read there.
bool has_variable(pid_t pid, const std::string& variable);

}  // namespace rota::process
