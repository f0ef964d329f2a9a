// Which jobs a log has told of, to know one that it tells again: any line may stand there twice, however far apart, so
// that none can be forgotten. 32 bytes a job, some 10 more for those that have not been sorted in, and a second copy
// while some are.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace rota::log {

class SeenJobs {
 public:
  using Key = std::array<std::int64_t, 4>;

  // False: it was there. Amortised O(log jobs).
  bool add(const Key& key);
  // Whether one is there from `first` to `last`, in the order of their parts. O(log jobs)
  bool any(const Key& first, const Key& last) const;

 private:
  std::vector<Key> sorted_;
  std::set<Key> late_;  // not in sorted_ yet: at most an eighth as many, and kFew
};

}  // namespace rota::log
