// What a job's use counts in fair share, by its partition: Slurm's TRESBillingWeights (slurm.conf(5), 22.05). Plain
// data.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/job.h"

namespace rota {

// Weights per mille: a processor that counts 1 counts as 1,000.
struct Billing {
  std::int64_t processor = 1000;
  std::int64_t node = 0;
  std::int64_t memory = 0;  // of a GiB
  std::int64_t accelerator = 0;
  bool most = false;  // the greatest of these alone counts, not their sum (PriorityFlags=MAX_TRES)

  bool operator==(const Billing&) const = default;
  bool by_processors() const { return *this == Billing{}; }

  // What the job counts, per mille of a processor. A job that names no number of nodes counts as on one.
  std::int64_t of(const JobSpec& spec) const {
    constexpr std::int64_t kMebi = std::int64_t{1} << 20U;
    const std::int64_t nodes = std::max<std::int64_t>(spec.nodes, 1);
    const std::int64_t parts[]{spec.processors * processor, nodes * node, spec.memory / kMebi * nodes * memory / 1024,
                               nodes * spec.accelerators * accelerator};
    return most ? *std::ranges::max_element(parts) : parts[0] + parts[1] + parts[2] + parts[3];
  }
};

}  // namespace rota
