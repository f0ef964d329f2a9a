#include "forecast/correction.h"

#include <gtest/gtest.h>

namespace rota::forecast {
namespace {

TEST(Correction, teaches_nothing_from_few) {
  Correction correction;
  for (std::size_t i = 0; i + 1 < Correction::kLeast; ++i) correction.add(0.99);
  EXPECT_EQ(correction.level(0.9), 0.9);
}

TEST(Correction, leaves_forecasts_alone_that_were_right) {
  Correction correction;
  for (int i = 0; i < 99; ++i) correction.add((i + 1) / 100.0);
  EXPECT_NEAR(correction.level(0.05), 0.05, 0.011);
  EXPECT_NEAR(correction.level(0.5), 0.5, 0.011);
  EXPECT_NEAR(correction.level(0.95), 0.95, 0.011);
}

TEST(Correction, reads_farther_out_where_truth_lay_outside) {
  Correction correction;
  for (int i = 0; i < 100; ++i) correction.add(i % 2 == 0 ? 0.02 : 0.98);
  EXPECT_LE(correction.level(0.25), 0.02);
  EXPECT_GE(correction.level(0.75), 0.98);
}

TEST(Correction, forgets_what_is_long_past) {
  Correction correction;
  for (std::size_t i = 0; i < Correction::kMost; ++i) correction.add(0.99);
  for (std::size_t i = 0; i < Correction::kMost; ++i) correction.add(0.5);
  EXPECT_EQ(correction.level(0.9), 0.5);
  EXPECT_EQ(correction.ranks().size(), Correction::kMost);
}

TEST(RankOf, is_the_share_that_lies_before) {
  const std::vector<Instant> starts{at_seconds(1), at_seconds(2), at_seconds(2), at_seconds(5)};
  EXPECT_EQ(rank_of(starts, at_seconds(0)), 0);
  EXPECT_EQ(rank_of(starts, at_seconds(2)), 0.5);
  EXPECT_EQ(rank_of(starts, at_seconds(9)), 1);
}

TEST(Quantile, is_the_least_that_so_many_are_at_or_below) {
  const std::vector<Instant> starts{at_seconds(1), at_seconds(2), at_seconds(3), at_seconds(4)};
  EXPECT_EQ(quantile(starts, 0), at_seconds(1));
  EXPECT_EQ(quantile(starts, 0.5), at_seconds(2));
  EXPECT_EQ(quantile(starts, 0.51), at_seconds(3));
  EXPECT_EQ(quantile(starts, 1), at_seconds(4));
  EXPECT_EQ(quantile({}, 0.5), kNever);
}

}  // namespace
}  // namespace rota::forecast
