// Limits of processor time, where a policy keeps to limits when it starts jobs.
#pragma once

#include "model/cluster.h"

namespace rota {

// Takes off what running jobs have used up of their time limits. O(running)
inline void note_time_run(const View& view, LimitUse& limits) {
  view.running().for_each([&](const RunningEntry& e) {
    const Job& job = view.job(e.job);
    limits.has_run(job.spec, job.ran_by(view.now()));
    return true;
  });
}

}  // namespace rota
