#include "control/grant_log.h"

namespace rota {

void GrantLog::lose(const View& before, JobId id, Duration kept) {
  const Job& job = before.job(id);
  if (job.state == JobState::running && job.spec.submit >= counted_from_)
    lost_work_ += (before.now() - job.start - kept) * job.spec.processors;
}

void GrantLog::fact_recorded(const View& before, const FactRef& fact) {
  if (const auto* requeued = std::get_if<const Requeued*>(&fact.what)) {
    lose(before, (*requeued)->job, Duration{0});
  } else if (const auto* vacated = std::get_if<const Vacated*>(&fact.what)) {
    lose(before, (*vacated)->job, (*vacated)->kept);
  } else if (const auto* cancelled = std::get_if<const Cancelled*>(&fact.what)) {
    lose(before, (*cancelled)->job, Duration{0});
  } else if (const auto* migrated = std::get_if<const Migrated*>(&fact.what)) {
    if (!(*migrated)->kept) lose(before, (*migrated)->job, -before.job((*migrated)->job).done);
  } else if (const auto* extended = std::get_if<const Extended*>(&fact.what)) {
    if (before.job((*extended)->job).spec.submit < counted_from_) return;
    const Reason& why = (*extended)->reason;
    const std::int64_t beneficiary = why.promised.valid() ? before.job(why.promised).spec.number : -1;
    grants_.push_back({before.job((*extended)->job).spec.number, fact.at, (*extended)->until, beneficiary, why.promise,
                       why.free, why.needed});
  }
}

}  // namespace rota
