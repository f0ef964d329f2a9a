#include "forecast/misses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace rota::forecast {
namespace {

constexpr std::size_t kSome = 20;

Misses::Foretold around(std::int64_t middle, std::int64_t half_band) {
  return {at_seconds(middle - half_band),     at_seconds(middle - half_band / 2), at_seconds(middle),
          at_seconds(middle + half_band / 2), at_seconds(middle + half_band),     at_seconds(middle + half_band)};
}

TEST(Misses, of_other_sites_count_until_there_are_enough_of_its_own) {
  Misses misses;
  const auto told = around(1000, 100);
  const auto elsewhere = misses.corrected(at_seconds(0), told);
  for (std::size_t i = 0; i < told.size(); ++i)
    EXPECT_EQ((elsewhere[i] - told[i]).count(), std::llround(Misses::kElsewhere[i] * (10 + 100 + 100) * 1000)) << i;
  Duration off = elsewhere[2] - at_seconds(5000);
  for (std::size_t i = 0; i < Misses::kMost; ++i) {
    misses.add(at_seconds(0), told, at_seconds(5000));
    const Duration now_off = misses.corrected(at_seconds(0), told)[2] - at_seconds(5000);
    EXPECT_GE(now_off, off) << "ever nearer, from below";
    off = now_off;
  }
  EXPECT_GT(off, seconds(-300));
}

TEST(Misses, bands_that_were_too_narrow_and_too_early_are_made_wide_and_later) {
  Misses misses;
  Random random(7);
  const auto told = around(1000, 10);
  const auto truth = [&] { return at_seconds(1050 + static_cast<std::int64_t>(random.unit() * 200) - 100); };
  for (std::size_t i = 0; i < Misses::kMost; ++i) misses.add(at_seconds(0), told, truth());
  const auto mended = misses.corrected(at_seconds(0), told);
  EXPECT_NEAR(static_cast<double>((mended[2] - at_seconds(1050)).count()), 0, 25'000);
  int half = 0, nine = 0;
  for (int i = 0; i < 1000; ++i) {
    const Instant start = truth();
    half += start >= mended[1] && start <= mended[3] ? 1 : 0;
    nine += start >= mended[0] && start <= mended[5] ? 1 : 0;
  }
  EXPECT_GT(half, 400);
  EXPECT_LT(half, 600);
  EXPECT_GT(nine, 820);
  EXPECT_LT(nine, 970);
}

TEST(Misses, nothing_is_foretold_before_it_is_told_or_out_of_order) {
  Misses misses;
  for (std::size_t i = 0; i < kSome; ++i)
    misses.add(at_seconds(0), around(1000, 100), at_seconds(i % 2 == 0 ? 1 : 4000));
  const auto mended = misses.corrected(at_seconds(990), around(1000, 4));
  EXPECT_GE(mended.front(), at_seconds(990));
  EXPECT_TRUE(std::ranges::is_sorted(mended));
}

TEST(Misses, what_lies_beyond_the_futures_is_left_alone) {
  Misses misses;
  auto beyond = around(1000, 100);
  beyond.back() = kNever;
  for (std::size_t i = 0; i < kSome; ++i) misses.add(at_seconds(0), beyond, at_seconds(10));
  EXPECT_EQ(misses.known(), 0U);
  for (std::size_t i = 0; i < kSome; ++i) misses.add(at_seconds(0), around(1000, 100), at_seconds(10));
  EXPECT_EQ(misses.corrected(at_seconds(0), beyond), beyond);
}

TEST(Misses, are_kept_as_a_text) {
  Misses misses;
  for (std::size_t i = 0; i < kSome; ++i)
    misses.add(at_seconds(0), around(1000, 100), at_seconds(900 + static_cast<std::int64_t>(i) * 10));
  Misses again;
  again.read(misses.text() + "odd;1 2 3;a b c d e f;");
  EXPECT_EQ(again.known(), misses.known());
  const auto told = around(2000, 50);
  const auto a = misses.corrected(at_seconds(0), told), b = again.corrected(at_seconds(0), told);
  for (std::size_t i = 0; i < told.size(); ++i) EXPECT_NEAR(static_cast<double>((a[i] - b[i]).count()), 0, 1000) << i;
}

}  // namespace
}  // namespace rota::forecast
