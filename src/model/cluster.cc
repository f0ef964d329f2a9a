#include "model/cluster.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>
#include <variant>

#include "base/check.h"
#include "model/moment.h"

namespace rota {
namespace {

// A launch that failed is tried again after so long, twice as long after each further one, and is held after the last.
constexpr Duration kFirstRetry = seconds(10);
constexpr std::uint8_t kMostLaunches = 8;

}  // namespace

View::View(const ClusterOptions& options)
    : options_(options),
      waiting_(options.waiting),
      map_(options.list_processors ? options.processors : 0),
      nodes_(options.machine, options.idle_order, options.node_order),
      power_(options.machine),
      work_(options.machine),
      demand_(power_.longest_boot()),
      use_(options.use),
      limits_(options.limits, options.limits_at_start) {}

View::~View() = default;

Cluster::Cluster(const ClusterOptions& options) : View(options) {}

Cluster::~Cluster() = default;

void Cluster::fold(const Fact& fact) {
  advance(fact.at);
  std::visit([&](const auto& what) { fold_now(fact.sequence, what, fact.late); }, fact.what);
}

void Cluster::apply(const CycleClosed& /*fact*/) {
  rank_waiting();  // where no cycle was opened
  if (limits_.any_due()) limits_.looked_at([&](JobId id) -> const JobSpec& { return jobs_[id.value].spec; });
  if (!gone_.empty()) forget_gone();
  counts_decided_ = counts_decide();
  if (!reservations_.waiting().empty()) leave_reservations_over();
  if (!reservations_.empty()) reservations_.forget_over(now_);
  if (!arrived_.empty() || releases_ > 0 || !overdue_.empty()) last_news_ = now_;
  overdue_.clear();
  arrived_.clear();
  releases_ = 0;
}

void Cluster::forget_gone() {
  for (const JobId id : gone_) {
    jobs_.retire(id.value);
    if (!requests_.empty()) requests_.erase(id);
    if (nodes_.counted()) continue;
    places_.retire_job(id);
    promised_places_.retire_job(id);
  }
  gone_.clear();
}

void Cluster::apply(const Submitted& fact) {
  Job& job = jobs_.add(fact.job.value);
  next_job_ = JobId{fact.job.value + 1};
  last_number_ = std::max(last_number_, fact.spec.number);
  job.spec = fact.spec;
  job.expected = fact.expected;
  job.sequence = next_sequence_++;
  job.ahead = fact.ahead;
  if (first_submit_ == kNever) count_from(fact.spec.submit);
  if (!nodes_.counted()) add_to_nodes(fact.job);
  if (options_.demand_history) demand_.add(now_, fact.spec.processors);
  if (!trades_.empty() && job.ours()) trades_.queued(fact.spec.number, fact.job);
  if (fact.bars == kNoBars) return queue(job, fact.job);
  job.state = JobState::barred;
  job.bars = fact.bars;
  ++barred_;
  limits_.settled(fact.job, job.spec, job.bars);
}

void Cluster::apply(const Rejected& fact) {
  Job& job = jobs_.add(fact.job.value);
  next_job_ = JobId{fact.job.value + 1};
  last_number_ = std::max(last_number_, fact.spec.number);
  job.spec = fact.spec;
  job.state = JobState::rejected;
  if (!nodes_.counted()) add_to_nodes(fact.job);
  gone_.push_back(fact.job);
}

void Cluster::count_from(Instant first) {
  first_submit_ = first;
  waiting_.count_from(first);
}

void Cluster::add_to_nodes(JobId id) {
  places_.add_job(id);
  promised_places_.add_job(id);
}

// A job that is in no index yet joins those that wait.
void Cluster::queue(Job& job, JobId id) {
  job.state = JobState::waiting;
  join_waiting(job, id);
  limits_.queued(job.spec);
  arrived_.push_back(id);
  if (!eligibility_.empty()) eligibility_.queued(id);
}

// And leaves them without being started.
void Cluster::unqueue(Job& job, JobId id) {
  leave_waiting(job);
  limits_.unqueued(job.spec);
  forget_promise(job, id);
  std::erase(arrived_, id);
  ++releases_;  // those behind it may move up
}

// For a job that waits or is barred.
void Cluster::set_bars(Job& job, JobId id, Bars bars) {
  const bool was_barred = job.state == JobState::barred;
  job.bars = bars;
  if (was_barred && bars == kNoBars) {
    --barred_;
    queue(job, id);
  } else if (!was_barred && bars != kNoBars) {
    unqueue(job, id);
    eligibility_.unqueued(id);
    job.state = JobState::barred;
    ++barred_;
  }
  eligibility_.settled(id, bars);
  limits_.settled(id, job.spec, bars);
}

// What keeps it from being queued now that is held by these.
Bars Cluster::bars_of(JobId id, Bars held) const {
  const Bars bars = held | eligibility_.bars(id, now_);
  return bars == kNoBars ? limits_.bars(jobs_[id.value].spec) : bars;
}

void Cluster::apply(const Held& fact) {
  Job& job = jobs_[fact.job.value];
  set_bars(job, fact.job, job.bars | fact.by);
}

void Cluster::apply(const Released& fact) {
  Job& job = jobs_[fact.job.value];
  set_bars(job, fact.job, bars_of(fact.job, static_cast<Bars>(job.bars & kUntilLifted & ~fact.from)));
  if (!trades_.empty() && job.ours()) trades_.queued(job.spec.number, fact.job);
}

void Cluster::apply(const Eligible& fact) {
  Job& job = jobs_[fact.job.value];
  CHECK(job.state == JobState::barred || fact.bars == kOverLimit, "only a job that is not queued becomes eligible");
  set_bars(job, fact.job, fact.bars);
}

// What it held before counts as the same processor time of as many as it asks for now.
void Cluster::count_earlier_anew(Job& job, std::uint32_t before) {
  if (job.start == kNever) return;
  const Duration latest = job.end - job.start;
  __extension__ using Wide = unsigned __int128;
  const Wide counts = static_cast<Wide>((job.earlier + latest).count()) * before / job.spec.processors;
  const auto most = static_cast<Wide>(kLongest.count());
  job.earlier = Duration{static_cast<std::int64_t>(std::min(counts, most))} - latest;
}

// In the queue it is as if it had left and come again, at its own place in order of arrival.
void Cluster::apply(const Amended& fact) {
  Job& job = jobs_[fact.job.value];
  const bool waits = job.state == JobState::waiting;
  if (waits) {
    unqueue(job, fact.job);
    eligibility_.unqueued(fact.job);
  }
  const JobSpec before = job.spec;
  fact.amend(job.spec);
  const auto asks = [](const JobSpec& spec) {
    return std::tie(spec.limit, spec.priority, spec.partition, spec.processors, spec.nodes, spec.memory);
  };
  if (asks(job.spec) != asks(before)) requests_.try_emplace(fact.job, before);
  if (job.spec.limit != before.limit) job.expected = std::max(job.spec.limit - job.done, Duration{1});
  if (job.spec.processors != before.processors) count_earlier_anew(job, before.processors);
  JobTerms terms = fact.terms;
  const auto runs = [&](const Dependency& d) {
    const Job& on = jobs_[d.on.value];
    if (d.when != Dependency::When::started || on.state != JobState::running || on.starting) return false;
    if (d.later > Duration{0}) terms.begin = std::max(terms.begin, on.start + d.later);
    return true;
  };
  if (std::erase_if(terms.after, runs) > 0 && terms.any) terms.after.clear();
  eligibility_.set(fact.job, terms);
  if (waits) {
    job.state = JobState::barred;
    ++barred_;
  }
  set_bars(job, fact.job, bars_of(fact.job, static_cast<Bars>(job.bars & kUntilLifted)));
}

// In the queue it is as if the job had left and come again, as when it is amended.
void Cluster::apply(const LicencesChanged& fact) {
  Job& job = jobs_[fact.job.value];
  const bool waits = job.state == JobState::waiting;
  if (waits) unqueue(job, fact.job);
  requests_.try_emplace(fact.job, job.spec);
  copy_licences(fact, job.spec);
  if (!waits) return;
  eligibility_.unqueued(fact.job);
  queue(job, fact.job);
}

// What decides whether counts decide.
void Cluster::count_waiting(const Job& job, std::int64_t change) {
  const Needs needs = nodes_.needs_of(job.spec);
  if (needs == Needs::places) waiting_for_places_ += change;
  if (needs == Needs::whole_nodes) waiting_for_whole_nodes_ += change;
  if (nodes_.uniform() == 0 || job.spec.processors % nodes_.uniform() != 0) waiting_for_parts_ += change;
}

void Cluster::apply(const Started& fact) {
  const JobId id = fact.job;
  Job& job = jobs_[id.value];
  CHECK(job.state == JobState::waiting, "only a waiting job starts");
  job.starting = options_.confirms_starts;
  job.backfilled = fact.backfilled;
  if (fact.backfilled) ++job.backfills;
  if (!nodes_.counted()) nodes_.occupy(fact.where);
  begin_to_run(job, id, fact.where);
  if (fact.reason.rule == Rule::passes_unforeseen) count_passed(fact.reason.promised, job.spec.processors);
  if (!options_.list_processors) return;
  if (options_.presume_ended) release_presumed_ended();
  const bool own = set_aside_for_ == id;
  map_.occupy(id, job.spec.processors,
              own ? std::span<const ProcessorRange>(set_aside_) : std::span<const ProcessorRange>{});
  if (own) set_aside_for_ = JobId{};
}

// A waiting job, whose place has been taken in the index of nodes.
void Cluster::begin_to_run(Job& job, JobId id, const Placement& where) {
  leave_waiting(job);
  forget_promise(job, id);
  job.state = JobState::running;
  limits_.started(job.spec);
  if (job.start != kNever) job.earlier += job.end - job.start;
  job.start = happened_;
  job.dispatch = next_dispatch_++;
  job.command = sequence_;
  job.passed = 0;
  running_.insert({{job.expected_end(), job.dispatch}, job.spec.processors, id});
  if (!job.starting) rank_running(job, id);
  if (!nodes_.counted()) places_.set(id, where);
  if (!eligibility_.empty() && !job.starting) eligibility_.started(id, job.start);
}

void Cluster::rank_running(const Job& job, JobId id) {
  if (options_.by_priority && job.ours())
    by_priority_.insert({job.spec.priority, job.dispatch, job.spec.processors, id});
}

void Cluster::unrank_running(const Job& job, JobId id) {
  if (options_.by_priority && job.steady())
    by_priority_.erase({job.spec.priority, job.dispatch, job.spec.processors, id});
}

void Cluster::apply(const Launched& fact) {
  Job& job = jobs_[fact.job.value];
  job.starting = false;
  job.failed_launches = 0;
  if (job.steady()) rank_running(job, fact.job);
  if (!eligibility_.empty()) eligibility_.started(fact.job, job.start);
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
  if (!overdue_.empty()) std::erase(overdue_, id);
  charge(job);
  limits_.ended(job.spec);
  if (job.leaving) {
    job.leaving = false;
    const auto left = std::find_if(leaving_.begin(), leaving_.end(), [&](const Leaving& l) { return l.job == id; });
    job.expected = left->expected;
    leaving_.erase(left);
  } else {
    unrank_running(job, id);
  }
  if (options_.list_processors) map_.release(id);
  if (!nodes_.counted()) {
    nodes_.give(places_.of(id), happened_);
    places_.erase(id);
  }
  ++releases_;
  if (!orders_.empty()) forget_orders(job, id);
  if (!bindings_.empty()) bindings_.left_nodes(id);
  job.starting = false;
  job.stopping = false;
  job.cancelling = false;
  job.end = happened_;
}

void Cluster::leave_for_good(Job& job, JobId id, JobState state) {
  job.state = state;
  gone_.push_back(id);
  limits_.gone(id);
  if (!trades_.empty()) trades_.ended(job.spec.number, id);
  if (!bindings_.empty()) bindings_.forget(id);
  if (eligibility_.empty()) return;
  eligibility_.unqueued(id);
  eligibility_.ended(id, state == JobState::completed, happened_);
  eligibility_.forget(id);
}

void Cluster::apply(const Finished& fact) {
  Job& job = jobs_[fact.job.value];
  if (job.state != JobState::running) return end_unseen(job, fact.job);
  leave_running(job, fact.job);
  leave_for_good(job, fact.job, state_after(fact.outcome));
  if (options_.work_history) work_.add(job.spec, job.end - job.start);
  if (!options_.user_history || job.spec.user == UINT32_MAX) return;  // runs without a user say nothing of others
  RunHistory& history = history_[job.spec.user];
  history.before_last = std::exchange(history.last, job.run_time());
  ++history.runs;
}

void Cluster::apply(const LaunchFailed& fact) {
  Job& job = jobs_[fact.job.value];
  leave_running(job, fact.job);
  if (!fact.again) return leave_for_good(job, fact.job, JobState::failed);
  if (job.failed_launches < UINT8_MAX) ++job.failed_launches;
  const Instant next = now_ + kFirstRetry * (1 << std::min<int>(job.failed_launches - 1, 8));
  const JobTerms* own = eligibility_.terms(fact.job);
  JobTerms terms = own ? *own : JobTerms{job.spec.limit, job.spec.priority, job.spec.partition};
  terms.begin = std::max(terms.begin, next);
  if (terms.array != 0) terms.throttle = eligibility_.throttle(terms.array);  // as was said last of any member
  job.extended = false;
  eligibility_.unqueued(fact.job);
  eligibility_.set(fact.job, terms);
  job.state = JobState::barred;
  ++barred_;
  set_bars(job, fact.job, job.failed_launches < kMostLaunches ? kBeginTime : kBeginTime | kHeldByOperator);
}

void Cluster::apply(const Reserved& fact) {
  reservations_.add({fact.id, fact.from, fact.until, fact.nodes, fact.processors});
}

// What it held counts as released.
void Cluster::apply(const Unreserved& fact) {
  reservations_.remove(fact.id);
  if (!reservations_.waiting().empty()) leave_reservations_over();
  ++releases_;
}

void Cluster::apply(const Requeued& fact) {
  Job& job = jobs_[fact.job.value];
  leave_running(job, fact.job);
  ++job.kills;
  job.corrections = 0;
  if (fact.limit != job.spec.limit) requests_.try_emplace(fact.job, job.spec);
  job.spec.limit = job.expected = fact.limit;
  job.done = Duration{0};
  job.sequence = next_sequence_++;
  queue_again(job, fact.job);
}

void Cluster::queue_again(Job& job, JobId id) {
  job.extended = false;
  job.stood = Duration{0};
  if (job.ours()) return queue(job, id);
  job.state = JobState::barred;
  ++barred_;
}

void Cluster::apply(const Preempted& fact) {
  Job& job = jobs_[fact.job.value];
  CHECK(job.steady(), "only a job that runs and stays gives way, and once");
  unrank_running(job, fact.job);
  job.leaving = true;
  job.command = sequence_;
  leaving_.push_back({fact.job, fact.beneficiary, job.expected});
  if (fact.until != kNever) expect_anew(job, fact.job, job.ran_by(fact.until));
}

void Cluster::apply(const Vacated& fact) {
  Job& job = jobs_[fact.job.value];
  leave_running(job, fact.job);
  ++job.preemptions;
  job.earlier += options_.requeue_delay;
  job.expected = job.expected_after(fact.kept);
  job.done += fact.kept;
  queue_again(job, fact.job);
}

void Cluster::apply(const Cancelled& fact) {
  Job& job = jobs_[fact.job.value];
  if (job.state == JobState::running) {
    leave_running(job, fact.job);
  } else if (job.state == JobState::barred) {
    --barred_;
  } else {
    CHECK(job.state == JobState::waiting, "only a job that waits or runs is taken back");
    unqueue(job, fact.job);
  }
  leave_for_good(job, fact.job, JobState::cancelled);
}

void Cluster::apply(const Expected& fact) {
  Job& job = jobs_[fact.job.value];
  ++job.corrections;
  expect_anew(job, fact.job, fact.expected);
}

void Cluster::apply(const Extended& fact) {
  Job& job = jobs_[fact.job.value];
  job.extended = true;
  expect_anew(job, fact.job, job.ran_by(fact.until));
}

void Cluster::apply(const Stopped& fact) {
  Job& job = jobs_[fact.job.value];
  CHECK(job.state == JobState::running, "only a running job is stopped");
  unrank_running(job, fact.job);
  job.stopping = true;
  job.cancelling = job.cancelling || fact.for_good;
  job.command = sequence_;
}

void Cluster::expect_anew(Job& job, JobId id, Duration expected) { end_anew(job, id, expected, job.stood); }

std::vector<JobId> View::blockers() const {
  std::vector<JobId> blockers;
  if (!set_aside_for_.valid()) return blockers;
  for (const ProcessorRange& range : set_aside_) {
    map_.for_each_held(range, [&](JobId owner, const ProcessorRange&) { blockers.push_back(owner); });
  }
  std::sort(blockers.begin(), blockers.end(), [&](JobId a, JobId b) { return job(a).dispatch < job(b).dispatch; });
  blockers.erase(std::unique(blockers.begin(), blockers.end()), blockers.end());
  return blockers;
}

void Cluster::set_aside(const Job& job, JobId id) {
  set_aside_for_ = id;
  std::vector<std::pair<Instant, ProcessorRange>> by_release;
  map_.for_each([&](JobId owner, const ProcessorRange& range) {
    by_release.emplace_back(owner.valid() ? std::max(jobs_[owner.value].expected_end(), now_ + kMoment) : now_, range);
  });
  std::ranges::sort(by_release, {}, [](const auto& one) { return std::pair(one.first, one.second.first); });
  set_aside_.clear();
  std::uint32_t left = job.spec.processors;
  for (auto at = by_release.begin(); left > 0; ++at) {
    set_aside_.push_back({at->second.first, std::min(left, at->second.count)});
    left -= set_aside_.back().count;
  }
}

void Cluster::apply(const Promised& fact) {
  const JobId id = fact.job;
  const Instant start = fact.start;
  const Placement& where = fact.where;
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
