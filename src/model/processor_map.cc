#include "model/processor_map.h"

#include "base/check.h"

namespace rota {

bool ProcessorMap::take_one(JobId job, std::uint32_t processor) {
  if (owners_[processor].valid()) return false;
  owners_[processor] = job;
  --free_;
  return true;
}

void ProcessorMap::take(JobId job, std::uint32_t count, std::span<const std::uint32_t> preferred) {
  CHECK(count <= free_, "a job starts on free processors");
  for (const std::uint32_t p : preferred) {
    if (count > 0 && take_one(job, p)) --count;
  }
  for (std::uint32_t p = 0; count > 0; ++p) {
    if (take_one(job, p)) --count;
  }
}

std::vector<std::uint32_t> ProcessorMap::held_by(JobId job) const {
  std::vector<std::uint32_t> held;
  for (std::uint32_t p = 0; p < owners_.size(); ++p) {
    if (owners_[p] == job) held.push_back(p);
  }
  return held;
}

void ProcessorMap::put_back(JobId job, std::span<const std::uint32_t> processors) {
  for (const std::uint32_t p : processors) CHECK(take_one(job, p), "a processor is held by one job");
}

void ProcessorMap::release(JobId job) {
  for (JobId& owner : owners_) {
    if (owner == job) {
      owner = JobId{};
      ++free_;
    }
  }
}

}  // namespace rota
