#include "report/intervals.h"

#include <gtest/gtest.h>

#include <sstream>

#include "report/metrics.h"

namespace rota::report {
namespace {

std::vector<Summary> copies(const std::string& policy, const std::vector<double>& waits) {
  std::vector<Summary> all;
  for (const double wait : waits) {
    Summary& s = all.emplace_back();
    s.policy = policy;
    s.wait_mean = wait;
    s.wait_max = 500;
  }
  return all;
}

const Interval& of(const std::vector<Interval>& all, const std::string& figure) {
  for (const Interval& interval : all) {
    if (interval.figure == figure) return interval;
  }
  ADD_FAILURE() << figure;
  return all.front();
}

TEST(Intervals, PairDifferencesSoThatWhatCopiesShareDoesNotBlurThem) {
  // The copies differ by hundreds of seconds, and the policies by ten in each.
  const std::vector policies{copies("a", {100, 300, 500, 700}), copies("b", {90, 290, 491, 689}),
                             copies("c", {120, 270, 540, 660})};
  const auto all = intervals_of(policies);
  const Interval& a = of(all[0], "wait before the start: mean");
  EXPECT_DOUBLE_EQ(a.mean.mean, 400);
  EXPECT_GT(a.mean.margin, 200);
  EXPECT_FALSE(a.difference);
  const Interval& b = of(all[1], "wait before the start: mean");
  EXPECT_DOUBLE_EQ(b.difference->mean, -10);
  EXPECT_LT(b.difference->margin, 2);
  EXPECT_FALSE(b.noise());
  EXPECT_TRUE(of(all[2], "wait before the start: mean").noise());
  EXPECT_TRUE(of(all[1], "wait before the start: longest").noise()) << "the same in every copy";
}

TEST(Intervals, LeaveOutWhatSomeCopyDoesNotHave) {
  auto policies = std::vector{copies("a", {1, 2}), copies("b", {1, 2})};
  policies[1][1].wait_mean.reset();
  const auto all = intervals_of(policies);
  EXPECT_EQ(of(all[0], "wait before the start: mean").mean.count, 2);
  for (const Interval& interval : all[1]) EXPECT_NE(interval.figure, "wait before the start: mean");
}

TEST(Intervals, OfTwoCopiesAreAsWideAsStudentSays) {
  const std::vector<std::vector<Summary>> policies{copies("a", {100, 300})};
  const auto all = intervals_of(policies);
  EXPECT_NEAR(of(all[0], "wait before the start: mean").mean.margin, 1270.62, 0.01);
}

TEST(Intervals, SayWhichDifferencesAreNoise) {
  const auto all = intervals_of(std::vector{copies("a", {100, 300}), copies("b", {50, 250})});
  Summary row;
  row.policy = "b";
  row.intervals = all[1];
  row.copies.resize(2);
  std::ostringstream out;
  write_intervals(out, std::vector{row});
  EXPECT_NE(out.str().find("b, over 2 copies"), std::string::npos);
  EXPECT_NE(out.str().find("copy by copy\n"), std::string::npos);
  EXPECT_NE(out.str().find("-50 s ±0 s"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("less\n"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("noise\n"), std::string::npos) << out.str();
  row.copies_are_streams = true;
  write_intervals(out, std::vector{row});
  EXPECT_NE(
      out.str().find("b, over 2 streams: mean, 95 % interval; difference to the first policy, stream by stream\n"),
      std::string::npos)
      << out.str();
}

}  // namespace
}  // namespace rota::report
