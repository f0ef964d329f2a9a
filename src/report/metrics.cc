#include "report/metrics.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace rota::report {
namespace {

// Sums over the jobs that ended.
struct Sums {
  std::int64_t ended = 0;
  std::int64_t wait = 0;  // milliseconds
  std::int64_t longest_wait = 0;
  std::int64_t delay = 0;
  std::int64_t backfills_done = 0;
  Instant last_end = kEpoch;
  double area = 0;  // processor-milliseconds
  double slowdown = 0;
  double response_ratio = 0;
  std::vector<std::int64_t> waits;  // those above 0

  void add(const Job& job) {
    const Duration waited = job.start - job.spec.submit;
    const Duration run = std::max(job.end - job.start, Duration{1});
    ++ended;
    wait += waited.count();
    longest_wait = std::max<std::int64_t>(longest_wait, waited.count());
    if (waited > Duration{0}) waits.push_back(waited.count());
    last_end = std::max(last_end, job.end);
    area += static_cast<double>(run.count()) * job.spec.processors;
    slowdown += bounded_slowdown(waited, run);
    response_ratio += static_cast<double>((waited + run).count()) / static_cast<double>(run.count());
    backfills_done += job.backfilled ? 1 : 0;
  }
};

void count(const Job& job, Summary& summary, Sums& sums) {
  summary.killed += job.kills;
  summary.backfilled_starts += job.backfills;
  if (job.state == JobState::rejected) {
    ++summary.rejected;
  } else if (!job.ended()) {
    ++summary.unfinished;
  } else {
    summary.timed_out += job.state == JobState::timed_out ? 1 : 0;
    sums.add(job);
    if (job.first_promise != kNever && job.start > job.first_promise) {
      ++summary.delayed;
      sums.delay += (job.start - job.first_promise).count();
    }
  }
}

double mean_seconds(std::int64_t milliseconds, std::int64_t n) {
  return static_cast<double>(milliseconds) / 1000.0 / static_cast<double>(n);
}

void conclude(Summary& summary, Sums& sums, Instant first_submit) {
  if (summary.backfilled_starts > 0)
    summary.backfill_completion =
        static_cast<double>(sums.backfills_done) / static_cast<double>(summary.backfilled_starts);
  if (summary.delayed > 0) summary.delay_mean = mean_seconds(sums.delay, summary.delayed);
  if (sums.ended == 0) return;
  const auto n = static_cast<double>(sums.ended);
  const auto zeros = static_cast<std::size_t>(sums.ended) - sums.waits.size();
  summary.makespan = sums.last_end - first_submit;
  const double capacity = static_cast<double>(summary.processors) * static_cast<double>(summary.makespan.count());
  if (capacity > 0) summary.utilization = sums.area / capacity;
  summary.wait_mean = mean_seconds(sums.wait, sums.ended);
  summary.wait_p95 = quantile(sums.waits, zeros, 0.95) / 1000.0;
  summary.wait_median = quantile(sums.waits, zeros, 0.5) / 1000.0;
  summary.wait_max = static_cast<double>(sums.longest_wait) / 1000.0;
  summary.bounded_slowdown = sums.slowdown / n;
  summary.response_ratio = sums.response_ratio / n;
}

// The value at this rank (from 0) of the zeros and values in order.
std::int64_t ranked(std::vector<std::int64_t>& values, std::size_t zeros, std::size_t rank) {
  if (rank < zeros) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - zeros);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

double bounded_slowdown(Duration wait, Duration run) {
  const auto response = static_cast<double>((wait + run).count());
  return std::max(1.0, response / static_cast<double>(std::max(run, kSlowdownBound).count()));
}

double quantile(std::vector<std::int64_t>& values, std::size_t zeros, double q) {
  CHECK(zeros + values.size() > 0, "a quantile is asked of something");
  const double place = q * static_cast<double>(zeros + values.size() - 1);
  const auto rank = static_cast<std::size_t>(place);
  const auto below = static_cast<double>(ranked(values, zeros, rank));
  const double part = place - std::floor(place);
  if (part == 0) return below;
  // What comes next is the smallest of those that the selection left above it.
  const std::size_t next = rank + 1 < zeros ? 0 : rank + 1 - zeros;
  const std::int64_t above =
      rank + 1 < zeros ? 0 : *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(next), values.end());
  return below + (static_cast<double>(above) - below) * part;
}

Summary summarize(const Outcome& outcome) {
  Summary summary;
  summary.workload = outcome.workload;
  summary.policy = outcome.policy;
  summary.processors = outcome.processors;
  summary.jobs = static_cast<std::int64_t>(outcome.jobs.size());
  summary.lost_work = to_seconds(outcome.lost_work);
  summary.plan_hash = outcome.plan_hash;
  summary.cycles = outcome.cycles;
  summary.referee_checks = outcome.referee_checks;
  summary.cpu_seconds = outcome.cpu_seconds;
  Sums sums;
  sums.waits.reserve(outcome.jobs.size());
  Instant first_submit = kNever;
  for (const Job& job : outcome.jobs) {
    count(job, summary, sums);
    if (job.state != JobState::rejected) first_submit = std::min(first_submit, job.spec.submit);
  }
  conclude(summary, sums, first_submit);
  return summary;
}

}  // namespace rota::report
