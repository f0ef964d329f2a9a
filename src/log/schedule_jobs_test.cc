#include "log/schedule_jobs.h"

#include <gtest/gtest.h>

#include <string>

namespace rota::log {
namespace {

constexpr const char* kHead = "number,submit,start,end,wait,processors,state,suspended\n";

TEST(ScheduleJobs, WhatOfTheTimeBeforeTheStartIsNoWaitWasAnEarlierRun) {
  const auto read =
      parse_schedule_jobs(std::string(kHead) + "1,0,100,160,70,4,completed,20\n2,0,10,30,,1,completed,\n", "jobs.csv");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->jobs[0].wait(), seconds(70));
  EXPECT_EQ(read->jobs[0].run_time(), seconds(30 + 60 - 20));
  EXPECT_EQ(read->jobs[1].wait(), seconds(10));
  EXPECT_EQ(read->jobs[1].run_time(), seconds(20));
}

TEST(ScheduleJobs, AJobThatEndedAtAnUnknownTimeIsNotRejected) {
  const auto read = parse_schedule_jobs(
      std::string(kHead) + "1,0,,,,4,completed,\n2,0,,,,4,rejected,\n3,0,,,,4,cancelled,\n4,0,0,9,0,4,completed,0\n",
      "jobs.csv");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->jobs[0].state, JobState::waiting);
  EXPECT_EQ(read->jobs[1].state, JobState::rejected);
  EXPECT_EQ(read->jobs[2].state, JobState::waiting);
  EXPECT_EQ(read->unfinished, 2);
}

TEST(ScheduleJobs, ATimeOfStandingStillThatCannotBeIsRefused) {
  const auto read = parse_schedule_jobs(std::string(kHead) + "1,0,100,160,70,4,completed,61\n", "jobs.csv");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "jobs.csv:2: suspended: \"61\" is not from 0 to the time between start and end.");
}

TEST(ScheduleJobs, AStartBeforeTheSubmissionIsRefusedButBatsimsOfAJobThatDidNotRun) {
  const auto read = parse_schedule_jobs(std::string(kHead) + "1,0,-1,-1,,4,,\n2,0,5,9,,4,,\n", "jobs.csv");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->jobs[0].state, JobState::rejected);
  const auto early = parse_schedule_jobs(std::string(kHead) + "1,0,-5,60,,4,,\n", "jobs.csv");
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().message, "jobs.csv:2: the job starts before it was submitted.");
}

}  // namespace
}  // namespace rota::log
