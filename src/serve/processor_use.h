// What the processors of a machine are doing, counted so that each counts once.
#pragma once

#include <cstdint>

#include "model/cluster.h"
#include "model/machine.h"

namespace rota::serve {

struct ProcessorUse {
  std::int64_t busy = 0;            // a running job holds them
  std::int64_t free = 0;            // a job may start on them
  std::int64_t out_of_service = 0;  // of nodes that drain, are drained or are down, those that no job holds
  std::int64_t asleep = 0;          // the same of nodes that are off, boot or go to sleep
};

// O(nodes).
ProcessorUse processor_use(const Machine& machine, const View& view);

}  // namespace rota::serve
