#include "control/overdue_watch.h"

#include <utility>

namespace rota {

std::vector<Overdue> OverdueWatch::newly_overdue(const View& view, Instant now) {
  std::vector<Overdue> late;
  std::map<JobId, NamedEnd> before = std::exchange(told_, {});
  next_ = kNever;
  view.running().for_each([&](const RunningEntry& e) {
    if (e.place.end > now) {
      next_ = e.place.end;
      return false;
    }
    const Job& job = view.job(e.job);
    if (!job.settled()) return true;  // on its way: what becomes of it is told
    const NamedEnd told{job.dispatch, e.place.end};
    const auto known = before.find(e.job);
    if (known == before.end() || known->second != told) late.push_back({e.job, job.dispatch});
    told_.emplace(e.job, told);
    return true;
  });
  return late;
}

}  // namespace rota
