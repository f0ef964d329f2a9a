// What is yet to happen to running jobs, by time: a heap in which each node has four children, which sit side by side
// in one cache line. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace rota::sim {

struct Coming {
  Instant at;
  std::uint32_t dispatch;  // breaks ties: the order in which jobs were started
  JobId job;

  // Both sides are always computed: which comes first cannot be guessed.
  bool before(const Coming& o) const {
    return unsigned{at < o.at} | (unsigned{at == o.at} & unsigned{dispatch < o.dispatch});
  }
};

class Calendar {
 public:
  bool empty() const { return heap_.empty(); }
  const Coming& next() const { return heap_.front(); }

  void add(const Coming& coming) {
    heap_.push_back(coming);
    rise(heap_.size() - 1, coming);
  }

  // The hole that it leaves sinks to the bottom, whatever the last one says, which then hardly ever rises from there.
  void drop_next() {
    const Coming last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    std::size_t hole = 0;
    for (std::size_t child = 1; child < heap_.size(); child = kFan * hole + 1) {
      const std::size_t first = child + kFan <= heap_.size() ? first_of_four(child) : first_of_rest(child);
      heap_[hole] = heap_[first];
      hole = first;
    }
    rise(hole, last);
  }

 private:
  static constexpr std::size_t kFan = 4;

  void rise(std::size_t hole, const Coming& coming) {
    for (; hole > 0 && coming.before(heap_[(hole - 1) / kFan]); hole = (hole - 1) / kFan)
      heap_[hole] = heap_[(hole - 1) / kFan];
    heap_[hole] = coming;
  }

  std::size_t first_of_two(std::size_t a, std::size_t b) const {
    return a ^ ((a ^ b) & (std::size_t{0} - std::size_t{heap_[b].before(heap_[a])}));
  }
  std::size_t first_of_four(std::size_t child) const {
    return first_of_two(first_of_two(child, child + 1), first_of_two(child + 2, child + 3));
  }
  std::size_t first_of_rest(std::size_t child) const {
    std::size_t first = child;
    for (std::size_t c = child + 1; c < heap_.size(); ++c) first = first_of_two(first, c);
    return first;
  }

  std::vector<Coming> heap_;
};

}  // namespace rota::sim
