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

void ProcessorMap::release(JobId job) {
  for (JobId& owner : owners_) {
    if (owner == job) {
      owner = JobId{};
      ++free_;
    }
  }
}

}  // namespace rota
