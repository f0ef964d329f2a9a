#include "report/metrics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "report/sample_test.h"

namespace rota::report {
namespace {

Outcome with(std::vector<Job> jobs, std::int64_t processors = 10) {
  Outcome outcome;
  outcome.processors = processors;
  outcome.jobs = std::move(jobs);
  return outcome;
}

TEST(Summary, CountsWaitsAndUseOfTheLastDispatches) {
  // 0..100 on 4, and 10 -> 100..150 on 8.
  const Summary s = summarize(with({ended_job(1, 0, 0, 100, 4), ended_job(2, 10, 90, 50, 8)}));
  EXPECT_EQ(s.jobs, 2);
  EXPECT_EQ(s.makespan, seconds(150));
  EXPECT_DOUBLE_EQ(*s.utilization, (100.0 * 4 + 50 * 8) / (10 * 150));
  EXPECT_DOUBLE_EQ(*s.wait_mean, 45);
  EXPECT_DOUBLE_EQ(*s.wait_median, 45);
  EXPECT_DOUBLE_EQ(*s.wait_max, 90);
  EXPECT_DOUBLE_EQ(*s.bounded_slowdown, (1 + 140.0 / 50) / 2);
  EXPECT_DOUBLE_EQ(*s.response_ratio, (1 + 140.0 / 50) / 2);
}

TEST(Summary, BoundsTheSlowdownOfShortJobsAtTenSecondsButNotTheirResponseRatio) {
  const Summary s = summarize(with({ended_job(1, 0, 99, 1, 1)}));
  EXPECT_DOUBLE_EQ(*s.bounded_slowdown, 10);
  EXPECT_DOUBLE_EQ(*s.response_ratio, 100);
  EXPECT_DOUBLE_EQ(bounded_slowdown(seconds(2), seconds(3)), 1) << "never below 1";
}

TEST(Summary, MeasuresTheMakespanFromTheFirstSubmissionOfAJobThatWasNotRefused) {
  Job refused;
  refused.spec = sample_job(1, 5, 10, 99).spec;
  refused.state = JobState::rejected;
  const Summary s = summarize(with({refused, ended_job(2, 20, 0, 30, 1)}));
  EXPECT_EQ(s.jobs, 2);
  EXPECT_EQ(s.rejected, 1);
  EXPECT_EQ(s.makespan, seconds(30));
  EXPECT_DOUBLE_EQ(*s.wait_mean, 0);
}

TEST(Summary, TellsJobsThatNeverEndedApartFromTheRest) {
  Job waiting;
  waiting.spec = sample_job(2, 0, 10, 1).spec;
  Job running = waiting;
  running.start = at_seconds(5);
  running.state = JobState::running;
  const Summary s = summarize(with({ended_job(1, 0, 0, 10, 1), waiting, running}));
  EXPECT_EQ(s.unfinished, 2);
  EXPECT_DOUBLE_EQ(*s.wait_mean, 0);
}

TEST(Summary, CountsEveryBackfilledDispatchAndThoseThatWereKeptToTheirEnd) {
  Job kept = ended_job(1, 0, 0, 10, 1);
  kept.backfilled = true;
  kept.backfills = 1;
  Job killed_once = ended_job(2, 0, 50, 10, 1);  // backfilled, killed, then started in order
  killed_once.backfills = 1;
  killed_once.kills = 1;
  Job killed_twice = ended_job(3, 0, 50, 10, 1);  // backfilled three times, kept the third time
  killed_twice.backfilled = true;
  killed_twice.backfills = 3;
  killed_twice.kills = 2;
  killed_twice.state = JobState::timed_out;
  Outcome outcome = with({kept, killed_once, killed_twice});
  outcome.lost_work = Duration{7500};
  const Summary s = summarize(outcome);
  EXPECT_EQ(s.backfilled_starts, 5);
  EXPECT_DOUBLE_EQ(*s.backfill_completion, 2.0 / 5);
  EXPECT_EQ(s.killed, 3);
  EXPECT_EQ(s.timed_out, 1);
  EXPECT_DOUBLE_EQ(s.lost_work, 7.5);
}

TEST(Summary, CountsADelayOnlyPastTheFirstPromise) {
  Job early = ended_job(1, 0, 10, 10, 1);
  early.first_promise = at_seconds(20);
  Job on_time = ended_job(2, 0, 20, 10, 1);
  on_time.first_promise = at_seconds(20);
  Job late = ended_job(3, 0, 50, 10, 1);
  late.first_promise = at_seconds(20);
  Job never_promised = ended_job(4, 0, 500, 10, 1);
  const Summary s = summarize(with({early, on_time, late, never_promised}));
  EXPECT_EQ(s.delayed, 1);
  EXPECT_DOUBLE_EQ(*s.delay_mean, 30);
}

TEST(Summary, LeavesOutWhatNothingCanBeSaidAbout) {
  const Summary s = summarize(with({}));
  EXPECT_FALSE(s.utilization || s.wait_mean || s.wait_median || s.wait_p95 || s.wait_max || s.bounded_slowdown ||
               s.response_ratio || s.backfill_completion || s.delay_mean);
  EXPECT_EQ(s.makespan, Duration{0});
}

TEST(Quantile, InterpolatesLinearlyBetweenTheNearestRanks) {
  const auto of = [](std::vector<std::int64_t> values, std::size_t zeros, double q) {
    return quantile(values, zeros, q);
  };
  EXPECT_DOUBLE_EQ(of({4, 1, 3, 2}, 0, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(of({4, 1, 3, 2, 5}, 0, 0.5), 3);
  EXPECT_DOUBLE_EQ(of({10}, 1, 0.5), 5) << "half way between the zero and the ten";
  EXPECT_DOUBLE_EQ(of({10, 20}, 3, 0.5), 0);
  EXPECT_DOUBLE_EQ(of({10, 20}, 3, 1), 20);
  EXPECT_DOUBLE_EQ(of({}, 3, 0.95), 0);
  EXPECT_DOUBLE_EQ(of({7}, 0, 0.95), 7);
}

RC_GTEST_PROP(Quantile, IsThatOfTheSortedValues, ()) {
  auto values = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 50));
  const auto zeros = *rc::gen::inRange<std::size_t>(0, 20);
  const double q = *rc::gen::inRange(0, 101) / 100.0;
  RC_PRE(zeros + values.size() > 0);
  std::vector<std::int64_t> sorted(zeros, 0);
  sorted.insert(sorted.end(), values.begin(), values.end());
  std::ranges::sort(sorted);
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<double>(sorted[static_cast<std::size_t>(std::floor(place))]);
  const auto high = static_cast<double>(sorted[static_cast<std::size_t>(std::ceil(place))]);
  RC_ASSERT(std::abs(quantile(values, zeros, q) - (low + (high - low) * (place - std::floor(place)))) < 1e-9);
}

TEST(Summary, AgreesWithAStraightCountOverARehearsal) {
  const Outcome outcome = rehearsed(sample_jobs(3000, 64, 7), 64, true);
  double wait = 0;
  double area = 0;
  std::vector<std::int64_t> waits;
  Instant last = kEpoch;
  for (const Job& job : outcome.jobs) {
    wait += to_seconds(job.start - job.spec.submit);
    area += to_seconds(job.end - job.start) * job.spec.processors;
    waits.push_back((job.start - job.spec.submit).count());
    last = std::max(last, job.end);
  }
  std::ranges::sort(waits);
  const Summary s = summarize(outcome);
  EXPECT_DOUBLE_EQ(*s.wait_mean, wait / 3000);
  EXPECT_NEAR(*s.utilization, area / (64 * to_seconds(last - outcome.jobs.front().spec.submit)), 1e-12);
  EXPECT_DOUBLE_EQ(*s.wait_median, static_cast<double>(waits[1499] + waits[1500]) / 2000);
  EXPECT_DOUBLE_EQ(*s.wait_max, static_cast<double>(waits.back()) / 1000);
  EXPECT_GT(s.backfilled_starts, 0);
  EXPECT_DOUBLE_EQ(*s.backfill_completion, 1);
}

TEST(Metrics, WhatJobsHeldBesideProcessorsIsAShareOfWhatTheClusterHas) {
  auto machine = std::make_shared<Machine>();
  machine->nodes = {{"n1", 8, 4000, {}}, {"n2", 8, 4000, {}}};
  machine->memory = 8000;
  machine->accelerators = 8;
  Job one = ended_job(1, 0, 0, 100, 4);
  one.spec.accelerators = 4;
  one.spec.memory = 1000;
  Outcome outcome;
  outcome.processors = 16;
  outcome.jobs = {one, ended_job(2, 0, 0, 50, 4)};
  EXPECT_FALSE(summarize(outcome).accelerators_used) << "nothing tells what the cluster has";
  outcome.machine = machine;
  EXPECT_DOUBLE_EQ(*summarize(outcome).accelerators_used, 0.5);
  EXPECT_DOUBLE_EQ(*summarize(outcome).memory_used, 0.125);
  outcome.jobs[0].spec.nodes = 2;
  EXPECT_DOUBLE_EQ(*summarize(outcome).accelerators_used, 1);
  outcome.jobs[0].spec.nodes = 0;
  outcome.starts = {{.where = {{NodeId{0}, 2}, {NodeId{1}, 2}}}};
  EXPECT_DOUBLE_EQ(*summarize(outcome).memory_used, 0.25) << "it ran on two";
  machine->nodes[1].memory = 0;
  EXPECT_FALSE(summarize(outcome).memory_used) << "one node may have any";
  outcome.jobs[0].spec.accelerators = 0;
  EXPECT_FALSE(summarize(outcome).accelerators_used) << "no job asked";
}

TEST(Metrics, BesideWhatWasRecordedARunInVainIsNoWaitingEither) {
  Job job = ended_job(1, 0, 100, 60, 4);
  job.earlier = seconds(40);
  Tally tally;
  tally.add(job, 1, seconds(60));
  const Summary summary = tally.conclude({});
  EXPECT_EQ(summary.wait_mean, 100);
  EXPECT_EQ(summary.trust->ratio(), 1);
}

TEST(Metrics, TheSameJobsHaveOneIdentityWhateverBecameOfThem) {
  Outcome outcome;
  outcome.jobs = {ended_job(1, 0, 5, 60, 4), ended_job(2, 9, 0, 30, 8), ended_job(3, 12, 1, 10, 2)};
  const std::uint64_t identity = summarize(outcome).identity;
  Outcome other = outcome;
  std::ranges::reverse(other.jobs);
  other.jobs[0].state = JobState::rejected;
  other.jobs[1].state = JobState::waiting;
  other.jobs[2].spec.submit += seconds(1);
  EXPECT_EQ(summarize(other).identity, identity);
  other.jobs[0].spec.processors = 3;
  EXPECT_NE(summarize(other).identity, identity);
  Outcome exchanged = outcome;  // the same numbers and the same sizes, of each other
  std::swap(exchanged.jobs[0].spec.processors, exchanged.jobs[1].spec.processors);
  EXPECT_NE(summarize(exchanged).identity, identity);
}

}  // namespace
}  // namespace rota::report
