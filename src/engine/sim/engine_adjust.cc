// A running job stands still, goes on, or gets another limit.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/sim/engine.h"
#include "model/cpu_factor.h"

namespace rota::sim {

// Its work so far is done, and what is left waits. What stands in the calendars for it counts no longer.
void SimEngine::stand_still(JobId id, Interrupted& interrupted) {
  Alive& job = alive_[id.value];
  const Duration ran = loop_.now() - job.start;
  killed_.insert(job.dispatch);
  interrupted.stands = true;
  interrupted.ran += ran;
  if (has_tasks(id)) return tasks_->stop(id, true);
  if (interrupted.all == Duration{0}) interrupted.all = job.run_time;
  const Duration worked = work_in(std::max(ran - interrupted.pause, Duration{0}), job.cpu_factor);
  job.run_time -= worked;
  interrupted.worked += worked;
  interrupted.pause = std::max(interrupted.pause - ran, Duration{0});
}

void SimEngine::adjust(const Command& command) {
  Alive& job = alive_[command.job.value];
  CHECK(job.dispatch != 0, "only a running job is adjusted");
  const auto is_it = [&](const Coming& c) { return c.job == command.job; };
  if (std::any_of(leaving_.begin(), leaving_.end(), is_it)) return;
  Interrupted& interrupted = interrupted_[command.job];
  if (!interrupted.stands && job.end <= loop_.now()) return;  // it has ended, and that is not reported yet
  if (command.stands) {
    if (!interrupted.stands) stand_still(command.job, interrupted);
    return;
  }
  const Instant now = loop_.now();
  if (!std::exchange(interrupted.stands, false)) {
    killed_.insert(job.dispatch);
  } else {
    job.start = now;
    if (has_tasks(command.job)) tasks_->start(command.job, command.where, interrupted.pause);
  }
  job.dispatch = ++dispatches_;
  const Instant natural_end =
      has_tasks(command.job) ? kNever : job.start + interrupted.pause + time_for(job.run_time, job.cpu_factor);
  job.end = std::max(std::min(natural_end, command.limit_end), now);
  if (job.end != kNever) ends_.push({job.end, job.dispatch, command.job, job.end < natural_end});
  ring_by(job.end);
  remind(command.job, command.expected_end);
}

}  // namespace rota::sim
