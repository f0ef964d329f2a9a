// Limits of processor time, where a policy keeps to limits when it starts jobs.
#pragma once

#include "model/cluster.h"

namespace rota {

// What jobs hold of what is limited, less what running ones have used up of their time limits. O(limits held; with
// limits of time, running jobs)
inline LimitUse limits_left(const View& view) {
  LimitUse limits = view.limits().use();
  if (!limits.kept() || !limits.book().of_time()) return limits;
  view.running().for_each([&](const RunningEntry& e) {
    const Job& job = view.job(e.job);
    limits.has_run(job.spec, job.ran_by(view.now()));
    return true;
  });
  return limits;
}

}  // namespace rota
