#include "generate/lublin.h"

#include <gtest/gtest.h>

#include <bit>

#include "generate/sample_test.h"
#include "generate/statistics_test.h"
#include "log/swf.h"

namespace rota::generate {
namespace {

log::Workload made(Lublin& lublin) {
  const auto recipe = lublin.recipe();
  EXPECT_TRUE(recipe) << recipe.error().message;
  return generate(*recipe);
}

bool serial(const JobSpec& job) { return job.processors == 1; }
bool power(const JobSpec& job) { return std::has_single_bit(job.processors); }

// The archive's sample of the model is 10,000 jobs; its figures are compared with 100,000 of ours, so the tolerances
// are about four deviations of 10,000 draws.
class LublinSample : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path path = shared_folder() / "traces" / "lublin_256.swf.gz";
    SKIP_WITHOUT(path);
    auto read = log::read_swf(path.string());
    ASSERT_TRUE(read) << read.error().message;
    sample_ = std::move(*read);
    Lublin lublin;
    lublin.jobs = 100'000;
    ours_ = made(lublin);
  }

  log::Workload sample_;
  log::Workload ours_;
};

TEST_F(LublinSample, has_our_sizes) {
  EXPECT_NEAR(share_of(ours_, serial), share_of(sample_, serial), 0.02);
  EXPECT_NEAR(share_of(ours_, power), share_of(sample_, power), 0.02);
  for (const std::uint32_t n : {2U, 3U, 4U, 8U, 16U, 32U, 64U, 128U, 256U}) {
    const auto of_size = [n](const JobSpec& job) { return job.processors == n; };
    EXPECT_NEAR(share_of(ours_, of_size), share_of(sample_, of_size), 0.013) << n;
  }
  for (const double q : {0.25, 0.5, 0.75, 0.9, 0.95, 0.99}) {
    EXPECT_NEAR(std::log2(quantile(sizes_of(ours_), q)), std::log2(quantile(sizes_of(sample_), q)), 1.0) << q;
  }
}

TEST_F(LublinSample, has_our_run_times) {
  for (const double q : {0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99}) {
    const double mine = quantile(runs_of(ours_), q);
    const double theirs = quantile(runs_of(sample_), q);
    EXPECT_NEAR(std::log(mine), std::log(theirs), theirs < 10 ? 0.3 : 0.12) << q;  // whole seconds
  }
}

TEST_F(LublinSample, has_our_arrivals) {
  for (const double q : {0.1, 0.25, 0.5, 0.75, 0.9, 0.95}) {
    EXPECT_NEAR(quantile(gaps_of(ours_), q) / quantile(gaps_of(sample_), q), 1.0, 0.1) << q;
  }
  // The sample's daily cycle is ahead of the published program's by half an hour.
  const std::array<double, 24> mine = hours_of(ours_);
  const std::array<double, 24> theirs = hours_of(sample_);
  for (std::size_t hour = 0; hour < 24; ++hour) EXPECT_NEAR(mine[hour], theirs[hour], 0.02) << hour;
}

TEST(Lublin, has_its_published_shares) {
  Lublin lublin;
  lublin.jobs = 100'000;
  const log::Workload all = made(lublin);
  EXPECT_NEAR(share_of(all, serial), 0.244, 0.005);
  lublin.kind = "batch";
  EXPECT_NEAR(share_of(made(lublin), serial), 0.2927, 0.005);
  lublin.kind = "interactive";
  const log::Workload interactive = made(lublin);
  EXPECT_NEAR(share_of(interactive, serial), 0.1541, 0.005);
  EXPECT_LT(quantile(runs_of(interactive), 0.5), 60);
}

TEST(Lublin, is_busiest_in_the_early_afternoon_and_quiet_before_dawn) {
  Lublin lublin;
  lublin.jobs = 200'000;
  const std::array<double, 24> hours = hours_of(made(lublin));
  EXPECT_NEAR(hours[4], 0.0078, 0.001);
  EXPECT_NEAR(hours[13], 0.0761, 0.003);
  EXPECT_NEAR(hours[14], 0.0760, 0.003);
  EXPECT_NEAR(hours[20], 0.0426, 0.003);
}

TEST(Lublin, meets_the_load_by_stretching_gaps_and_keeps_the_jobs) {
  Lublin natural;
  const log::Workload before = made(natural);
  for (const double load : {0.5, 0.9, 1.5}) {
    Lublin lublin;
    lublin.load = load;
    const log::Workload after = made(lublin);
    EXPECT_NEAR(load_of(after), load, 0.01 * load);
    EXPECT_EQ(after.run_times, before.run_times);
  }
}

TEST(Lublin, of_both_kinds_merges_the_two_streams) {
  Lublin lublin;
  lublin.kind = "both";
  const log::Workload both = made(lublin);
  lublin.kind = "interactive";
  const log::Workload interactive = made(lublin);
  const double share = share_of(both, serial);
  EXPECT_GT(share, 0.16);
  EXPECT_LT(share, 0.28);
  EXPECT_LT(both.jobs.back().submit, interactive.jobs.back().submit);
}

TEST(Lublin, keeps_within_machines_of_any_size) {
  for (const std::int64_t processors : {1, 2, 3, 5, 100, 1000, 100'000}) {
    for (const char* kind : {"all", "batch", "interactive", "both"}) {
      Lublin lublin;
      lublin.jobs = 3000;
      lublin.processors = processors;
      lublin.kind = kind;
      std::uint32_t largest = 0;
      for (const JobSpec& job : made(lublin).jobs) {
        ASSERT_GE(job.processors, 1U);
        ASSERT_LE(job.processors, processors);
        largest = std::max(largest, job.processors);
      }
      EXPECT_GE(4 * largest, processors) << kind;
    }
  }
}

TEST(Lublin, takes_parameters_instead_of_the_published_ones) {
  Lublin lublin;
  lublin.parameters.serial = 1.0;
  lublin.parameters.pow2 = 0.0;
  lublin.parameters.a1 = lublin.parameters.a2 = 1e4;
  lublin.parameters.b1 = lublin.parameters.b2 = 8.0 / 1e4;
  const log::Workload workload = made(lublin);
  EXPECT_EQ(share_of(workload, serial), 1.0);
  EXPECT_NEAR(quantile(runs_of(workload), 0.5), std::exp(8.0), 30);
}

TEST(Lublin, refuses_parameters_with_which_it_would_never_end) {
  Lublin lublin;
  lublin.parameters.a2 = 1000;
  EXPECT_NE(lublin.recipe().error().message.find("must be at most 12"), std::string::npos);
  lublin.parameters.a2 = kUnset;
  lublin.parameters.barr = 5;
  EXPECT_NE(lublin.recipe().error().message.find("must be at most 13"), std::string::npos);
  lublin.parameters.barr = kUnset;
  lublin.parameters.serial = 0.5;
  EXPECT_NE(lublin.recipe().error().message.find("at most 1"), std::string::npos);
}

}  // namespace
}  // namespace rota::generate
