#include "report/parties.h"

#include <gtest/gtest.h>

#include "report/sample_test.h"

namespace rota::report {
namespace {

Job of_user(std::uint32_t user, std::int64_t wait, std::int64_t run) {
  Job job = ended_job(1, 0, wait, run, 2);
  job.spec.user = user;
  job.spec.group = 1;
  return job;
}

TEST(Parties, TellsWhatEachUserGotUnderEachPolicy) {
  std::vector<Outcome> outcomes(2);
  outcomes[0].jobs = {of_user(7, 100, 50), of_user(7, 300, 50), of_user(9, 10, 1000)};
  outcomes[1].jobs = {of_user(7, 0, 50), of_user(7, 0, 50), of_user(9, 500, 1000)};
  auto labels = std::make_shared<JobLabels>();
  labels->users[9] = "anna";
  labels->partition = {1, 2, 2};
  labels->partitions = {{1, "short"}, {2, "long"}};
  for (Outcome& outcome : outcomes) outcome.labels = labels;
  const auto all = parties_of(outcomes);
  ASSERT_EQ(all.size(), 2U) << "users and partitions; there is one group, and no queue is known";
  const Parties& users = all[0];
  EXPECT_STREQ(users.kind, "user");
  ASSERT_EQ(users.parties.size(), 2U);
  EXPECT_EQ(users.parties[0].name, "anna") << "who used most";
  EXPECT_EQ(users.parties[1].name, "user 7");
  EXPECT_DOUBLE_EQ(users.parties[1].figures[0].wait_mean.value_or(-1), 200);
  EXPECT_DOUBLE_EQ(users.parties[1].figures[0].wait_max.value_or(-1), 300);
  EXPECT_DOUBLE_EQ(users.parties[1].figures[0].bounded_slowdown.value_or(-1), 5);
  EXPECT_DOUBLE_EQ(users.parties[1].figures[1].wait_mean.value_or(-1), 0);
  EXPECT_EQ(all[1].parties[0].name, "long");
  EXPECT_EQ(all[1].parties[0].figures[0].jobs, 2);
}

TEST(Parties, AUserOfALaterScheduleAloneHasARow) {
  std::vector<Outcome> outcomes(2);
  outcomes[0].jobs = {of_user(UINT32_MAX, 100, 50), of_user(UINT32_MAX, 10, 1000)};
  outcomes[1].jobs = {of_user(7, 20, 50), of_user(9, 500, 1000)};
  const auto all = parties_of(outcomes);
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].parties.size(), 2U);
  EXPECT_EQ(all[0].parties[0].name, "user 7");
  EXPECT_EQ(all[0].parties[0].figures[0].jobs, 0);
  EXPECT_EQ(all[0].parties[0].figures[1].wait_mean, 20);
  EXPECT_EQ(summaries_by(PartyKind::user, std::vector<const Outcome*>{&outcomes[0], &outcomes[1]}, 12).size(), 2U);
  outcomes[0].jobs[0].spec.user = 3;
  EXPECT_EQ(parties_of(outcomes)[0].parties.size(), 3U);
  EXPECT_EQ(parties_of(outcomes)[0].parties[0].figures[1].jobs, 0) << "and counts in no other row";
}

TEST(Parties, TheComparisonIsMadeOnceMoreForEach) {
  std::vector<Outcome> outcomes(2);
  outcomes[0].jobs = {of_user(7, 100, 50), of_user(7, 300, 50), of_user(9, 10, 1000), of_user(4, 6, 1)};
  outcomes[1].jobs = {of_user(7, 0, 50), of_user(7, 0, 50), of_user(9, 500, 1000), of_user(4, 8, 1)};
  outcomes[1].label = "b";
  const std::vector<const Outcome*> both{&outcomes[0], &outcomes[1]};
  const auto all = summaries_by(PartyKind::user, both, 2);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].party, "user 9");
  EXPECT_EQ(all[0].rows[1].wait_mean, 500);
  EXPECT_EQ(all[0].rows[1].name(), "b");
  EXPECT_EQ(all[1].party, "2 others");
  EXPECT_EQ(all[1].rows[0].jobs, 3);
  EXPECT_EQ(all[1].rows[0].wait_max, 300);
  EXPECT_TRUE(summaries_by(PartyKind::qos, both, 2).empty()) << "nothing is known of queues";
}

TEST(Parties, PutsTheSmallOnesTogether) {
  Outcome outcome;
  for (std::uint32_t user = 0; user < 40; ++user) outcome.jobs.push_back(of_user(user, 60, 100 + user));
  Job refused = of_user(3, 0, 1);
  refused.state = JobState::rejected;
  outcome.jobs.push_back(refused);
  const auto all = parties_of(std::span(&outcome, 1));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].all, 40);
  ASSERT_EQ(all[0].parties.size(), kMostParties);
  EXPECT_EQ(all[0].parties[0].name, "user 39");
  EXPECT_EQ(all[0].parties.back().name, "29 others");
  EXPECT_EQ(all[0].parties.back().figures[0].jobs, 29);
}

}  // namespace
}  // namespace rota::report
