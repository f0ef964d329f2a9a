#include "rehearse/chances.h"

#include <gtest/gtest.h>

#include <set>

#include "policy/chain.h"

namespace rota {
namespace {

log::Workload of_jobs(std::int64_t jobs) {
  log::Workload workload;
  for (std::int64_t i = 0; i < jobs; ++i) {
    JobSpec spec;
    spec.number = i + 1;
    spec.submit = at_seconds(i);
    spec.processors = 2;
    spec.limit = seconds(60);
    workload.jobs.push_back(spec);
    workload.run_times.push_back(seconds(10));
  }
  workload.processors = 4;
  return workload;
}

TEST(Chances, JobsOfALogInWholeSecondsRunHalfASecondMoreOrLess) {
  log::Workload workload = of_jobs(1000);
  EXPECT_EQ(held_for(workload, 0, seconds(60), 1), seconds(10)) << "the log tells fractions";
  workload.whole_seconds = true;
  std::set<Duration> drawn;
  Duration sum{0};
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const Duration held = held_for(workload, i, seconds(60), 1);
    EXPECT_LE(std::chrono::abs(held - seconds(10)), Duration{500});
    EXPECT_LE(held_for(workload, i, seconds(10), 1), seconds(10)) << "none comes over its limit";
    drawn.insert(held);
    sum += held;
  }
  EXPECT_GT(drawn.size(), 500U);
  EXPECT_LE(std::chrono::abs(sum / 1000 - seconds(10)), Duration{50});
  EXPECT_NE(held_for(workload, 0, seconds(60), 1), held_for(workload, 0, seconds(60), 2));
  workload.turnaround = seconds(5);
  EXPECT_GE(held_for(workload, 0, seconds(60), 1), seconds(14));
}

TEST(Chances, TrustIsThatOfTheMeanWaits) {
  log::Workload workload = of_jobs(100);
  RehearseOptions options;
  options.processors = 4;
  const Chain slurm = *Chain::parse("slurm+bf-interval=4s");
  workload.recorded.resize(workload.jobs.size());
  for (std::size_t i = 0; i < workload.jobs.size(); ++i)
    workload.recorded[i].wait = seconds(static_cast<std::int64_t>(4 * i));
  EXPECT_FALSE(*trust_over_chances(workload, slurm, options)) << "the log tells fractions";
  workload.whole_seconds = true;
  EXPECT_FALSE(*trust_over_chances(workload, *Chain::parse("easy"), options));
  const auto trust = trust_over_chances(workload, slurm, options);
  ASSERT_TRUE(trust) << trust.error().message;
  ASSERT_TRUE(*trust);
  EXPECT_EQ((*trust)->jobs, 100);
  EXPECT_GT(*(*trust)->correlation, 0.99);
  EXPECT_EQ((*trust)->mean, (*trust_over_chances(workload, slurm, options))->mean) << "each time the same";
}

}  // namespace
}  // namespace rota
