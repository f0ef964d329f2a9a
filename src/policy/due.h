// When a promise is to be looked at although nothing happens. Pure.
#pragma once

#include "model/cluster.h"
#include "model/moment.h"

namespace rota {

// The promised start of a job that waits; kNever where looking then would be in vain. Each promise that falls due is
// looked at once: what was in vain then and is put off by a moment waits for an overdue job to end, and that is an
// event.
inline Instant due_next(const View& view, JobId id) {
  const Job& job = view.job(id);
  const bool seen = job.put_off != kNever && job.promise <= job.put_off + kMoment;
  return seen ? kNever : job.promise;
}

}  // namespace rota
