#include "report/verdict.h"

#include <gtest/gtest.h>

#include <vector>

namespace rota::report {
namespace {

Summary summary(const std::string& policy, double wait, double slowdown, double utilization = 0.7) {
  Summary s;
  s.policy = policy;
  s.jobs = 100;
  s.wait_mean = wait;
  s.wait_median = 90;
  s.bounded_slowdown = slowdown;
  s.utilization = utilization;
  return s;
}

std::string said(std::vector<Summary> summaries) { return verdict(summaries); }

TEST(Verdict, NamesTheBestPolicyAndByHowMuch) {
  EXPECT_EQ(
      said({summary("fcfs", 7200, 50), summary("easy", 3600, 5), summary("conservative", 4000, 6)}),
      "easy did best: jobs waited 1 h on average, 10 % less than under conservative (1 h 7 min) and 50 % less than "
      "under fcfs (2 h). Its mean bounded slowdown, 5.00, is the lowest too. The cluster was 70.0 % used under "
      "every policy.");
}

TEST(Verdict, SaysWhenSlowdownAndUseTellAnotherStory) {
  EXPECT_EQ(
      said({summary("easy", 3600, 9, 0.8), summary("sjf", 7200, 4, 0.6)}),
      "easy did best: jobs waited 1 h on average, 50 % less than under sjf (2 h). Judged by mean bounded slowdown "
      "sjf is ahead: 4.00 against 9.00. The cluster was 80.0 % used under easy and 60.0 % under sjf.");
}

TEST(Verdict, TellsATieAsATie) {
  EXPECT_EQ(said({summary("a", 60, 2), summary("b", 60, 2)}),
            "All 2 policies did equally well: jobs waited 1 min on average. The cluster was 70.0 % used under every "
            "policy.");
  EXPECT_NE(said({summary("a", 60, 2), summary("b", 60, 2), summary("c", 600, 3)}).find("as under b and 90 % less"),
            std::string::npos);
}

TEST(Verdict, CallsNearlyEqualUseEqual) {
  EXPECT_NE(
      said({summary("a", 60, 2, 0.70), summary("b", 80, 2, 0.705)}).find("about equally under all: 70.0 % to 70.5 %."),
      std::string::npos);
}

TEST(Verdict, DescribesASinglePolicy) {
  EXPECT_EQ(said({summary("easy", 3600, 5)}),
            "Under easy jobs waited 1 h on average, half of them no longer than "
            "1 min 30 s, and the cluster was 70.0 % used.");
}

TEST(Verdict, WarnsWhenTheyDidNotRunTheSameJobs) {
  std::vector<Summary> two{summary("a", 60, 2), summary("b", 80, 2)};
  two[1].rejected = 5;
  EXPECT_TRUE(said(two).ends_with("so compare with care."));
}

TEST(Verdict, HasAWordWhenNothingRan) { EXPECT_EQ(said({Summary{}}), "No job ran."); }

TEST(Verdict, DoesNotCallAnInvisibleDifferenceNothing) {
  EXPECT_NE(said({summary("a", 1e6, 2), summary("b", 1e6 + 3600, 2)}).find("0.4 % less"), std::string::npos);
}

}  // namespace
}  // namespace rota::report
