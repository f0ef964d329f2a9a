#include "model/by_priority.h"

namespace rota {

void RunningByPriority::insert(const Entry& e) {
  jobs_.insert(e);
  held_[e.priority] += e.processors;
}

void RunningByPriority::erase(const Entry& e) {
  jobs_.erase(e);
  const auto held = held_.find(e.priority);
  held->second -= e.processors;
  if (held->second == 0) held_.erase(held);
}

std::int64_t RunningByPriority::held_below(std::int32_t priority) const {
  std::int64_t sum = 0;
  for (auto at = held_.begin(); at != held_.end() && at->first < priority; ++at) sum += at->second;
  return sum;
}

}  // namespace rota
