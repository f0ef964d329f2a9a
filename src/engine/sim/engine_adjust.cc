// A running job stands still, goes on, or gets another limit.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/sim/engine.h"
#include "engine/sim/speed.h"

namespace rota::sim {

// Its work so far is done, and what is left waits. What stands in the calendars for it counts no longer.
void SimEngine::stand_still(JobId id, Interrupted& its) {
  Alive& job = alive_[id.value];
  const Duration ran = loop_.now() - job.start;
  killed_.insert(job.dispatch);
  its.stands = true;
  its.ran += ran;
  if (has_tasks(id)) return tasks_->stop(id, true);
  if (its.all == Duration{0}) its.all = job.run_time;
  const Duration worked = work_in(std::max(ran - its.pause, Duration{0}), job.cpu_factor);
  job.run_time -= worked;
  its.worked += worked;
  its.pause = std::max(its.pause - ran, Duration{0});
}

void SimEngine::adjust(const Command& command) {
  Alive& job = alive_[command.job.value];
  CHECK(job.dispatch != 0, "only a running job is adjusted");
  const auto is_it = [&](const Coming& c) { return c.job == command.job; };
  if (std::any_of(leaving_.begin(), leaving_.end(), is_it)) return;
  Interrupted& its = interrupted_[command.job];
  if (!its.stands && job.end <= loop_.now()) return;  // it has ended, and nobody has been told yet
  if (command.stands) {
    if (!its.stands) stand_still(command.job, its);
    return;
  }
  const Instant now = loop_.now();
  if (!std::exchange(its.stands, false)) {
    killed_.insert(job.dispatch);
  } else {
    job.start = now;
    if (has_tasks(command.job)) tasks_->start(command.job, command.where, its.pause);
  }
  job.dispatch = ++dispatches_;
  const Instant natural_end =
      has_tasks(command.job) ? kNever : job.start + its.pause + time_for(job.run_time, job.cpu_factor);
  job.end = std::max(std::min(natural_end, command.limit_end), now);
  if (job.end != kNever) ends_.push({job.end, job.dispatch, command.job, job.end < natural_end});
  ring_by(job.end);
  remind(command.job, command.expected_end);
}

}  // namespace rota::sim
