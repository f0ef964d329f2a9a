#include "generate/estimates.h"

#include <gtest/gtest.h>

#include <set>

#include "generate/lublin.h"

namespace rota::generate {
namespace {

TEST(Estimates, are_never_below_the_run_time) {
  Random random(3);
  for (const char* rule : {"none", "exact", "factor", "modal"}) {
    Estimates estimates;
    estimates.rule = rule;
    estimates.most = seconds(14'400);
    for (int i = 0; i < 20'000; ++i) {
      const Duration run{random.between(1, 36'000'000)};
      EXPECT_GE(estimate(estimates, run, random), run) << rule;
    }
  }
}

TEST(Estimates, by_a_factor_lie_evenly_between_the_run_time_and_that) {
  Random random(4);
  Estimates estimates{.rule = "factor", .factor = 3};
  double sum = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double ratio = to_seconds(estimate(estimates, seconds(1000), random)) / 1000;
    EXPECT_LE(ratio, 3.001);
    sum += ratio;
  }
  EXPECT_NEAR(sum / 20'000, 2.0, 0.02);
}

TEST(Estimates, that_are_modal_take_few_round_values_and_often_the_greatest) {
  Random random(5);
  const Estimates estimates{.rule = "modal"};
  std::set<std::int64_t> values;
  int greatest = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Duration asked = estimate(estimates, seconds(random.between(1, 43'200)), random);
    values.insert(asked / seconds(1));
    if (asked == estimates.most) ++greatest;
  }
  EXPECT_EQ(values.size(), 20U);
  EXPECT_EQ(*values.begin(), 300);
  EXPECT_EQ(*values.rbegin(), 36 * 3600);
  EXPECT_GT(greatest, 2000);
}

TEST(Estimates, that_are_modal_ask_for_whole_hours_beyond_the_greatest) {
  Random random(6);
  const Estimates estimates{.rule = "modal", .most = seconds(3600)};
  EXPECT_EQ(estimate(estimates, seconds(3601), random), seconds(7200));
  EXPECT_EQ(estimate(estimates, seconds(7200), random), seconds(7200));
}

TEST(Estimates, leave_the_jobs_as_they_are) {
  Lublin plain;
  Lublin modal;
  modal.estimates.rule = "modal";
  const log::Workload a = generate(*plain.recipe());
  const log::Workload b = generate(*modal.recipe());
  EXPECT_EQ(a.run_times, b.run_times);
  for (std::size_t i = 0; i < a.jobs.size(); ++i) {
    ASSERT_EQ(a.jobs[i].submit, b.jobs[i].submit);
    ASSERT_EQ(a.jobs[i].processors, b.jobs[i].processors);
    ASSERT_EQ(a.jobs[i].limit, a.run_times[i]);
  }
}

}  // namespace
}  // namespace rota::generate
