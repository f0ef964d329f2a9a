// How many jobs wait for which reason, for programs that measure the service from outside. Counted anew when asked,
// where the state has changed since.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "serve/pending_reason.h"
#include "serve/time_share.h"

namespace rota::serve {

class PendingCounts {
 public:
  PendingCounts(const Desk& desk, const JobBook& book, const PendingReasons& reasons)
      : desk_(desk), book_(book), reasons_(reasons) {}

  // By the word of the reason. A count takes a look at the state for each job that waits, and a fiftieth of the
  // thread's time at most: until then what is told is of a while ago. Beyond 20,000 known jobs nothing is told.
  const std::map<std::string_view, std::int64_t>& look();

 private:
  void count();

  const Desk& desk_;
  const JobBook& book_;
  const PendingReasons& reasons_;
  std::map<std::string_view, std::int64_t> counts_;
  std::optional<std::uint64_t> counted_;  // sequence number of the state that was looked at
  TimeShare share_{0, 1.0 / 50};
};

}  // namespace rota::serve
