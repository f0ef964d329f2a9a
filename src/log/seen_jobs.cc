#include "log/seen_jobs.h"

#include <algorithm>
#include <cstddef>

namespace rota::log {
namespace {

constexpr std::size_t kFew = 1024;

}  // namespace

bool SeenJobs::add(const Key& key) {
  if (std::ranges::binary_search(sorted_, key) || !late_.insert(key).second) return false;
  if (late_.size() < kFew + sorted_.size() / 8) return true;
  const auto before = static_cast<std::ptrdiff_t>(sorted_.size());
  sorted_.reserve(sorted_.size() + late_.size());  // no more than there are
  sorted_.insert(sorted_.end(), late_.begin(), late_.end());
  std::inplace_merge(sorted_.begin(), sorted_.begin() + before, sorted_.end());
  late_.clear();
  return true;
}

bool SeenJobs::any(const Key& first, const Key& last) const {
  const auto sorted = std::ranges::lower_bound(sorted_, first);
  const auto late = late_.lower_bound(first);
  return (sorted != sorted_.end() && *sorted <= last) || (late != late_.end() && *late <= last);
}

}  // namespace rota::log
