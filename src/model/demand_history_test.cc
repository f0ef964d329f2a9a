#include "model/demand_history.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

constexpr Instant at(std::int64_t s) { return kEpoch + seconds(s); }

TEST(DemandHistory, knows_of_nothing_at_first) { EXPECT_EQ(DemandHistory(seconds(300)).lately(at(1000)), 0); }

TEST(DemandHistory, what_is_asked_for_steadily_is_what_was_asked_for_lately) {
  DemandHistory history(seconds(300));
  for (int s = 0; s < 40'000; s += 10) history.add(at(s), 2);
  EXPECT_NEAR(history.lately(at(40'000)), 60, 0.3);  // 2 every 10 s
}

TEST(DemandHistory, half_of_it_is_forgotten_in_a_gap_of_half_an_hour) {
  DemandHistory history(seconds(300));
  history.add(at(50), 12);
  EXPECT_DOUBLE_EQ(history.lately(at(50)), 2);
  EXPECT_DOUBLE_EQ(history.lately(at(1850)), 1);
}

TEST(DemandHistory, a_steady_stream_after_a_rush_soon_hides_it) {
  DemandHistory history(seconds(300));
  history.add(at(0), 1'000'000);
  for (int s = 10; s < 30'000; s += 10) history.add(at(s), 2);
  EXPECT_LT(history.lately(at(30'000)), 61);
}

TEST(DemandHistory, keeps_in_reserve_what_an_hour_of_the_week_mostly_asks_for) {
  DemandHistory history(seconds(300));
  for (int s = 0; s < 3600; s += 300) history.add(at(s), s < 2700 ? 4 : 64);
  history.add(at(8000), 1);
  EXPECT_EQ(history.reserve(at(100), 0.5), 4);
  EXPECT_EQ(history.reserve(at(100), 0.95), 64);
  EXPECT_EQ(history.reserve(at(100), 0), 0);
}

}  // namespace
}  // namespace rota
