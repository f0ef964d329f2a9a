// Whose use counts how much, and by how much a job that waits was passed.
#include <algorithm>
#include <map>

#include "model/cluster.h"
#include "model/share_tree.h"

namespace rota {
namespace {

// Long runs times large numbers fit.
Duration part_of(Duration run, std::int64_t numerator, std::int64_t denominator) {
  __extension__ using Wide = __int128;
  return Duration{static_cast<std::int64_t>(std::min<Wide>(Wide{run.count()} * numerator / denominator, INT64_MAX))};
}

}  // namespace

void Cluster::rank_waiting() {
  waiting_.rank(now_, [&](JobId id) -> const Job& { return jobs_[id.value]; });
  if (!use_.recent().changed().empty() || !waiting_.sorted()) rank_users();
}

void Cluster::rank_users() {
  for (const std::uint32_t user : use_.recent().changed()) {
    waiting_.rescore(user, use_.recent().spent_at(user));
  }
  use_.settle();
  waiting_.sort_in([&](JobId id) -> const Job& { return jobs_[id.value]; });
}

void Cluster::apply(const UserKept& fact) {
  if (fact.runs.runs != 0) history_[fact.user] = fact.runs;
  use_.put_back(fact.user, fact.spent, fact.owed);
}

Duration Cluster::counts_in_use(const JobSpec& spec, Duration run) const {
  if (!options_.use.weighed) return run;
  if (spec.qos.valid()) run = part_of(run, options_.machine->qos[spec.qos.value].usage_factor, 1000);
  if (!options_.machine || !spec.partition.valid()) return run;
  const Billing& billing = options_.machine->partitions[spec.partition.value].billing;
  return billing.by_processors() ? run : part_of(run, billing.of(spec), std::int64_t{1000} * spec.processors);
}

// For a run, or a part of one, that is over now.
void Cluster::charge(const Job& job) {
  if (!use_.kept()) return;
  use_.add(job.spec, counts_in_use(job.spec, happened_ - use_.uncounted(job.start, now_)), now_);
}

// One after the other, so that it does not matter how often time moves: nothing else has happened since.
void Cluster::charge_periods(Instant at) {
  const Instant last = use_.period_before(at);
  const Duration period = options_.use.period;
  for (Instant end = running_.empty() ? last : use_.period_before(now_) + period; end <= last; end += period) {
    std::map<std::uint32_t, RecentUse::Work> done;
    running_.for_each([&](const RunningEntry& e) {
      const Job& job = jobs_[e.job.value];
      const Duration run = counts_in_use(job.spec, end - std::max(job.start, end - period));
      if (run > Duration{0})
        done[use_.user_of(job.spec)] += RecentUse::Work{job.spec.processors} * static_cast<std::uint64_t>(run.count());
      return true;
    });
    use_.reckon(end, done);
  }
}

bool Cluster::has_share(const JobSpec& spec) const { return !options_.use.shares || options_.use.shares->knows(spec); }

void Cluster::count_passed(JobId passed, std::uint32_t processors) {
  Job* const job = jobs_.find(passed.value);
  if (job) job->passed += std::min(processors, UINT32_MAX - job->passed);
}

}  // namespace rota
