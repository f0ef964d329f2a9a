#include "log/window.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "log/swf.h"

namespace rota::log {
namespace {

Instant at(std::int64_t second) { return kEpoch + seconds(second); }

Workload ten_jobs() {  // submitted at 0, 10, ... 90
  std::string text;
  for (int i = 0; i < 10; ++i) text += fmt::format("{} {} -1 5 1\n", i + 1, i * 10);
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
  Workload before_any = ten_jobs();
  ASSERT_TRUE(cut(before_any, {at(11), kNever, seconds(9)}));  // and not until 29, from the first job on
  EXPECT_EQ(before_any.warm_up, 0U);
}

TEST(Window, AJobDoesNotWaitForAJobThatIsLeftOut) {
  Workload workload = ten_jobs();
  workload.terms[4].after = {{JobId{1}}, {JobId{3}}};
  workload.terms[4].throttle = 2;
  workload.terms[1].after = {{JobId{0}}};
  workload.terms[9] = {};
  ASSERT_TRUE(cut(workload, {at(20), at(60), {}}));
  ASSERT_EQ(workload.terms.size(), 1U);
  const JobTerms& terms = workload.terms.at(2);
  ASSERT_EQ(terms.after.size(), 1U);
  EXPECT_EQ(terms.after[0].on, JobId{1});
  EXPECT_EQ(terms.throttle, 2U);
  EXPECT_EQ(std::ranges::count(workload.report.findings, "waited for a job that is left out: taken as if it had ended",
                               &ImportReport::Finding::what),
            1);
}

TEST(Window, KeepsHowManyTasksOfAnArrayRunAtOnce) {
  Workload workload = ten_jobs();
  for (const std::uint32_t place : {1U, 3U, 7U}) workload.terms[place].throttle = place;
  ASSERT_TRUE(cut(workload, {at(20), at(60), {}}));
  ASSERT_EQ(workload.terms.size(), 1U);
  EXPECT_EQ(workload.terms.at(1).throttle, 3U) << "by place among those that are left";
}

TEST(Window, RefusesOneWithoutJobs) {
  Workload none = ten_jobs(), before = ten_jobs();
  EXPECT_EQ(cut(none, {at(91), kNever, {}}).error().message, "ten: no job was submitted in that time.");
  EXPECT_NE(cut(before, {.warm_up = seconds(100)}).error().message.find("none is left to be counted"),
            std::string::npos);
}

}  // namespace
}  // namespace rota::log
