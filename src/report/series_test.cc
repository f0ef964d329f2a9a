#include "report/series.h"

#include <gtest/gtest.h>

#include <numeric>

#include "report/metrics.h"
#include "report/sample_test.h"

namespace rota::report {
namespace {

Outcome with(std::vector<Job> jobs) {
  Outcome outcome;
  outcome.processors = 10;
  outcome.jobs = std::move(jobs);
  return outcome;
}

TEST(Load, SharesAnIntervalAmongTheSlicesItTouches) {
  // Slices of 10 s from 0 to 40; waiting 5..15, busy on 4 processors 15..40.
  const Load load = load_over(with({ended_job(1, 5, 10, 25, 4)}), {at_seconds(0), at_seconds(40)}, 4);
  EXPECT_EQ(load.waiting, (std::vector<double>{0.5, 0.5, 0, 0}));
  EXPECT_EQ(load.busy, (std::vector<double>{0, 2, 4, 4}));
}

TEST(Load, HoldsAnIntervalThatLiesInOneSlice) {
  const Load load = load_over(with({ended_job(1, 12, 1, 5, 2)}), {at_seconds(0), at_seconds(40)}, 4);
  EXPECT_NEAR(load.waiting[1], 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(load.busy[1], 1);
}

TEST(Load, CountsAJobThatNeverStartedAsWaitingToTheEnd) {
  Job waiting;
  waiting.spec = sample_job(1, 10, 5, 1).spec;
  Job refused = waiting;
  refused.state = JobState::rejected;
  const Load load = load_over(with({waiting, refused}), {at_seconds(0), at_seconds(40)}, 4);
  EXPECT_EQ(load.waiting, (std::vector<double>{0, 1, 1, 1}));
}

TEST(Load, HasTheUtilizationAndTheWaitsOfTheWholeRehearsal) {
  const Outcome outcome = rehearsed(sample_jobs(2000, 64, 5), 64, true);
  const Summary summary = summarize(outcome);
  const Span span = span_of(outcome);
  EXPECT_EQ(span.to - span.from, summary.makespan);
  const Load load = load_over(outcome, span, 777);
  const double busy = std::accumulate(load.busy.begin(), load.busy.end(), 0.0) / 777;
  const double waiting = std::accumulate(load.waiting.begin(), load.waiting.end(), 0.0) / 777;
  EXPECT_NEAR(busy / 64, *summary.utilization, 1e-9);
  EXPECT_NEAR(waiting * to_seconds(summary.makespan), *summary.wait_mean * 2000, 1e-3) << "Little's law";
}

// Means that are equal to the figures, over the whole of an outcome.
void expect_the_figures(const Outcome& outcome) {
  const Summary summary = summarize(outcome);
  const Load load = load_over(outcome, span_of(outcome), 20);
  const double busy = std::accumulate(load.busy.begin(), load.busy.end(), 0.0) / 20;
  const double waiting = std::accumulate(load.waiting.begin(), load.waiting.end(), 0.0) / 20;
  EXPECT_NEAR(busy / 10, *summary.utilization, 1e-9);
  const auto ended = static_cast<double>(summary.jobs - summary.unfinished - summary.unrecorded);
  EXPECT_NEAR(waiting * to_seconds(summary.makespan), *summary.wait_mean * ended, 1e-6);
}

TEST(Load, HasEarlierRunsWhereTheyAreKnown) {
  // Ran 10..20 on 4 processors, of which 5 s were kept, and 30..40 again.
  Outcome outcome = with({ended_job(1, 0, 30, 10, 4)});
  outcome.jobs[0].done = seconds(5);
  outcome.starts.resize(1);
  outcome.starts[0].runs = {{at_seconds(10), at_seconds(20), seconds(5)}};
  const Load load = load_over(outcome, {at_seconds(0), at_seconds(40)}, 4);
  EXPECT_EQ(load.busy, (std::vector<double>{0, 2, 0, 4}));
  EXPECT_EQ(load.waiting, (std::vector<double>{1, 0.5, 1, 0}));
  expect_the_figures(outcome);
}

TEST(Load, DealsOutEarlierRunsAndStandstillsWhoseTimesAreNotKnown) {
  // Ran for 12 s before it was queued again; from 40 to 80 it stood still for 10 s.
  Outcome outcome = with({ended_job(1, 0, 40, 40, 4), ended_job(2, 10, 0, 30, 2)});
  outcome.recorded = true;
  outcome.jobs[0].done = seconds(12);
  outcome.jobs[0].stood = seconds(10);
  const Load load = load_over(outcome, {at_seconds(0), at_seconds(80)}, 4);
  EXPECT_NEAR(load.busy[0], 4 * 0.3 + 1, 1e-12);
  EXPECT_NEAR(load.waiting[1], 0.7, 1e-12);
  EXPECT_NEAR(load.busy[3], 3, 1e-12);
  expect_the_figures(outcome);
}

TEST(Load, KnowsNothingOfJobsWhoseRealStartIsNotTold) {
  Job untold;
  untold.spec = sample_job(2, 10, 5, 1).spec;
  Outcome outcome = with({ended_job(1, 0, 10, 30, 4), untold});
  outcome.recorded = true;
  expect_the_figures(outcome);
}

TEST(Load, OfNothingIsNothing) {
  const Span span = span_of(with({}));
  EXPECT_EQ(span.from, span.to);
  EXPECT_EQ(load_over(with({}), span, 3).busy, (std::vector<double>{0, 0, 0}));
}

NodeStates states_of(std::vector<std::int64_t> busy) {
  NodeStates states{.from = at_seconds(5), .length = seconds(3), .width = seconds(2), .bins = {}};
  for (const std::int64_t time : busy) states.bins.push_back({{time, 1, 2, 3, 4}, time * 10});
  return states;
}

TEST(NodesOverTime, AddUpOverSites) {
  const NodeStates all = sum_of({states_of({1000, 500}), NodeStates{}, states_of({1, 2})});
  EXPECT_EQ(all.from, at_seconds(5));
  ASSERT_EQ(all.bins.size(), 2U);
  EXPECT_EQ(all.bins[0], (NodeStates::Bin{{1001, 2, 4, 6, 8}, 10'010}));
  EXPECT_EQ(all.bins[1], (NodeStates::Bin{{502, 2, 4, 6, 8}, 5'020}));
  EXPECT_TRUE(sum_of({}).bins.empty());
}

TEST(NodesOverTime, AreNotAddedUpOverOtherTimes) {
  NodeStates longer = states_of({1, 2});
  longer.length = seconds(4);
  EXPECT_TRUE(sum_of({states_of({1, 2}), longer}).bins.empty());
}

TEST(Waits, MarksReachTheLongestWait) {
  EXPECT_EQ(wait_marks(Duration{0}), (std::vector<double>{0, 1}));
  const auto marks = wait_marks(seconds(100));
  EXPECT_GE(marks.back(), 100);
  EXPECT_EQ(marks.size(), 22U);
}

TEST(Waits, SharesCountTheJobsThatWaitedNoLonger) {
  const Outcome outcome =
      with({ended_job(1, 0, 0, 9, 1), ended_job(2, 0, 1, 9, 1), ended_job(3, 0, 10, 9, 1), ended_job(4, 0, 11, 9, 1)});
  const auto shares = wait_shares(outcome, {0, 1, 10, 100});
  EXPECT_EQ(shares, (std::vector<double>{0.25, 0.5, 0.75, 1}));
}

TEST(Sizes, ClassesCoverEverySizeOnce) {
  for (const std::int64_t processors : {1, 2, 3, 100, 128, 2004, 80'640, 4'000'000}) {
    const auto classes = size_classes(processors);
    EXPECT_EQ(classes.front().least, 1U);
    EXPECT_EQ(classes.back().most, processors);
    for (std::size_t i = 1; i < classes.size(); ++i) EXPECT_EQ(classes[i].least, classes[i - 1].most + 1);
    EXPECT_LE(classes.size(), 13U);
  }
  EXPECT_EQ(size_classes(100)[0].label(), "1");
  EXPECT_EQ(size_classes(80'640)[7].label(), "4,097–16,384");
}

TEST(Sizes, EachJobCountsInItsClass) {
  const auto classes = size_classes(10);  // 1, 2, 3-4, 5-8, 9-10
  const auto figures =
      by_size(with({ended_job(1, 0, 0, 10, 1), ended_job(2, 0, 10, 10, 3), ended_job(3, 0, 30, 10, 4)}), classes);
  EXPECT_EQ(figures[0].jobs, 1);
  EXPECT_EQ(figures[1].jobs, 0);
  EXPECT_EQ(figures[2].jobs, 2);
  EXPECT_DOUBLE_EQ(figures[2].bounded_slowdown, 3);
  EXPECT_DOUBLE_EQ(figures[2].wait, 20);
}

}  // namespace
}  // namespace rota::report
