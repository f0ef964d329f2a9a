#include "forecast/arrivals.h"

#include <gtest/gtest.h>

namespace rota::forecast {
namespace {

constexpr Duration kDay = seconds(86'400);

PastJob came(Instant at, std::uint32_t processors) {
  PastJob job;
  job.spec.submit = at;
  job.spec.processors = processors;
  job.run_time = seconds(60);
  return job;
}

TEST(Arrivals, are_those_of_past_weeks_at_their_hour_of_the_week) {
  PastJobs past;
  for (int day = 0; day < 28; ++day) {
    past.add(came(kEpoch + day * kDay + seconds(3600), static_cast<std::uint32_t>(day % 7 + 1)));
  }
  const Instant now = kEpoch + 28 * kDay;
  const PastArrivals arrivals(past, now);
  EXPECT_EQ(arrivals.periods(), 3) << "a little less than four weeks";
  DrawnArrivals drawn(arrivals, Random(1), now + 10 * kDay);
  sim::Arrival arrival;
  for (int day = 0; day < 10; ++day) {
    ASSERT_TRUE(drawn.next(arrival));
    EXPECT_EQ(arrival.spec.submit, now + day * kDay + seconds(3600));
    EXPECT_EQ(arrival.spec.processors, static_cast<std::uint32_t>(day % 7 + 1));
    EXPECT_EQ(arrival.run_time, seconds(60));
  }
  EXPECT_FALSE(drawn.next(arrival)) << "behind the horizon";
}

TEST(Arrivals, are_none_where_less_than_a_day_is_known) {
  PastJobs past;
  past.add(came(kEpoch + seconds(100), 1));
  const PastArrivals arrivals(past, kEpoch + kDay);
  DrawnArrivals drawn(arrivals, Random(1), kEpoch + 9 * kDay);
  sim::Arrival arrival;
  EXPECT_FALSE(drawn.next(arrival));
}

}  // namespace
}  // namespace rota::forecast
