#include "log/window.h"

#include <gtest/gtest.h>

#include "log/swf.h"

namespace rota::log {
namespace {

Instant at(std::int64_t second) { return kEpoch + seconds(second); }

Workload ten_jobs() {  // submitted at 0, 10, ... 90
  std::string text;
  for (int i = 0; i < 10; ++i) text += std::to_string(i + 1) + " " + std::to_string(i * 10) + " -1 5 1\n";
  return parse_swf(text, "ten").value();
}

TEST(Window, KeepsWhatWasSubmittedInIt) {
  Workload workload = ten_jobs();
  ASSERT_TRUE(cut(workload, {at(20), at(60), {}}));
  ASSERT_EQ(workload.jobs.size(), 4U);
  EXPECT_EQ(workload.jobs.front().number, 3);
  EXPECT_EQ(workload.jobs.back().number, 6);
  EXPECT_EQ(workload.run_times.size(), 4U);
  EXPECT_EQ(workload.warm_up, 0U);
  EXPECT_EQ(workload.report.rows, workload.report.kept + workload.report.dropped());
}

TEST(Window, CountsFromTheEndOfTheWarmUpOn) {
  Workload workload = ten_jobs();
  ASSERT_TRUE(cut(workload, {at(15), kNever, seconds(20)}));  // until second 35
  EXPECT_EQ(workload.jobs.size(), 8U);
  EXPECT_EQ(workload.warm_up, 2U);
  Workload whole = ten_jobs();
  ASSERT_TRUE(cut(whole, {.warm_up = seconds(10)}));
  EXPECT_EQ(whole.jobs.size(), 10U);
  EXPECT_EQ(whole.warm_up, 1U);
}

TEST(Window, KeepsHowManyTasksOfAnArrayRunAtOnce) {
  Workload workload = ten_jobs();
  for (const std::uint32_t place : {1U, 3U, 7U}) workload.terms[place].throttle = place;
  ASSERT_TRUE(cut(workload, {at(20), at(60), {}}));
  ASSERT_EQ(workload.terms.size(), 1U);
  EXPECT_EQ(workload.terms.at(1).throttle, 3U) << "by place among those that are left";
}

TEST(Window, RefusesOneWithoutJobs) {
  Workload none = ten_jobs(), before = ten_jobs(), waiting = ten_jobs();
  EXPECT_EQ(cut(none, {at(91), kNever, {}}).error().message, "ten: no job was submitted in that time.");
  EXPECT_NE(cut(before, {.warm_up = seconds(100)}).error().message.find("none is left to be counted"),
            std::string::npos);
  waiting.terms[3].after = {{JobId{1}, Dependency::When::ended}};
  EXPECT_FALSE(cut(waiting, {at(10), kNever, {}}));
  EXPECT_TRUE(cut(waiting, {.warm_up = seconds(10)}));
}

}  // namespace
}  // namespace rota::log
