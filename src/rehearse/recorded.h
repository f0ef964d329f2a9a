// What really happened to the jobs of a log, in the shape of a rehearsal, so that it can stand beside those in every
// table, picture and file.
#pragma once

#include "rehearse/rehearse.h"

namespace rota {

inline constexpr const char* kRecorded = "recorded";  // the name of the row

// Whether the workload tells it of any job.
bool tells_recorded(const log::Workload& workload);

// Jobs whose waits the log does not tell are counted (Summary::unrecorded) and stand in no figure. Fails with a
// sentence where it tells none.
Result<Rehearsed> recorded(const log::Workload& workload, const RehearseOptions& options);

// A job as it left a rehearsal, and on how many nodes it ran last; 0: not known.
struct Left {
  const Job& job;
  std::uint32_t nodes;
};

// Adds a job of the workload, by its place there, beside what was recorded of it.
inline void add_beside_recorded(report::Tally& tally, const Left& left, const log::Workload& workload,
                                std::size_t place) {
  if (place < workload.recorded.size() && workload.recorded[place].start_is_known())
    return tally.add(left.job, left.nodes, workload.recorded[place].wait);
  tally.add(left.job, left.nodes);
}

}  // namespace rota
