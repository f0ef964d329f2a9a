// How many jobs wait for which reason, for whoever measures the service from outside. Counted anew when asked, where
// the state has changed since.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string_view>

namespace rota::serve {

class Service;

class PendingCounts {
 public:
  // By the word of the reason. A count takes a look at the state for each job that waits, and a fiftieth of the
  // thread's time at most: until then what is told is of a while ago. Beyond 20,000 known jobs nothing is told.
  const std::map<std::string_view, std::int64_t>& look(const Service& service);

 private:
  using Clock = std::chrono::steady_clock;

  std::map<std::string_view, std::int64_t> counts_;
  std::uint64_t sequence_ = 0;  // of the state that was looked at
  bool counted_ = false;
  Clock::time_point not_before_{};
};

}  // namespace rota::serve
