#include "report/blocks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/block_costs.h"
#include "report/sample_test.h"

namespace rota::report {
namespace {

// Blocks of ten jobs each that wait so long, in seconds.
Blocks waiting(const std::vector<std::int64_t>& waits) {
  Blocks blocks;
  for (const std::int64_t wait : waits) {
    blocks.emplace_back();
    for (std::int64_t i = 0; i < 10; ++i) blocks.back().add(ended_job(i, 0, wait + i, 100, 1));
  }
  return blocks;
}

TEST(Blocks, SumUpWhatTheirJobsDid) {
  const Blocks blocks = waiting({100, 200});
  EXPECT_DOUBLE_EQ(value_of(*rule_named("mean"), blocks), 154.5);
  EXPECT_DOUBLE_EQ(value_of(*rule_named("longest"), blocks), 209);
  EXPECT_NEAR(value_of(*rule_named("p95"), blocks), 208.05, 0.001);
  EXPECT_TRUE(std::isnan(value_of(*rule_named("promises"), blocks))) << "no job was promised anything";
  EXPECT_EQ(rule_named("fastest"), nullptr);
}

TEST(Blocks, DifferBlockByBlockHoweverMuchAllOfThemVary) {
  const Blocks now = waiting({100, 5000, 200, 9000, 300, 8000, 20, 700});
  const Blocks then = waiting({90, 4990, 190, 8990, 290, 7990, 10, 690});
  const Rule& mean = *rule_named("mean");
  EXPECT_GT(drawn(mean, now).high - drawn(mean, now).low, 1000);
  const Drawn gain = drawn_gain(mean, now, then);
  EXPECT_DOUBLE_EQ(gain.value, 10);
  EXPECT_NEAR(gain.low, 10, 1e-6);
  EXPECT_NEAR(gain.high, 10, 1e-6);
  EXPECT_FALSE(gain.holds_nothing());
}

TEST(Blocks, ThatDisagreeMayDifferByChance) {
  const Blocks now = waiting({100, 100, 100, 100, 100, 100, 100, 100});
  const Blocks then = waiting({50, 160, 40, 150, 90, 130, 70, 95});
  const Drawn gain = drawn_gain(*rule_named("mean"), now, then);
  EXPECT_TRUE(gain.holds_nothing());
  EXPECT_TRUE(drawn_gain(*rule_named("mean"), now, now).holds_nothing()) << "nothing is not a gain";
}

TEST(Blocks, TooFewSayNothing) {
  const Drawn gain = drawn_gain(*rule_named("mean"), waiting({100, 100, 100}), waiting({1, 1, 1}));
  EXPECT_TRUE(gain.holds_nothing());
  EXPECT_TRUE(std::isinf(gain.high));
}

TEST(Blocks, AreDrawnTheSameAtEveryCall) {
  const Blocks blocks = waiting({100, 5000, 200, 9000, 300});
  EXPECT_EQ(drawn(*rule_named("p95"), blocks).low, drawn(*rule_named("p95"), blocks).low);
}

TEST(BlockCosts, AreThoseThatWaitClearlyLonger) {
  Blocks now = waiting({100, 100});
  Blocks then = waiting({90, 90});
  EXPECT_EQ(cost_told(costs_of(now, then)), "No user waits clearly longer for it.");
  for (Block& block : then) block.add(ended_job(6, 0, 5000, 100, 1));  // user 6 has one job a block more, and it waits
  for (Block& block : now) block.add(ended_job(6, 0, 100, 100, 1));
  const Costs costs = costs_of(now, then);
  ASSERT_EQ(costs.parties.size(), 1U);
  EXPECT_EQ(costs.parties[0].party, 6U);
  EXPECT_EQ(costs.parties[0].jobs, 4);
  EXPECT_EQ(cost_told(costs), "It costs 1 of 7 users: their jobs wait longer by more than 5 % and a minute.");
  EXPECT_EQ(cost_told(costs_of({}, {})), "Whom it costs is not known: the log names no users.");
}

}  // namespace
}  // namespace rota::report
