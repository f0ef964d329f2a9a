// Whose use counts how much, and by how much a job that waits was passed.
#include <algorithm>

#include "model/cluster.h"
#include "model/share_tree.h"

namespace rota {

void Cluster::rank_waiting() {
  waiting_.rank(now_, [&](JobId id) -> const Job& { return jobs_[id.value]; });
  if (!use_.changed().empty() || !waiting_.sorted()) rank_users();
}

void Cluster::rank_users() {
  for (const std::uint32_t user : use_.changed()) {
    waiting_.rescore(user, use_.spent_at(user));
  }
  use_.settle();
  waiting_.sort_in([&](JobId id) -> const Job& { return jobs_[id.value]; });
}

void Cluster::apply(const UserKept& fact) {
  if (fact.runs.runs != 0) history_[fact.user] = fact.runs;
  use_.put_back(fact.user, fact.spent);
}

// For a run, or a part of one, that is over now.
void Cluster::charge(const Job& job) {
  if (!use_.kept()) return;
  const JobSpec& spec = job.spec;
  Duration counts = happened_ - job.start;
  if (options_.use_by_qos && spec.qos.valid()) {
    const std::int64_t factor = options_.machine->qos[spec.qos.value].usage_factor;
    counts = counts / 1000 * factor + counts % 1000 * factor / 1000;  // long runs times large factors fit
  }
  use_.add(options_.shares ? options_.shares->holder_of(spec) : spec.user, spec.processors, counts, now_);
}

bool Cluster::has_share(const JobSpec& spec) const { return !options_.shares || options_.shares->knows(spec); }

const std::vector<double>& View::share_factors() const {
  if (share_factors_.empty() || share_factors_of_ != use_.changes()) share_factors_ = options_.shares->factors(use_);
  share_factors_of_ = use_.changes();
  return share_factors_;
}

void Cluster::count_passed(JobId passed, std::uint32_t processors) {
  Job* const job = jobs_.find(passed.value);
  if (job) job->passed += std::min(processors, UINT32_MAX - job->passed);
}

}  // namespace rota
