#include "policy/predict/estimate.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

// Expected for 1,000 s, of which 400 s are over.
Job that_runs(Restart restart) {
  Job job;
  job.start = kEpoch;
  job.spec.limit = seconds(2000);
  job.spec.restart = restart;
  job.spec.restart_cost = seconds(20);
  job.expected = seconds(1000);
  return job;
}

constexpr Instant kNow = kEpoch + seconds(400);

TEST(MovedRunTime, counts_what_is_left_at_the_new_speed_and_the_cost_of_the_move) {
  const Job job = that_runs(Restart::checkpoint);
  EXPECT_EQ(time_after_move(job, kNow, 1000, 2000), seconds(20 + 300));
  EXPECT_EQ(moved_run_time(job, kNow, 1000, 2000), seconds(20 + 300 + 1));
  EXPECT_EQ(moved_run_time(job, kNow, 1500, 2000), seconds(20 + 450 + 1));
}

TEST(MovedRunTime, counts_all_of_a_job_that_starts_over) {
  EXPECT_EQ(moved_run_time(that_runs(Restart::from_start), kNow, 1000, 2000), seconds(20 + 500 + 1));
}

TEST(MovedRunTime, is_at_most_what_the_limit_leaves) {
  Job job = that_runs(Restart::checkpoint);
  job.spec.limit = seconds(1000);
  job.spec.restart_cost = seconds(900);
  EXPECT_EQ(moved_run_time(job, kNow, 1000, 2000), seconds(600));
  job.spec.restart = Restart::from_start;
  EXPECT_EQ(moved_run_time(job, kNow, 1000, 2000), seconds(1000));
  job.done = job.spec.limit;
  job.spec.restart = Restart::checkpoint;
  EXPECT_EQ(moved_run_time(job, kNow, 1000, 2000), Duration{1});
}

TEST(MovedRunTime, of_a_job_without_a_limit_is_very_long) {
  Job job = that_runs(Restart::checkpoint);
  job.spec.limit = job.expected = kLongest;
  EXPECT_GT(moved_run_time(job, kNow, 100'000, 100'001), kLongest / 2);
}

TEST(CorrectedRunTime, climbs_the_ladder_up_to_the_limit) {
  Job job;
  job.spec.limit = seconds(1000);
  job.expected = seconds(100);
  EXPECT_EQ(corrected_run_time(job), seconds(160));
  job.corrections = 1;
  job.expected = seconds(160);
  EXPECT_EQ(corrected_run_time(job), seconds(400));
  job.corrections = 2;
  job.expected = seconds(400);
  EXPECT_EQ(corrected_run_time(job), seconds(1000));
  job.corrections = 11;
  EXPECT_EQ(corrected_run_time(job), seconds(1000));
}

TEST(CorrectedRunTime, knows_that_work_of_earlier_dispatches_counts_towards_the_limit) {
  Job job;
  job.spec.limit = seconds(1000);
  job.done = seconds(900);
  job.expected = seconds(60);
  EXPECT_EQ(corrected_run_time(job), seconds(100));
  job.corrections = 11;
  EXPECT_EQ(corrected_run_time(job), seconds(100));
}

}  // namespace
}  // namespace rota
