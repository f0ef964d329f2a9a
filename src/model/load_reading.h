// The load of a partition, or of a whole machine, as a power rule saw it when it looked: how much work its queue may
// hold against what its nodes can do. Cao et al. 2011: T, and the sums of r_min and r_max.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace rota {

struct LoadReading {
  PartitionId partition = {};  // invalid: the whole machine
  std::int64_t nodes = 0;      // that it has
  std::int64_t on = 0;         // or booting
  std::int64_t busy = 0;
  std::int64_t least_work = 0;  // node-milliseconds that the jobs of the queue take, waiting and running: at least,
  std::int64_t most_work = 0;   // and at most, each with the confidence that the rule asks for
  double load = 0;              // of the most work, which is held against the thresholds
  std::int64_t fragments = 0;   // idle nodes, if they are too few for any job that waits; else 0

  bool operator==(const LoadReading&) const = default;
};

struct LoadLook {
  Instant at = kEpoch;
  std::vector<LoadReading> loads;  // the same partitions in the same order at each look of a rehearsal
};

}  // namespace rota
