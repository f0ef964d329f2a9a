// A place for each of some jobs: where running jobs run, where promised ones will. Room for shares is used again, so
// that nothing is allocated once there is enough. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/paged_table.h"
#include "model/node_space.h"

namespace rota {

class Placements {
 public:
  void add_job(JobId job);
  void retire_job(JobId job);  // it will not be asked for again

  bool contains(JobId job) const { return slot_of_[job.value] != kNone; }
  const Placement& of(JobId job) const {
    CHECK(contains(job), "the job has a place");
    return slots_[slot_of_[job.value]];
  }

  void set(JobId job, const Placement& where);
  void erase(JobId job);

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  PagedTable<std::uint32_t> slot_of_;  // by job id; kNone: it has no place
  std::vector<Placement> slots_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace rota
