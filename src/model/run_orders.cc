// What people and policies tell a job that runs: to stand still and to go on, and when it is expected to end.
#include <algorithm>

#include "base/check.h"
#include "model/cluster.h"

namespace rota {

void Cluster::end_anew(Job& job, JobId id, Duration expected, Duration stood) {
  CHECK(job.state == JobState::running, "only a running job's expected end changes");
  running_.erase({job.expected_end(), job.dispatch});
  if (!overdue_.empty()) std::erase(overdue_, id);
  ++releases_;
  job.expected = expected;
  job.stood = stood;
  running_.insert({{job.expected_end(), job.dispatch}, job.spec.processors, id});
}

// No plan counts on its end while it stands still.
void Cluster::apply(const Suspended& fact) {
  Job& job = jobs_[fact.job.value];
  if (!job.suspended()) {
    unrank_running(job, fact.job);
    end_anew(job, fact.job, job.expected, job.stood + kStandsStill);
    orders_[fact.job] = {happened_, sequence_};
  }
  job.suspended_by |= fact.by;
}

void Cluster::apply(const Resumed& fact) {
  Job& job = jobs_[fact.job.value];
  const auto rest = static_cast<Bars>(job.suspended_by & ~fact.from);
  if (rest == kNoBars) {
    end_anew(job, fact.job, job.expected, stood_by(fact.job, happened_));
    orders_[fact.job] = {kNever, sequence_};
  }
  job.suspended_by = rest;
  if (job.steady()) rank_running(job, fact.job);
}

// What was counted on follows the limit, unless a prediction that lies below both limits was.
void Cluster::apply(const LimitChanged& fact) {
  Job& job = jobs_[fact.job.value];
  requests_.try_emplace(fact.job, job.spec);
  const Duration before = job.spec.limit - job.done;
  const Duration after = fact.limit - job.done;
  const bool predicted = !job.extended && job.expected < before;
  job.spec.limit = fact.limit;
  job.extended = false;
  end_anew(job, fact.job, predicted ? std::min(job.expected, after) : after, job.stood);
  orders_[fact.job].command = sequence_;
}

// The job leaves. One that was suspended has stood until now, and no plan counted on its end.
void Cluster::forget_orders(Job& job, JobId id) {
  if (job.suspended()) {
    job.stood = stood_by(id, happened_);
    job.suspended_by = kNoBars;
    ++releases_;
  }
  orders_.erase(id);
}

void Cluster::apply(const Migrated& fact) {
  Job& job = jobs_[fact.job.value];
  CHECK(job.steady(), "only a job that runs and stays moves");
  CHECK(running_.erase({job.expected_end(), job.dispatch}), "a running job is in the index");
  nodes_.occupy(fact.where);
  nodes_.give(places_.of(fact.job), now_);
  places_.set(fact.job, fact.where);
  const Duration elapsed = job.ran_by(now_);
  charge(job);
  if (fact.expected > Duration{0}) {
    job.expected = fact.expected;
    job.corrections = 0;
  } else {
    job.expected = fact.kept ? job.expected_after(elapsed) : job.spec.limit;
  }
  job.done = fact.kept ? job.done + elapsed : Duration{0};
  job.earlier += now_ - job.start;
  job.start = now_;
  job.stood = Duration{0};
  ++job.migrations;
  job.command = sequence_;
  running_.insert({{job.expected_end(), job.dispatch}, job.spec.processors, fact.job});
  ++releases_;
  last_migration_ = now_;
}

}  // namespace rota
