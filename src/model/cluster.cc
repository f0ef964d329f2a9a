#include "model/cluster.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace rota {

void Cluster::apply(const Event& event) {
  advance(event.at);
  struct Fold {
    Cluster& cluster;
    void operator()(const Submitted& f) { cluster.submitted(f.spec, f.expected); }
    void operator()(const Rejected& f) { cluster.rejected(f.spec); }
    void operator()(const Started& f) { cluster.started(f); }
    void operator()(const Finished& f) { cluster.finished(f); }
    void operator()(const Requeued& f) { cluster.requeued(f); }
    void operator()(const Overdue& f) { cluster.overdue_.push_back(f.job); }
    void operator()(const Expected& f) { cluster.expected(f); }
    void operator()(const Promised& f) { cluster.promised(f); }
  };
  std::visit(Fold{*this}, event.what);
}

void Cluster::advance(Instant at) {
  CHECK(at >= now_, "events come in order of time");
  now_ = at;
}

void Cluster::open_cycle(Instant now) {
  advance(now);
  waiting_.rank(now, [&](JobId id) -> const Job& { return jobs_[id.value]; });
}

JobId Cluster::submitted(const JobSpec& spec, Duration expected) {
  const JobId id{jobs_.size()};
  Job& job = jobs_.add();
  job.spec = spec;
  job.expected = expected;
  job.sequence = next_sequence_++;
  waiting_.insert(id, job);
  arrived_.push_back(id);
  return id;
}

JobId Cluster::rejected(const JobSpec& spec) {
  const JobId id{jobs_.size()};
  Job& job = jobs_.add();
  job.spec = spec;
  job.state = JobState::rejected;
  gone_.push_back(id);
  return id;
}

void Cluster::started(const Started& fact) {
  Job& job = jobs_[fact.job.value];
  CHECK(job.state == JobState::waiting, "only a waiting job starts");
  waiting_.erase(job);
  forget_promise(job, fact.job);
  job.state = JobState::running;
  job.start = now_;
  job.backfilled = fact.backfilled;
  if (fact.backfilled) ++job.backfills;
  job.dispatch = next_dispatch_++;
  running_.insert({{job.expected_end(), job.dispatch}, job.spec.processors, fact.job});
}

void Cluster::leave_running(Job& job, JobId id) {
  CHECK(job.state == JobState::running, "only a running job ends");
  CHECK(running_.erase({job.expected_end(), job.dispatch}), "a running job is in the index");
  std::erase(overdue_, id);
  ++releases_;
  job.end = now_;
}

void Cluster::finished(const Finished& fact) {
  Job& job = jobs_[fact.job.value];
  leave_running(job, fact.job);
  job.state = fact.timed_out ? JobState::timed_out : JobState::completed;
  gone_.push_back(fact.job);
  if (!options_.user_history) return;
  RunHistory& history = history_[job.spec.user];
  history.before_last = std::exchange(history.last, job.end - job.start);
  ++history.runs;
}

void Cluster::requeued(const Requeued& fact) {
  Job& job = jobs_[fact.job.value];
  leave_running(job, fact.job);
  job.state = JobState::waiting;
  ++job.kills;
  job.spec.limit = fact.limit;
  job.expected = fact.limit;
  job.sequence = next_sequence_++;
  waiting_.insert(fact.job, job);
  arrived_.push_back(fact.job);
}

void Cluster::expected(const Expected& fact) {
  Job& job = jobs_[fact.job.value];
  CHECK(job.state == JobState::running, "only a running job's expected end is corrected");
  running_.erase({job.expected_end(), job.dispatch});
  std::erase(overdue_, fact.job);
  job.expected = fact.expected;
  ++job.corrections;
  ++releases_;
  running_.insert({{job.expected_end(), job.dispatch}, job.spec.processors, fact.job});
}

void Cluster::promised(const Promised& fact) {
  Job& job = jobs_[fact.job.value];
  CHECK(job.state == JobState::waiting, "only a waiting job gets a promise");
  if (fact.start == kNever) return forget_promise(job, fact.job);
  if (job.promise == kNever) promised_.insert(std::lower_bound(promised_.begin(), promised_.end(), fact.job), fact.job);
  job.promise = fact.start;
  if (job.first_promise == kNever) job.first_promise = fact.start;
}

void Cluster::forget_promise(Job& job, JobId id) {
  if (job.promise == kNever) return;
  promised_.erase(std::lower_bound(promised_.begin(), promised_.end(), id));
  job.promise = kNever;
}

}  // namespace rota
