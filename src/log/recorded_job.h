// What really happened to a job of a log, as far as the log tells: what a rehearsal is held against.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "model/job.h"

namespace rota::log {

struct RecordedJob {
  Duration wait{-1};      // before its last start, without `earlier` and `kept`; negative: the log does not tell it
  Duration suspended{0};  // so long it stood still between its last start and its end; it is no run time
  Duration earlier{0};    // for which it ran before, and was queued again,
  Duration kept{0};       // and beside that, so much of its run time was before its last start
  std::uint32_t queue = UINT32_MAX;      // its queue, which is Slurm's QOS; UINT32_MAX: unknown
  std::uint32_t ran_on = 0;              // the nodes that it had last, by number in Workload::node_lists; 0: unknown
  std::uint16_t backfills = 0;           // dispatches that were backfilled: told by the history of a service only, as
  std::uint16_t preemptions = 0;         // those that gave way,
  bool backfilled = false;               // and whether the last one was
  JobState state = JobState::completed;  // how it ended, where that is told; cancelled: while it ran

  bool start_is_known() const { return wait >= Duration{0}; }
};

}  // namespace rota::log
