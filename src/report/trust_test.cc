#include "report/trust.h"

#include <gtest/gtest.h>

#include <vector>

#include "report/metrics.h"
#include "report/sample_test.h"

namespace rota::report {
namespace {

Trust beside(const std::vector<std::pair<int, int>>& waits) {
  WaitsBeside all;
  for (const auto& [rehearsed, recorded] : waits) all.add(seconds(rehearsed), seconds(recorded), seconds(100));
  return all.conclude().value_or(Trust{});
}

TEST(Trust, IsTheRatioOfMeansAndPearsonsCorrelation) {
  const Trust trust = beside({{10, 20}, {20, 40}, {60, 120}});
  EXPECT_EQ(trust.jobs, 3);
  EXPECT_DOUBLE_EQ(*trust.ratio(), 0.5);
  EXPECT_NEAR(*trust.correlation, 1, 1e-12);
  EXPECT_NEAR(*beside({{0, 3}, {1, 2}, {2, 1}, {3, 0}}).correlation, -1, 1e-12);
  EXPECT_NEAR(*beside({{1, 2}, {2, 1}, {3, 3}}).correlation, 0.5, 1e-12);
}

TEST(Trust, HasNoCorrelationWhereNothingVariesAndNoRatioWhereNoJobWaited) {
  EXPECT_FALSE(beside({{5, 0}, {6, 0}}).ratio());
  EXPECT_FALSE(beside({{5, 0}, {6, 0}}).correlation);
  EXPECT_FALSE(WaitsBeside().conclude());
}

TEST(Trust, IsCloseRoughOrPoorByBothFigures) {
  const auto like = [](double ratio, double correlation) { return likeness({10, ratio * 100, 100, correlation}); };
  EXPECT_EQ(like(1.05, 0.9), Likeness::close);
  EXPECT_EQ(like(0.94, 0.95), Likeness::rough);
  EXPECT_EQ(like(1.0, 0.89), Likeness::rough);
  EXPECT_EQ(like(1.1, 0.8), Likeness::rough);
  EXPECT_EQ(like(1.11, 0.95), Likeness::poor);
  EXPECT_EQ(like(1.0, 0.79), Likeness::poor);
  EXPECT_EQ(likeness({10, 5, 0, std::nullopt}), Likeness::poor);
}

TEST(Trust, IsNotJudgedWhereThereIsTooLittleWaiting) {
  EXPECT_EQ(likeness({5, 0, 0.004, std::nullopt, 1}), Likeness::unknown);
  EXPECT_EQ(likeness({5, 0.9, 0.1, -0.5, 1}), Likeness::unknown);
  EXPECT_EQ(likeness({500, 30, 1, 0.1, 3600}), Likeness::unknown) << "a hundredth of the run time";
  EXPECT_EQ(likeness({500, 37, 1, 0.1, 3600}), Likeness::poor);
  EXPECT_EQ(likeness({5, 10.1, 10, std::nullopt, 1}), Likeness::unknown) << "they all waited as long";
  EXPECT_EQ(likeness({5, 20, 10, std::nullopt, 1}), Likeness::poor);
}

Summary of(const std::string& policy, std::optional<Trust> trust) {
  Summary s;
  s.policy = policy;
  s.trust = trust;
  return s;
}

TEST(Trust, SaysHowFarTheRehearsalOfWhatTheSiteHasCanBeTrusted) {
  std::vector<Summary> close{of("slurm", Trust{397, 98, 100, 0.93}), of("easy", Trust{397, 70, 100, 0.6})};
  EXPECT_NE(trust_text(close).find("None of these is known"), std::string::npos) << "not every log is of Slurm";
  close[0].own = true;
  const std::string text = trust_text(close);
  EXPECT_NE(
      text.find("Beside what really happened to 397 jobs: slurm has 0.98 times the recorded mean wait, correlation "
                "0.93; easy has 0.70 times"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("can be trusted"), std::string::npos) << text;
  std::vector<Summary> poor{of("slurm+window=1h", Trust{397, 200, 100, 0.3})};
  poor[0].own = true;
  EXPECT_NE(trust_text(poor).find("does not meet what really happened"), std::string::npos);
  std::vector<Summary> idle{of("easy", Trust{5, 0, 0.004, std::nullopt, 1})};
  idle[0].own = true;
  EXPECT_EQ(
      trust_text(idle),
      "Beside what really happened to 5 jobs: easy waits 0 s where < 0.1 s was recorded. easy rehearses what the "
      "site has now, and both are alike: hardly any job waited. For more than that there is too little waiting to "
      "compare.");
  std::vector<Summary> same{of("easy", Trust{5, 10, 10, std::nullopt, 1})};
  same[0].own = true;
  EXPECT_NE(trust_text(same).find("and there is too little waiting to compare"), std::string::npos);
  EXPECT_NE(trust_text(std::vector{of("easy", Trust{2, 0, 5, std::nullopt})}).find("easy waits 0 s where 5 s was"),
            std::string::npos);
  const std::vector<Summary> without{of("easy", Trust{397, 70, 100, 0.6})};
  EXPECT_NE(trust_text(without).find("None of these is known to be what the site has now"), std::string::npos);
  std::vector<Summary> service{of("recorded", std::nullopt), without[0]};
  service[0].recorded = true;
  EXPECT_EQ(trust_text(service).find("None of these"), std::string::npos) << "it is told how the service started jobs";
  service[0].counts_dispatches = false;
  EXPECT_NE(trust_text(service).find("None of these"), std::string::npos);
  EXPECT_EQ(trust_text(std::vector{of("easy", std::nullopt)}), "");
}

TEST(Trust, CountsOnlyJobsThatEndedBesideARecordedWait) {
  Tally tally;
  tally.add(ended_job(1, 0, 10, 60, 1), 1, seconds(20));
  tally.add(ended_job(2, 0, 500, 60, 1));  // nothing recorded
  Job waiting;
  waiting.spec = sample_job(3, 0, 60, 1).spec;
  tally.add(waiting, 1, seconds(99));
  const Summary summary = tally.conclude({});
  ASSERT_TRUE(summary.trust);
  EXPECT_EQ(summary.trust->jobs, 1);
  EXPECT_DOUBLE_EQ(*summary.trust->ratio(), 0.5);
}

}  // namespace
}  // namespace rota::report
