// What a supervisor keeps from one run to the next: control groups that it lives in itself, so that jobs are born in
// them. To make one, and to move a process, costs more time than many a job takes.
#pragma once

#include <string>
#include <vector>

#include "engine/local/spare_lock.h"

namespace rota::local {

class Quarters {
 public:
  explicit Quarters(int folder) : lock_(folder) {}

  SpareLock& lock() { return lock_; }
  bool lives_in(const std::string& cgroup) const;
  // Moves into a new one, if it is of a kind that may be handed on from job to job.
  void move_into(const std::string& cgroup);
  void move_out();  // of all, and removes them

 private:
  SpareLock lock_;
  std::vector<std::string> cgroups_;
};

}  // namespace rota::local
