#include "model/cluster.h"

#include <algorithm>
#include <span>
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
    void operator()(const Preempted& f) { cluster.preempted(f); }
    void operator()(const Vacated& f) { cluster.vacated(f); }
    void operator()(const Migrated& f) { cluster.migrated(f); }
    void operator()(const Cancelled& f) { cluster.cancelled(f); }
    void operator()(const Overdue& f) { cluster.overdue_.push_back(f.job); }
    void operator()(const Expected& f) { cluster.expected(f); }
    void operator()(const Extended& f) { cluster.extended(f); }
    void operator()(const Promised& f) { cluster.promised(f); }
    void operator()(const PowerChanged& f) { cluster.power_changed(f); }
    void operator()(const Serving& f) { cluster.power_.served(f.node, f.serves); }
    void operator()(const PowerReviewed& f) { cluster.power_reviewed(f.next); }
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
  if (!nodes_.counted()) add_to_nodes(job);
  arrived_.push_back(id);
  if (options_.demand_history) demand_.add(now_, spec.processors);
  return id;
}

JobId Cluster::rejected(const JobSpec& spec) {
  const JobId id{jobs_.size()};
  Job& job = jobs_.add();
  job.spec = spec;
  job.state = JobState::rejected;
  if (!nodes_.counted()) add_to_nodes(job);
  gone_.push_back(id);
  return id;
}

void Cluster::add_to_nodes(const Job& job) {
  places_.add_job();
  promised_places_.add_job();
  if (job.state == JobState::waiting) count_waiting(job, 1);
}

// What decides whether counts decide.
void Cluster::count_waiting(const Job& job, std::int64_t change) {
  const Needs needs = nodes_.needs_of(job.spec);
  if (needs == Needs::places) waiting_for_places_ += change;
  if (needs == Needs::whole_nodes) waiting_for_whole_nodes_ += change;
  if (nodes_.uniform() == 0 || job.spec.processors % nodes_.uniform() != 0) waiting_for_parts_ += change;
}

void Cluster::started(JobId id, bool backfilled, const Placement& where) {
  Job& job = jobs_[id.value];
  CHECK(job.state == JobState::waiting, "only a waiting job starts");
  waiting_.erase(job);
  forget_promise(job, id);
  job.state = JobState::running;
  job.start = now_;
  job.backfilled = backfilled;
  if (backfilled) ++job.backfills;
  job.dispatch = next_dispatch_++;
  running_.insert({{job.expected_end(), job.dispatch}, job.spec.processors, id});
  if (options_.by_priority) by_priority_.insert({job.spec.priority, job.dispatch, job.spec.processors, id});
  if (!nodes_.counted()) {
    count_waiting(job, -1);
    nodes_.take(where);
    places_.set(id, where);
  }
  if (!options_.list_processors) return;
  if (options_.presume_ended) release_presumed_ended();
  const bool own = set_aside_for_ == id;
  map_.take(id, job.spec.processors,
            own ? std::span<const std::uint32_t>(set_aside_) : std::span<const std::uint32_t>{});
  if (own) set_aside_for_ = JobId{};
}

// Before their ends are reported: what counts as free must be there to take.
void Cluster::release_presumed_ended() {
  running_.for_each([&](const RunningEntry& e) {
    if (e.place.end > now_) return false;
    map_.release(e.job);
    return true;
  });
}

void Cluster::leave_running(Job& job, JobId id) {
  CHECK(job.state == JobState::running, "only a running job ends");
  CHECK(running_.erase({job.expected_end(), job.dispatch}), "a running job is in the index");
  std::erase(overdue_, id);
  if (job.leaving) {
    job.leaving = false;
    const auto left = std::find_if(leaving_.begin(), leaving_.end(), [&](const Leaving& l) { return l.job == id; });
    job.expected = left->expected;
    leaving_.erase(left);
  } else if (options_.by_priority) {
    by_priority_.erase({job.spec.priority, job.dispatch, job.spec.processors, id});
  }
  if (options_.list_processors) map_.release(id);
  if (!nodes_.counted()) {
    nodes_.give(places_.of(id), now_);
    places_.erase(id);
  }
  ++releases_;
  job.end = now_;
}

void Cluster::finished(const Finished& fact) {
  Job& job = jobs_[fact.job.value];
  leave_running(job, fact.job);
  job.state = fact.timed_out ? JobState::timed_out : JobState::completed;
  gone_.push_back(fact.job);
  if (options_.work_history) work_.add(job.spec, job.end - job.start);
  if (!options_.user_history) return;
  RunHistory& history = history_[job.spec.user];
  history.before_last = std::exchange(history.last, job.run_time());
  ++history.runs;
}

// What comes back counts as released, and so does what is expected back at another time than before.
void Cluster::power_changed(const PowerChanged& fact) {
  CHECK(!nodes_.counted(), "only a node that is described is switched on and off");
  const bool was_on = power_.state(fact.node) == PowerState::on;
  CHECK(!was_on || nodes_.idle(fact.node), "no node on which a job runs is switched off");
  power_.changed(fact.node, fact.state, now_, fact.until);
  if (was_on) nodes_.set_available(fact.node, false);
  if (fact.state == PowerState::on) nodes_.wake(fact.node, now_);
  if (fact.state != PowerState::shutting_down) ++releases_;
}

void Cluster::requeued(const Requeued& fact) {
  Job& job = jobs_[fact.job.value];
  leave_running(job, fact.job);
  ++job.kills;
  job.corrections = 0;
  job.spec.limit = fact.limit;
  job.expected = fact.limit;
  job.done = Duration{0};
  job.sequence = next_sequence_++;
  queue_again(job, fact.job);
}

void Cluster::queue_again(Job& job, JobId id) {
  job.state = JobState::waiting;
  job.extended = false;
  waiting_.insert(id, job);
  if (!nodes_.counted()) count_waiting(job, 1);
  arrived_.push_back(id);
}

void Cluster::preempted(const Preempted& fact) {
  Job& job = jobs_[fact.job.value];
  CHECK(job.state == JobState::running && !job.leaving, "only a running job gives way, and once");
  job.leaving = true;
  leaving_.push_back({fact.job, fact.beneficiary, job.expected});
  if (options_.by_priority) by_priority_.erase({job.spec.priority, job.dispatch, job.spec.processors, fact.job});
  if (fact.until != kNever) expect_anew(job, fact.job, fact.until - job.start);
}

void Cluster::vacated(const Vacated& fact) {
  Job& job = jobs_[fact.job.value];
  leave_running(job, fact.job);
  ++job.preemptions;
  job.expected = job.expected_after(fact.kept);
  job.done += fact.kept;
  queue_again(job, fact.job);
}

void Cluster::migrated(const Migrated& fact) {
  Job& job = jobs_[fact.job.value];
  CHECK(job.state == JobState::running && !job.leaving, "only a running job that stays moves");
  CHECK(running_.erase({job.expected_end(), job.dispatch}), "a running job is in the index");
  nodes_.take(fact.where);
  nodes_.give(places_.of(fact.job), now_);
  places_.set(fact.job, fact.where);
  const Duration elapsed = now_ - job.start;
  job.expected = fact.kept ? job.expected_after(elapsed) : job.spec.limit;
  job.done = fact.kept ? job.done + elapsed : Duration{0};
  job.start = now_;
  ++job.migrations;
  running_.insert({{job.expected_end(), job.dispatch}, job.spec.processors, fact.job});
  ++releases_;
  last_migration_ = now_;
}

void Cluster::cancelled(const Cancelled& fact) {
  Job& job = jobs_[fact.job.value];
  if (job.state == JobState::running) {
    leave_running(job, fact.job);
  } else {
    CHECK(job.state == JobState::waiting, "only a job that waits or runs is taken back");
    waiting_.erase(job);
    if (!nodes_.counted()) count_waiting(job, -1);
    forget_promise(job, fact.job);
    std::erase(arrived_, fact.job);
    ++releases_;  // those behind it may move up
  }
  job.state = JobState::cancelled;
  gone_.push_back(fact.job);
}

void Cluster::expected(const Expected& fact) {
  Job& job = jobs_[fact.job.value];
  ++job.corrections;
  expect_anew(job, fact.job, fact.expected);
}

void Cluster::extended(const Extended& fact) {
  Job& job = jobs_[fact.job.value];
  job.extended = true;
  expect_anew(job, fact.job, fact.until - job.start);
}

void Cluster::expect_anew(Job& job, JobId id, Duration expected) {
  CHECK(job.state == JobState::running, "only a running job's expected end changes");
  running_.erase({job.expected_end(), job.dispatch});
  std::erase(overdue_, id);
  ++releases_;
  job.expected = expected;
  running_.insert({{job.expected_end(), job.dispatch}, job.spec.processors, id});
}

std::vector<JobId> View::blockers() const {
  std::vector<JobId> blockers;
  if (!set_aside_for_.valid()) return blockers;
  for (const std::uint32_t p : set_aside_) {
    if (map_.owner(p).valid()) blockers.push_back(map_.owner(p));
  }
  std::sort(blockers.begin(), blockers.end(), [&](JobId a, JobId b) { return job(a).dispatch < job(b).dispatch; });
  blockers.erase(std::unique(blockers.begin(), blockers.end()), blockers.end());
  return blockers;
}

void Cluster::set_aside(const Job& job, JobId id) {
  set_aside_for_ = id;
  std::vector<std::pair<Instant, std::uint32_t>> by_release;
  for (std::uint32_t p = 0; p < map_.size(); ++p) {
    const JobId owner = map_.owner(p);
    by_release.emplace_back(owner.valid() ? std::max(jobs_[owner.value].expected_end(), now_ + Duration{1}) : now_, p);
  }
  const auto count = static_cast<std::ptrdiff_t>(job.spec.processors);
  std::partial_sort(by_release.begin(), by_release.begin() + count, by_release.end());
  set_aside_.clear();
  for (auto at = by_release.begin(); at != by_release.begin() + count; ++at) set_aside_.push_back(at->second);
}

void Cluster::promised(JobId id, Instant start, const Placement& where) {
  Job& job = jobs_[id.value];
  CHECK(job.state == JobState::waiting, "only a waiting job gets a promise");
  if (start == kNever) return forget_promise(job, id);
  if (job.promise == kNever) promised_.insert(std::lower_bound(promised_.begin(), promised_.end(), id), id);
  if (job.promise <= now_) job.put_off = now_;
  job.promise = start;
  if (where.shares.empty()) {
    if (!nodes_.counted()) promised_places_.erase(id);
  } else {
    promised_places_.set(id, where);
  }
  if (options_.list_processors) set_aside(job, id);
  if (job.first_promise == kNever) job.first_promise = start;
}

void Cluster::forget_promise(Job& job, JobId id) {
  if (job.promise == kNever) return;
  promised_.erase(std::lower_bound(promised_.begin(), promised_.end(), id));
  if (job.promise <= now_) job.put_off = now_;
  job.promise = kNever;
  if (!nodes_.counted()) promised_places_.erase(id);
}

}  // namespace rota
