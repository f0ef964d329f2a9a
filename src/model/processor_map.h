// Which processors each running job holds. Kept only where a policy asks for it: elsewhere processors that are
// interchangeable are counted, not listed. Jobs take the free processors with the lowest numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"

namespace rota {

class ProcessorMap {
 public:
  explicit ProcessorMap(std::int64_t processors) : owners_(static_cast<std::size_t>(processors)), free_(processors) {}

  std::int64_t size() const { return static_cast<std::int64_t>(owners_.size()); }
  std::int64_t free() const { return free_; }
  JobId owner(std::uint32_t processor) const { return owners_[processor]; }  // invalid: free

  // Takes `count` free processors for the job: first those of `preferred` that are free, then the lowest numbers.
  void take(JobId job, std::uint32_t count, std::span<const std::uint32_t> preferred);
  void release(JobId job);

  // For a snapshot: the processors that a job holds, rising, O(all); and how they are put back.
  std::vector<std::uint32_t> held_by(JobId job) const;
  void put_back(JobId job, std::span<const std::uint32_t> processors);

 private:
  bool take_one(JobId job, std::uint32_t processor);

  std::vector<JobId> owners_;
  std::int64_t free_;
};

}  // namespace rota
