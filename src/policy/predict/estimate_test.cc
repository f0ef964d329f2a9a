#include "policy/predict/estimate.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

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
