#include "generate/poisson.h"

#include <gtest/gtest.h>

#include <bit>

#include "generate/statistics_test.h"

namespace rota::generate {
namespace {

log::Workload made(Poisson& poisson) { return generate(*poisson.recipe()); }

TEST(Poisson, offers_the_load_for_every_choice_of_sizes_and_run_times) {
  for (const char* sizes : {"powers", "uniform", "log-uniform", "fixed"}) {
    for (const char* runs : {"log-normal", "exponential", "uniform", "fixed"}) {
      Poisson poisson;
      poisson.jobs = 100'000;
      poisson.sizes = sizes;
      poisson.size_min = 2;
      poisson.size_max = 50;
      poisson.runs = runs;
      poisson.run_max = seconds(14'400);  // cuts much off, so that a wrong mean would show
      poisson.run_min = seconds(600);
      poisson.load = 0.9;
      const log::Workload workload = made(poisson);
      EXPECT_NEAR(load_of(workload), 0.9, 0.015) << sizes << ' ' << runs;
      EXPECT_NEAR(mean_of(sizes_of(workload)) / poisson.mean_size(), 1.0, 0.015) << sizes;
      EXPECT_NEAR(mean_of(runs_of(workload)) / poisson.mean_run(), 1.0, 0.015) << runs;
    }
  }
}

TEST(Poisson, has_gaps_that_are_exponential) {
  Poisson poisson;
  poisson.jobs = 100'000;
  poisson.gap = 40;
  const std::vector<double> gaps = gaps_of(made(poisson));
  EXPECT_NEAR(mean_of(gaps), 40, 0.5);
  EXPECT_NEAR(deviation_of(gaps), 40, 0.8);
  EXPECT_NEAR(quantile(gaps, 0.5), 40 * std::log(2.0), 1.0);
  EXPECT_NEAR(quantile(gaps, 0.99), 40 * std::log(100.0), 5.0);
}

TEST(Poisson, draws_every_size_in_its_range_and_no_other) {
  Poisson poisson;
  poisson.size_min = 3;
  poisson.size_max = 33;
  for (const char* sizes : {"powers", "uniform", "log-uniform"}) {
    poisson.sizes = sizes;
    std::array<int, 34> count{};
    for (const JobSpec& job : made(poisson).jobs) {
      ASSERT_GE(job.processors, 3U);
      ASSERT_LE(job.processors, 33U);
      ++count[job.processors];
    }
    for (std::uint32_t n = 3; n <= 33; ++n) {
      const bool drawn = poisson.sizes != "powers" || std::has_single_bit(n);
      EXPECT_EQ(count[n] > 0, drawn) << sizes << ' ' << n;
    }
  }
}

TEST(Poisson, keeps_its_jobs_when_the_load_changes) {
  Poisson one;
  Poisson other;
  other.load = 1.6;
  const log::Workload a = made(one);
  const log::Workload b = made(other);
  EXPECT_EQ(a.run_times, b.run_times);
  EXPECT_EQ(sizes_of(a), sizes_of(b));
  EXPECT_NEAR(to_seconds(a.jobs.back().submit - kEpoch) / to_seconds(b.jobs.back().submit - kEpoch), 2.0, 0.001);
}

TEST(Poisson, refuses_settings_that_contradict_each_other) {
  const auto message = [](auto change) {
    Poisson poisson;
    change(poisson);
    const auto recipe = poisson.recipe();
    return recipe ? std::string("made") : recipe.error().message;
  };
  EXPECT_EQ(message([](Poisson& p) { p.size_max = 257; }),
            "--size-max is 257, more than the machine's --processors 256: such a job could never run.");
  EXPECT_EQ(message([](Poisson& p) { p.size_min = 65; }),
            "--size-min is above --size-max: give a --size-max of at least --size-min.");
  EXPECT_EQ(message([](Poisson& p) { p.run_min = p.run_max + Duration{1}; }),
            "--run-min is above --run-max: give a --run-max of at least --run-min.");
  EXPECT_EQ(message([](Poisson& p) { p.size_min = 33, p.size_max = 63; }),
            "there is no power of two between --size-min and --size-max: widen them, or choose other --sizes.");
}

}  // namespace
}  // namespace rota::generate
