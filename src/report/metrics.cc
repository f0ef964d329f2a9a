#include "report/metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace rota::report {
namespace {

double mean_seconds(std::int64_t milliseconds, std::int64_t n) {
  return static_cast<double>(milliseconds) / 1000.0 / static_cast<double>(n);
}

// A hash of what a job is known by, whatever becomes of it: other programs round times, and tell no users.
std::uint64_t identity_of(const JobSpec& job) {
  Hash hash;
  hash.mix(static_cast<std::uint64_t>(job.number));
  hash.mix(job.processors);
  return hash.value();
}

// The value at this rank (from 0) of the zeros and values in order.
std::int64_t ranked(std::vector<std::int64_t>& values, std::size_t zeros, std::size_t rank) {
  if (rank < zeros) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - zeros);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// The memory of all nodes together; 0: it is not said of each.
std::int64_t memory_of(const Machine& machine) {
  const auto is_said = [](const Node& node) { return node.memory > 0; };
  return std::ranges::all_of(machine.nodes, is_said) ? machine.memory : 0;
}

}  // namespace

std::uint32_t nodes_of(const Outcome& outcome, std::size_t job) {
  const std::size_t kept = job < outcome.starts.size() ? outcome.starts[job].where.size() : 0;
  return std::max({static_cast<std::uint32_t>(kept), outcome.jobs[job].spec.nodes, 1U});
}

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

void Tally::add(const Job& job, std::uint32_t nodes) {
  ++counts_.jobs;
  counts_.identity += identity_of(job.spec);
  counts_.killed += job.kills;
  counts_.backfilled_starts += job.backfills;
  counts_.preempted += job.preemptions;
  counts_.migrations += job.migrations;
  if (job.state == JobState::rejected) {
    if (counts_.rejected++ == 0) counts_.first_rejected = job.spec.number;
    return;
  }
  first_submit_ = std::min(first_submit_, job.spec.submit);
  if (!job.ended()) {
    ++counts_.unfinished;
    return;
  }
  counts_.timed_out += job.state == JobState::timed_out ? 1 : 0;
  const Duration run = std::max(job.run_time(), Duration{1});
  const Duration waited = job.wait();
  ++ended_;
  wait_ += waited.count();
  longest_wait_ = std::max<std::int64_t>(longest_wait_, waited.count());
  if (waited > Duration{0}) waits_.push_back(waited.count());
  last_end_ = std::max(last_end_, job.end);
  const auto time = static_cast<double>(run.count());
  area_ += time * job.spec.processors;
  accelerators_ += time * nodes * job.spec.accelerators;
  memory_ += time * nodes * static_cast<double>(job.spec.memory);
  const double slowdown = bounded_slowdown(waited, run);
  slowdown_ += slowdown;
  users_.add(job.spec.user, slowdown);
  groups_.add(job.spec.group, slowdown);
  response_ratio_ += static_cast<double>((waited + run).count()) / static_cast<double>(run.count());
  backfills_done_ += job.backfilled ? 1 : 0;
  promises_ = promises_ || job.first_promise != kNever;
  if (job.first_promise != kNever && job.start > job.first_promise) {
    ++counts_.delayed;
    delay_ += (job.start - job.first_promise).count();
  }
}

void Tally::add(const Job& job, std::uint32_t nodes, Duration recorded_wait) {
  add(job, nodes);
  // As it is recorded: while it ran it did not wait, be it that it ran in vain.
  const Duration waited = job.start - job.spec.submit - job.earlier;
  if (job.ended()) beside_.add(waited, recorded_wait, job.run_time());
}

Summary Tally::conclude(const Outcome& run) {
  Summary summary = std::move(counts_);
  summary.workload = run.workload;
  summary.policy = run.policy;
  summary.processors = run.processors;
  summary.warm_up = run.warm_up;
  summary.lost_work = to_seconds(run.lost_work);
  summary.plan_hash = run.plan_hash;
  summary.cycles = run.cycles;
  summary.referee_checks = run.referee_checks;
  summary.cpu_seconds = run.cpu_seconds;
  summary.power = run.power;
  summary.tasks = run.tasks;
  summary.recorded = run.recorded;
  summary.reserved = run.reserved;
  summary.counts_dispatches = run.counts_dispatches;
  summary.has_copies = run.has_copies;
  if (run.recorded) summary.unrecorded = std::exchange(summary.unfinished, 0);
  summary.trust = beside_.conclude();
  summary.users = users_.conclude();
  summary.groups = groups_.conclude();
  if (summary.backfilled_starts > 0)
    summary.backfill_completion = static_cast<double>(backfills_done_) / static_cast<double>(summary.backfilled_starts);
  summary.promises = promises_;
  if (summary.delayed > 0) summary.delay_mean = mean_seconds(delay_, summary.delayed);
  if (ended_ == 0) return summary;
  const auto n = static_cast<double>(ended_);
  const auto zeros = static_cast<std::size_t>(ended_) - waits_.size();
  summary.makespan = last_end_ - first_submit_;
  const auto used = [&](double area, std::int64_t of) -> std::optional<double> {
    const double capacity = static_cast<double>(of) * static_cast<double>(summary.makespan.count());
    return capacity > 0 ? std::optional(area / capacity) : std::nullopt;
  };
  summary.utilization = used(area_, summary.processors);
  if (accelerators_ > 0 && run.machine) summary.accelerators_used = used(accelerators_, run.machine->accelerators);
  if (memory_ > 0 && run.machine) summary.memory_used = used(memory_, memory_of(*run.machine));
  summary.wait_mean = mean_seconds(wait_, ended_);
  summary.wait_p95 = quantile(waits_, zeros, 0.95) / 1000.0;
  summary.wait_median = quantile(waits_, zeros, 0.5) / 1000.0;
  summary.wait_max = static_cast<double>(longest_wait_) / 1000.0;
  summary.bounded_slowdown = slowdown_ / n;
  summary.response_ratio = response_ratio_ / n;
  return summary;
}

Summary summarize(const Outcome& outcome) {
  Tally tally;
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) tally.add(outcome.jobs[i], nodes_of(outcome, i));
  return tally.conclude(outcome);
}

}  // namespace rota::report
