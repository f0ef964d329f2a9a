// Which jobs a waiting job displaces: the lowest priority gives way first, of one priority the latest start, until
// there is room; then those are spared that are not needed after all, the highest priority first. So no proper subset
// would do.
#pragma once

#include <algorithm>
#include <vector>

#include "model/cluster.h"
#include "model/moment.h"

namespace rota {

// visit(JobId) for the running jobs whose limits end them within `lag`, before any job that is told now would have
// left.
template <class Visit>
void for_each_over_soon(const View& view, Duration lag, const Visit& visit) {
  if (lag <= Duration{0}) return;
  const Instant then = view.now() + lag;
  view.running().for_each([&](const RunningEntry& e) {
    if (e.place.end > then) return false;
    const Job& job = view.job(e.job);
    if (!job.leaving && job.limit_end() > view.now() && job.limit_end() <= then) visit(e.job);
    return true;
  });
}

// Chooses from the running jobs below `priority`; none if even all of them would not make room. `room` has fits(),
// release(JobId) and take_back(JobId), has no room for the job yet, and is left as if those chosen had left.
template <class Room>
std::vector<JobId> preempted_jobs(const View& view, std::int32_t priority, Room& room) {
  std::vector<JobId> leave;
  bool fits = false;
  view.by_priority().for_each_below(priority, [&](const RunningByPriority::Entry& e) {
    if (view.job(e.job).moved_after(view.now() - kMoment)) return true;  // it has just come, and stays for now
    room.release(e.job);
    leave.push_back(e.job);
    fits = room.fits();
    return !fits;
  });
  for (std::size_t i = leave.size(); i-- > 0;) {
    room.take_back(leave[i]);
    if (fits && !room.fits()) {
      room.release(leave[i]);
    } else {
      leave.erase(leave.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return leave;
}

}  // namespace rota
