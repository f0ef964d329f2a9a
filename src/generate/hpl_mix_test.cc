#include "generate/hpl_mix.h"

#include <gtest/gtest.h>

#include <map>

#include "generate/statistics_test.h"

namespace rota::generate {
namespace {

log::Workload made(HplMix mix, std::int64_t jobs = 100'000) {
  mix.jobs = jobs;
  return generate(*mix.recipe());
}

TEST(HplMix, has_the_published_shares_of_sizes) {
  const log::Workload workload = made({});
  const auto share = [&](std::uint32_t low, std::uint32_t high) {
    return share_of(workload, [=](const JobSpec& job) { return job.processors >= low && job.processors <= high; });
  };
  EXPECT_NEAR(share(1, 1), 0.269, 0.006);
  EXPECT_NEAR(share(2, 2), 0.731 * 0.283, 0.006);
  EXPECT_NEAR(share(4, 4), 0.731 * 0.251, 0.006);
  EXPECT_NEAR(share(6, 6), 0.731 * 0.171, 0.006);
  EXPECT_NEAR(share(8, 8), 0.731 * 0.152, 0.006);
  EXPECT_NEAR(share(10, 12), 0.731 * 0.143, 0.006);
  EXPECT_NEAR(share(11, 11), 0.731 * 0.143 / 3, 0.004);
  EXPECT_EQ(share(3, 3) + share(5, 5) + share(7, 7) + share(9, 9) + share(13, 99), 0.0);
}

TEST(HplMix, runs_longer_on_more_cores_and_within_50_to_200_seconds) {
  const log::Workload workload = made({});
  std::map<std::uint32_t, std::vector<double>> runs;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const double run = to_seconds(workload.run_times[i]);
    ASSERT_GE(run, 50);
    ASSERT_LE(run, 200);
    runs[workload.jobs[i].processors].push_back(run);
  }
  EXPECT_NEAR(mean_of(runs[4]), 100, 1);       // centre 100 s: nothing is cut off but the least bit
  EXPECT_NEAR(mean_of(runs[1]), 72.5, 1);      // U(30, 110) cut at 50: 20 s x 20/80 / 2 more than 70
  EXPECT_NEAR(mean_of(runs[12]), 177.5, 1.3);  // U(140, 220) cut at 200
}

TEST(HplMix, misjudges_its_run_times_as_published) {
  const log::Workload workload = made({});
  std::vector<double> ratio;
  ratio.reserve(workload.jobs.size());
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    ratio.push_back(to_seconds(workload.jobs[i].limit) / to_seconds(workload.run_times[i]));
  }
  EXPECT_GE(quantile(ratio, 0.0), 0.5499);
  EXPECT_LE(quantile(ratio, 1.0), 1.1801);
  EXPECT_NEAR(mean_of(ratio), 0.865, 0.003);
}

TEST(HplMix, can_be_judged_exactly_or_otherwise) {
  HplMix mix;
  mix.error = "exact";
  const log::Workload exact = made(mix, 1000);
  for (std::size_t i = 0; i < exact.jobs.size(); ++i) EXPECT_EQ(exact.jobs[i].limit, exact.run_times[i]);
  mix.error = "mixed";
  mix.low = 0.5;
  mix.high = 2;
  const log::Workload mixed = made(mix);
  int under = 0;
  for (std::size_t i = 0; i < mixed.jobs.size(); ++i) under += mixed.jobs[i].limit < mixed.run_times[i];
  EXPECT_NEAR(under / 100'000.0, 0.3, 0.006);
  EXPECT_EQ(exact.run_times[999], mixed.run_times[999]);
}

TEST(HplMix, is_a_closed_loop_with_gaps_up_to_1000_seconds) {
  const log::Workload workload = made({});
  EXPECT_EQ(workload.queue_floor, 5);
  EXPECT_EQ(workload.processors, 16);
  EXPECT_EQ(workload.jobs.front().submit, kEpoch);
  const std::vector<double> gaps = gaps_of(workload);
  EXPECT_NEAR(mean_of(gaps), 500, 4);
  EXPECT_LE(quantile(gaps, 1.0), 1000);
  EXPECT_NEAR(deviation_of(gaps), 1000 / std::sqrt(12.0), 3);
}

TEST(HplMix, refuses_bounds_in_disorder) {
  HplMix mix;
  mix.low = 2;
  EXPECT_EQ(mix.recipe().error().message, "--error-low is above --error-high: swap them.");
  mix.high = 3;
  mix.error = "mixed";
  EXPECT_EQ(mix.recipe().error().message,
            "--error mixed needs --error-low of at most 1 and --error-high of at least 1.");
}

}  // namespace
}  // namespace rota::generate
