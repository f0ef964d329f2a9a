#include "model/tariff.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace rota {
namespace {

constexpr Duration kHour = seconds(3600);
constexpr std::int64_t kKilowatt = 1'000'000;  // milliwatts

// Cheap at night: 0.18 until 7:00 and from 21:00 on, 0.31 between.
Tariff day_and_night() { return Tariff({{7 * kHour, 310}, {21 * kHour, 180}}); }

// Thousandths of the currency that a kilowatt costs.
double paid(const Tariff& tariff, Duration from, Duration to) {
  Cost cost;
  cost.add(kKilowatt, tariff.until(to) - tariff.until(from));
  return cost.value() * 1000;
}

TEST(Tariff, says_nothing_without_steps) {
  EXPECT_FALSE(Tariff().has_steps());
  EXPECT_TRUE(day_and_night().has_steps());
}

TEST(Tariff, holds_each_price_until_the_next_step) {
  EXPECT_DOUBLE_EQ(paid(day_and_night(), 8 * kHour, 9 * kHour), 310);
  EXPECT_DOUBLE_EQ(paid(day_and_night(), 22 * kHour, 23 * kHour), 180);
}

TEST(Tariff, holds_the_last_price_from_midnight_until_the_first_step) {
  EXPECT_DOUBLE_EQ(paid(day_and_night(), Duration{0}, kHour), 180);
  EXPECT_EQ(day_and_night().steps().front(), (Tariff::Step{Duration{0}, 180}));
}

TEST(Tariff, adds_up_over_two_steps) { EXPECT_DOUBLE_EQ(paid(day_and_night(), 6 * kHour, 9 * kHour), 180 + 2 * 310); }

TEST(Tariff, goes_on_across_midnight) {
  EXPECT_DOUBLE_EQ(paid(day_and_night(), 20 * kHour, 32 * kHour), 310 + 10 * 180 + 310);
}

TEST(Tariff, is_the_same_every_day) {
  constexpr double kOneDay = 14 * 310 + 10 * 180;
  EXPECT_DOUBLE_EQ(paid(day_and_night(), Duration{0}, 5 * Tariff::kDay), 5 * kOneDay);
  EXPECT_DOUBLE_EQ(paid(day_and_night(), 13 * kHour, 13 * kHour + 400 * Tariff::kDay), 400 * kOneDay);
}

TEST(Tariff, held_the_day_before_too) { EXPECT_DOUBLE_EQ(paid(day_and_night(), -4 * kHour, -2 * kHour), 310 + 180); }

TEST(Tariff, knows_the_time_of_day_by_its_own_clock) {
  constexpr std::int64_t kMorning = 1'296'705'900;  // 2011-02-03 04:05 UTC
  constexpr Duration kMinute = seconds(60);
  EXPECT_EQ(day_and_night().time_of_day(kMorning), 4 * kHour + 5 * kMinute);
  EXPECT_EQ(Tariff({{kHour, 1}}, 2 * kHour).time_of_day(kMorning), 6 * kHour + 5 * kMinute);
  EXPECT_EQ(Tariff({{kHour, 1}}, -5 * kHour).time_of_day(kMorning), 23 * kHour + 5 * kMinute);
  EXPECT_EQ(Tariff({{kHour, 1}}, -5 * kHour).time_of_day(-1), 19 * kHour - seconds(1)) << "before 1970";
  EXPECT_EQ(Tariff({{kHour, 1}}, -5 * kHour).time_of_day(0), Duration{0}) << "not known";
}

TEST(Cost, is_exact_however_it_is_cut_into_pieces) {
  const Tariff tariff = day_and_night();
  Cost whole;
  whole.add(352'123, tariff.until(3 * Tariff::kDay));
  Cost pieces;
  for (Duration at{0}; at < 3 * Tariff::kDay;) {
    const Duration next = std::min(at + Duration{777'777}, 3 * Tariff::kDay);
    pieces.add(352'123, tariff.until(next) - tariff.until(at));
    at = next;
  }
  EXPECT_EQ(pieces, whole);
}

TEST(Cost, of_years_of_large_machines_fits) {
  Cost all;
  Cost node;
  node.add(2'000'000'000, Tariff({{Duration{0}, 1'000}}).until(10 * 365 * Tariff::kDay));  // 2 MW at 1
  for (int i = 0; i < 500; ++i) all += node;
  EXPECT_DOUBLE_EQ(all.value(), 500.0 * 2000 * 24 * 3650);
}

RC_GTEST_PROP(Tariff, is_what_one_pays_second_by_second, ()) {
  const auto minutes =
      *rc::gen::nonEmpty(rc::gen::container<std::set<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 1440)));
  std::vector<Tariff::Step> steps;
  steps.reserve(minutes.size());
  for (const std::int64_t minute : minutes) steps.push_back({seconds(minute * 60), *rc::gen::inRange(0, 1'000'000)});
  const Tariff tariff(steps);
  constexpr std::int64_t kThreeDays = 3 * 86'400LL;
  const auto from = *rc::gen::inRange<std::int64_t>(0, kThreeDays);
  const auto to = from + *rc::gen::inRange<std::int64_t>(0, kThreeDays);
  std::int64_t sum = 0;
  for (std::int64_t s = from; s < to; ++s) {
    std::int64_t price = steps.back().price;
    for (const Tariff::Step& step : steps) {
      if (step.from <= seconds(s % 86'400)) price = step.price;
    }
    sum += price * 1000;
  }
  RC_ASSERT(tariff.until(seconds(to)) - tariff.until(seconds(from)) == sum);
}

}  // namespace
}  // namespace rota
