// When a promise is to be looked at although nothing happens. Pure.
#pragma once

#include <algorithm>

#include "model/cluster.h"
#include "model/moment.h"

namespace rota {

// The promised start of a job that waits; kNever where looking then would be in vain. Each promise that falls due is
// looked at once: what was in vain then and is put off by a moment waits for an overdue job to end, and that is an
// event. So does what lies a moment ahead, or one for each promised job, and was looked at since there was news: else
// jobs behind overdue ones that are put off in turns would be looked at in turns for ever.
inline Instant due_next(const View& view, JobId id) {
  const Job& job = view.job(id);
  if (job.put_off == kNever) return job.promise;
  const Duration moments = kMoment * static_cast<std::int64_t>(std::max<std::size_t>(view.promised().size(), 1));
  const bool behind_overdue = job.promise <= view.now() + moments && view.last_news() < job.put_off;
  return job.promise <= job.put_off + kMoment || behind_overdue ? kNever : job.promise;
}

}  // namespace rota
