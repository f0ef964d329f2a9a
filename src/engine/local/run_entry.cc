#include "engine/local/run_entry.h"

#include <algorithm>

namespace rota::local {

JobUse use_of(const RunRecord& record) {
  if (record.lost || !record.over()) return {};  // what it used was not counted to its end
  return {Duration{record.user + record.system}, Duration{record.used_in}, record.memory};
}

DispatchEnd end_of(const RunRecord& record) {
  const JobId job{record.job};
  const JobUse use = use_of(record);
  const auto finished = [&](Outcome outcome) {
    return Finished{.job = job, .outcome = outcome, .dispatch = record.dispatch, .status = record.status, .use = use};
  };
  if (record.stood) return Vacated{job, Duration{record.ran}, record.dispatch, use};
  const Requeued requeued{job, Duration{std::max<std::int64_t>(record.limit, 1)}, record.dispatch, use};
  switch (record.asked) {
    case Asked::requeue:
    case Asked::move:
      return requeued;
    case Asked::vacate:
      return Vacated{job, Duration{std::max<std::int64_t>(record.kept, 0)}, record.dispatch, use};
    case Asked::cancel:
    case Asked::hangup:
      return finished(Outcome::cancelled);
    case Asked::limit:
      return finished(Outcome::timed_out);
    case Asked::nothing:
      break;
  }
  if (record.phase == RunPhase::suspended) return Vacated{job, Duration{record.ran}, record.dispatch};
  if (record.phase == RunPhase::failed && record.move > 0) return requeued;  // it was launched once, elsewhere
  if (record.phase == RunPhase::failed) return LaunchFailed{job, record.again, record.dispatch};
  if (record.lost) return finished(Outcome::node_failed);
  if (record.out_of_memory) return finished(Outcome::out_of_memory);
  return finished(record.status == 0 ? Outcome::completed : Outcome::failed);
}

}  // namespace rota::local
