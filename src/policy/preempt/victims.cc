#include "policy/preempt/victims.h"

#include <algorithm>
#include <limits>

namespace rota {
namespace {

constexpr std::size_t kMostSteps = 4'000'000;

// How many of the largest it takes; 0: all together are too few.
std::size_t fewest(const std::vector<Victim>& by_size, std::int64_t needed) {
  for (std::size_t i = 0; i < by_size.size(); ++i) {
    needed -= by_size[i].processors;
    if (needed <= 0) return i + 1;
  }
  return 0;
}

// Which `victims` of the candidates hold `needed` processors with the least work lost: dynamic programming over how
// many are stopped and how many processors they hold, the latter counted up to what is needed.
class LeastWork {
 public:
  LeastWork(std::size_t victims, std::size_t needed)
      : victims_(victims), width_(needed + 1), least_((victims + 1) * width_, kUnreached) {
    least_[0] = 0;
  }

  void add(const Victim& v) {
    std::vector<std::int32_t>& from = from_.emplace_back(least_.size(), -1);
    for (std::size_t k = victims_; k > 0; --k) {
      for (std::size_t p = 0; p < width_; ++p) {
        const std::int64_t before = least_[(k - 1) * width_ + p];
        if (before == kUnreached) continue;
        const std::size_t cell = k * width_ + std::min(width_ - 1, p + static_cast<std::size_t>(v.processors));
        if (before + v.work.count() >= least_[cell]) continue;
        least_[cell] = before + v.work.count();
        from[cell] = static_cast<std::int32_t>(p);
      }
    }
  }

  // Indexes of the candidates chosen, in the order in which they were added.
  std::vector<std::size_t> chosen() const {
    std::vector<std::size_t> chosen;
    std::size_t k = victims_;
    std::size_t p = width_ - 1;
    for (std::size_t i = from_.size(); i-- > 0 && k > 0;) {
      const std::int32_t before = from_[i][k * width_ + p];
      if (before < 0) continue;
      chosen.insert(chosen.begin(), i);
      p = static_cast<std::size_t>(before);
      --k;
    }
    return chosen;
  }

 private:
  static constexpr std::int64_t kUnreached = std::numeric_limits<std::int64_t>::max();

  std::size_t victims_;
  std::size_t width_;
  std::vector<std::int64_t> least_;              // [stopped][processors]: work lost
  std::vector<std::vector<std::int32_t>> from_;  // [candidate][cell]: processors before it was stopped; -1: it is not
};

}  // namespace

std::vector<JobId> cheapest_victims(std::vector<Victim> candidates, std::int64_t needed) {
  std::sort(candidates.begin(), candidates.end(), [](const Victim& a, const Victim& b) {
    return a.processors != b.processors ? a.processors > b.processors : a.job < b.job;
  });
  const std::size_t victims = needed > 0 ? fewest(candidates, needed) : 0;
  std::vector<JobId> stopped;
  if (victims * candidates.size() * static_cast<std::size_t>(std::max<std::int64_t>(needed, 0)) > kMostSteps) {
    for (std::size_t i = 0; i < victims; ++i) stopped.push_back(candidates[i].job);
    return stopped;
  }
  if (victims == 0) return stopped;
  LeastWork least(victims, static_cast<std::size_t>(needed));
  for (const Victim& v : candidates) least.add(v);
  for (const std::size_t i : least.chosen()) stopped.push_back(candidates[i].job);
  return stopped;
}

}  // namespace rota
