#include "model/recent_use.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

constexpr Duration kDay = seconds(86'400);
constexpr std::int64_t kParts = 1024;

std::int64_t at(Instant instant) { return instant.time_since_epoch().count() * kParts; }

TEST(RecentUse, fades_by_half_in_a_half_life) {
  RecentUse use(kDay);
  use.add(1, 1, Duration{1024}, kEpoch + kDay);  // 2^10 processor-milliseconds
  EXPECT_EQ(use.spent_at(1), at(kEpoch + 11 * kDay));
  use.add(2, 4, Duration{512}, kEpoch);  // twice as much a day earlier
  EXPECT_EQ(use.spent_at(2), use.spent_at(1));
  use.add(3, 8, Duration{512}, kEpoch);
  EXPECT_GT(use.spent_at(3), use.spent_at(1));
}

TEST(RecentUse, is_told_as_a_part_of_other_use) {
  RecentUse use(kDay);
  use.add(1, 4, seconds(30), kEpoch);
  use.add(2, 1, seconds(30), kEpoch);
  EXPECT_NEAR(use.beside(use.spent_at(2), use.spent_at(1)), 0.25, 1e-9);
  EXPECT_EQ(use.beside(use.spent_at(1), use.spent_at(1)), 1.0);
  EXPECT_EQ(use.beside(RecentUse::kNothing, use.spent_at(1)), 0.0);
}

TEST(RecentUse, as_much_again_makes_it_twice_as_much) {
  RecentUse use(kDay);
  use.add(1, 2, seconds(100), at_seconds(5));
  const std::int64_t once = use.spent_at(1);
  use.add(1, 1, seconds(200), at_seconds(5));
  EXPECT_EQ(use.spent_at(1), once + at(kEpoch + kDay));
}

TEST(RecentUse, does_not_depend_on_when_the_log_begins) {
  for (const std::int64_t shift : {1LL, 86'399LL, 1'700'000'000LL, -5LL}) {
    RecentUse here(kDay);
    RecentUse there(kDay);
    for (std::int64_t i = 1; i < 50; ++i) {
      here.add(1, static_cast<std::uint32_t>(i), seconds(i * 37), at_seconds(i * 1000));
      there.add(1, static_cast<std::uint32_t>(i), seconds(i * 37), at_seconds(i * 1000 + shift));
    }
    EXPECT_EQ(there.spent_at(1) - here.spent_at(1), at(at_seconds(shift)));
  }
}

TEST(RecentUse, takes_over_what_another_one_has) {
  RecentUse use(kDay), owed(kDay);
  use.add(1, 2, seconds(100), at_seconds(5));
  const std::int64_t once = use.spent_at(1);
  owed.add(1, RecentUse::Work{200'000}, at_seconds(5));
  owed.add(2, 1, seconds(7), at_seconds(5));
  use.take_over(owed);
  EXPECT_EQ(use.spent_at(1), once + at(kEpoch + kDay)) << "as much again";
  EXPECT_NE(use.spent_at(2), RecentUse::kNothing);
  EXPECT_TRUE(owed.all().empty());
}

TEST(RecentUse, a_user_without_use_comes_before_all_others) {
  RecentUse use(seconds(1));
  use.add(1, 1, Duration{1}, kEpoch - kLongest);
  use.add(2, 0, seconds(5), kEpoch);
  use.add(2, 5, seconds(0), kEpoch);
  EXPECT_EQ(use.spent_at(2), RecentUse::kNothing);
  EXPECT_LT(use.spent_at(2), use.spent_at(1));
  EXPECT_EQ(use.changed().size(), 1U);
}

TEST(RecentUse, carries_the_largest_use_over_the_longest_half_life) {
  RecentUse use(kLongest);
  std::int64_t before = RecentUse::kNothing;
  for (int i = 0; i < 10; ++i) {
    use.add(1, UINT32_MAX, 4 * kLongest, kEpoch + 4 * kLongest);
    EXPECT_GT(use.spent_at(1), before);
    before = use.spent_at(1);
  }
}

}  // namespace
}  // namespace rota
