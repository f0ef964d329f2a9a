// What counting processors cannot tell a bid: when a site has room for a job that needs particular nodes, memory,
// accelerators, shares of nodes or licences. O(nodes + running) for each job.
#pragma once

#include "model/cluster.h"

namespace rota {

// Whether the job needs more than any processors that are free.
inline bool needs_places(const View& view, const JobSpec& job) {
  return !view.nodes().counted() && view.nodes().needs_of(job) != Needs::processors;
}

// The earliest instant from `there` on, when the job could be in the queue, at which it has room: when running jobs
// have ended as expected, those of lower priority have given way, and nodes that sleep were woken at `there`. What is
// promised to jobs that go first is theirs until they have ended, unless the job is over before. kNever: there is no
// such instant. `now`: the site's view may be older.
Instant room_for(const View& view, const JobSpec& job, Instant now, Instant there);

// Whether it has room on what is free, on nodes that boot or sleep, and on what those of lower priority hold.
bool could_offer(const View& view, const JobSpec& job);

}  // namespace rota
