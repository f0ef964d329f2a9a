// Rehearsals on several cores: each stands for itself, so that their number changes no figure.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace rota {

// each(i) for all i below count, on so many threads.
template <class Each>
void in_parallel(std::size_t count, std::size_t threads, const Each& each) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) each(i);
  };
  std::vector<std::jthread> workers;
  for (std::size_t i = 1; i < std::min(threads, count); ++i) workers.emplace_back(work);
  work();
}

}  // namespace rota
