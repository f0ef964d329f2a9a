// Which task of a CPU takes so much longer than its like that it is worth a second run elsewhere: twice the median of
// those that have ended, by the work at the containers' weights, and a second. Tasks are alike that have the same
// operation, first parameter (the order of a matrix, the points of k-means) and payload size. O(n) for n <= 64 times
// that are kept of each kind. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "accel/backend_abi.h"

namespace rota::accel {

class SlowTasks {
 public:
  void ended(const rota_accel_header& task, double seconds, std::int64_t weight) {
    if (times_.size() >= kMostKinds) times_.clear();
    auto& times = times_[kind_of(task)];
    times.push_back(seconds * static_cast<double>(weight));
    if (times.size() > kMostTimes) times.pop_front();
  }
  bool is_slow(const rota_accel_header& task, double seconds, std::int64_t weight) const {
    const auto found = times_.find(kind_of(task));
    if (found == times_.end() || found->second.size() < kFewTimes) return false;
    std::vector<double> sorted(found->second.begin(), found->second.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    return seconds * static_cast<double>(weight) > kTimesMedian * *middle && seconds > kLeast;
  }

 private:
  static constexpr std::size_t kFewTimes = 5;  // before so many nothing is known
  static constexpr std::size_t kMostTimes = 64;
  static constexpr std::size_t kMostKinds = 1000;
  static constexpr double kTimesMedian = 2;
  static constexpr double kLeast = 1;  // on busy cores any short task may take so long

  using Kind = std::tuple<std::string, std::int64_t, std::uint64_t>;
  static Kind kind_of(const rota_accel_header& task) {
    return {task.operation, task.parameters[0], task.payload_bytes};
  }
  std::map<Kind, std::deque<double>> times_;
};

}  // namespace rota::accel
