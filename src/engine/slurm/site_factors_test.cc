// Rows are what `sprio` of Slurm 22.05.8 printed.
#include "engine/slurm/site_factors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace rota::slurm {
namespace {

TEST(SiteFactors, ALineTellsOfAJobInAPartition) {
  const auto rows = read_sprio(
      "3|main|100|100|0|0|0|0|0|0|0|\n"
      "4|main|4242|0|0|0|0|0|0|0|0|\n"
      "7|main|1|-100|0|0|0|0|0|0|0|\n"
      "18|main|1950|0|0|0|0|0|0|2000|50|\n"
      "19|main|5003|3000|1|0|0|0|0|2000|0|cpu=1,gres/gpu=1\n");
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 5U);
  EXPECT_EQ((*rows)[0].own, 0);
  EXPECT_EQ((*rows)[0].factor, 100);
  EXPECT_TRUE((*rows)[1].by_hand);
  EXPECT_EQ((*rows)[2].own, 0);
  EXPECT_FALSE((*rows)[2].by_hand);
  EXPECT_EQ((*rows)[3].own, 1950);
  EXPECT_EQ((*rows)[4].own, 2003);
  EXPECT_FALSE((*rows)[4].by_hand);
}

TEST(SiteFactors, WhatIsNoListIsRefusedWhole) {
  EXPECT_FALSE(read_sprio("3|main|100|100|0|0|0|0|0|0|0|\n4|main|42"));
  EXPECT_FALSE(read_sprio("sprio: error: no\n"));
  EXPECT_FALSE(read_sprio("x|main|100|100|0|0|0|0|0|0|0|\n"));
  EXPECT_TRUE(read_sprio("")->empty());
}

PriorityRow row(std::int64_t job, std::int64_t own, std::int64_t factor = 0) {
  return {.job = job,
          .partition = "main",
          .priority = std::max<std::int64_t>(own + factor, 1),
          .factor = factor,
          .own = own};
}

// What Slurm makes of it: priorities, and the jobs in its order.
struct Made {
  std::vector<std::int64_t> priorities;
  std::vector<std::int64_t> jobs;
  std::int64_t changed = 0;
};
Made made(std::vector<PriorityRow>& wanted) {
  const auto factors = factors_in_order(wanted);
  Made out;
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    if (factors[at] != wanted[at].factor) ++out.changed;
    wanted[at] = row(wanted[at].job, wanted[at].own, factors[at]);
  }
  auto sorted = wanted;
  std::ranges::sort(sorted, {}, [](const PriorityRow& each) { return std::pair(-each.priority, each.job); });
  for (const PriorityRow& each : sorted) out.priorities.push_back(each.priority), out.jobs.push_back(each.job);
  return out;
}

std::vector<std::int64_t> jobs_of(const std::vector<PriorityRow>& wanted) {
  std::vector<std::int64_t> jobs;
  for (const PriorityRow& each : wanted) jobs.push_back(each.job);
  return jobs;
}

TEST(SiteFactors, JobsExchangePlacesWithinTheirOwnRange) {
  std::vector<PriorityRow> wanted{row(3, 1000), row(1, 5000), row(2, 3000)};
  const Made now = made(wanted);
  EXPECT_EQ(now.jobs, (std::vector<std::int64_t>{3, 1, 2}));
  EXPECT_LE(now.priorities.front(), 5000);
  EXPECT_GE(now.priorities.back(), 1000);
  EXPECT_EQ(now.changed, 2);  // the first place is taken, and its holder makes room
}

TEST(SiteFactors, JobsThatAreAlikeToTheOrderStandAsSlurmHasThem) {
  std::vector<PriorityRow> wanted{row(1, 10), row(2, 5000, -4000), row(3, 3000), row(4, 3000), row(5, 1)};
  for (PriorityRow& each : wanted) each.rank = each.job == 5 ? 1 : 2;
  put_in_order(wanted);
  EXPECT_EQ(jobs_of(wanted), (std::vector<std::int64_t>{5, 2, 3, 4, 1}));
}

TEST(SiteFactors, WhatStandsInOrderIsLeftAsItIs) {
  std::vector<PriorityRow> wanted{row(1, 5000), row(2, 5000), row(3, 1)};
  EXPECT_EQ(made(wanted).changed, 0);
}

TEST(SiteFactors, EqualPrioritiesAreSpreadUpwards) {
  std::vector<PriorityRow> wanted;
  for (std::int64_t job = 100; job > 0; --job) wanted.push_back(row(job, 0));
  const Made now = made(wanted);
  EXPECT_EQ(now.jobs, jobs_of(wanted));
  EXPECT_LE(now.priorities.front(), 1 + kStep * 100);
  EXPECT_EQ(made(wanted).changed, 0);
}

TEST(SiteFactors, PrioritiesBelowOneAndHugeOnesAreBorne) {
  std::vector<PriorityRow> wanted{row(3, -500), row(2, 4'000'000'000), row(1, 7)};
  const Made now = made(wanted);
  EXPECT_EQ(now.jobs, jobs_of(wanted));
  EXPECT_GE(now.priorities.back(), 1);
  EXPECT_TRUE(factors_in_order({}).empty());
}

// Jobs come, age and start, in any order; each time the order is as wanted, and little is written.
TEST(SiteFactors, AnyOrderComesAboutWithinTheRange) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    const auto range = std::int64_t{1} << random.between(0, 19);
    std::vector<PriorityRow> wanted;
    for (std::int64_t job = 1; job <= 40; ++job) wanted.push_back(row(job, random.between(0, range - 1)));
    std::int64_t changed = 0, steps = 30;
    for (std::int64_t step = 0; step < steps; ++step) {
      for (PriorityRow& each : wanted) each = row(each.job, each.own + 3, each.factor);
      wanted.erase(wanted.begin());
      const auto at = random.between(0, std::ssize(wanted));
      wanted.insert(wanted.begin() + at, row(41 + step, random.between(0, range - 1)));
      const auto [low, high] = std::ranges::minmax(wanted, {}, &PriorityRow::own);
      const std::int64_t least = std::max<std::int64_t>(low.own, 1), most = std::max(high.own, least + 4 * kStep * 40);
      const Made now = made(wanted);
      ASSERT_EQ(now.jobs, jobs_of(wanted)) << round << " " << step;
      ASSERT_LE(now.priorities.front(), most);
      ASSERT_GE(now.priorities.back(), least);
      if (step > 0) changed += now.changed;
    }
    EXPECT_LT(changed, steps * 12) << range;
  }
}

TEST(SiteFactors, BehindTheFirstPlacesJobsStayAsTheyStand) {
  std::vector<PriorityRow> wanted;  // the last one first
  for (std::int64_t job = 2000; job > 0; --job) wanted.push_back(row(job, 5000 - job));
  leave_behind(wanted, 100);
  EXPECT_EQ(wanted[99].job, 1901);
  EXPECT_EQ(wanted[100].job, 1);
  const Made out = made(wanted);
  EXPECT_EQ(out.changed, 100);
  EXPECT_EQ(out.jobs[99], 1901);
  EXPECT_EQ(out.jobs[100], 1);
}

}  // namespace
}  // namespace rota::slurm
