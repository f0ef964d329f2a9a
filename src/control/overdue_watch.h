// Names the running jobs whose expected ends have passed, for an engine that keeps no calendar of its own and goes by
// the state. Each end is named once. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "control/ports.h"

namespace rota {

class OverdueWatch {
 public:
  // Those that have become overdue since the last call. O(those that are overdue).
  std::vector<Overdue> newly_overdue(const View& view, Instant now);
  // When the next running job is expected to end, after that; kNever: none is.
  Instant next() const { return next_; }

 private:
  struct NamedEnd {
    std::uint32_t dispatch;
    Instant end;
    bool operator==(const NamedEnd&) const = default;
  };

  std::map<JobId, NamedEnd> told_;  // of those that are overdue
  Instant next_ = kNever;
};

}  // namespace rota
