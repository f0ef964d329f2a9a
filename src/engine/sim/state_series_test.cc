#include "engine/sim/state_series.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rota::sim {
namespace {

constexpr std::size_t kBusy = static_cast<std::size_t>(NodeUse::busy);
constexpr std::size_t kOff = static_cast<std::size_t>(NodeUse::off);

TEST(StateSeries, puts_each_moment_into_its_bin) {
  StateSeries series(at_seconds(100));
  series.add(NodeUse::busy, 2'000, at_seconds(100) + Duration{400}, at_seconds(103) + Duration{100});
  series.add(NodeUse::off, 5, at_seconds(102), at_seconds(103));
  const NodeStates states = series.read(at_seconds(103) + Duration{100});
  EXPECT_EQ(states.from, at_seconds(100));
  EXPECT_EQ(states.width, seconds(1));
  ASSERT_EQ(states.bins.size(), 4U) << "the last one is cut short";
  const std::vector<std::int64_t> busy{600, 1000, 1000, 100};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(states.bins[i].time[kBusy], busy[i]) << i;
    EXPECT_EQ(states.bins[i].time[kOff], i == 2 ? 1000 : 0) << i;
    EXPECT_EQ(states.bins[i].energy, busy[i] * 2'000 + (i == 2 ? 5'000 : 0)) << i;
  }
}

TEST(StateSeries, doubles_its_bins_when_time_outgrows_them) {
  StateSeries series(kEpoch);
  series.add(NodeUse::idle, 1, at_seconds(3), at_seconds(6));
  series.add(NodeUse::busy, 7, at_seconds(1199), at_seconds(1200));
  EXPECT_EQ(series.read(at_seconds(1200)).width, seconds(1)) << "they just fit";
  series.add(NodeUse::busy, 7, at_seconds(1200), at_seconds(1201));
  const NodeStates states = series.read(at_seconds(1201));
  EXPECT_EQ(states.width, seconds(2));
  ASSERT_EQ(states.bins.size(), 601U);
  EXPECT_EQ(states.bins[1].time[1], 1000);
  EXPECT_EQ(states.bins[2].time[1], 2000);
  EXPECT_EQ(states.bins[599].time[kBusy], 1000);
  EXPECT_EQ(states.bins[600].time[kBusy], 1000);
}

TEST(StateSeries, has_no_bins_where_no_time_passed) { EXPECT_TRUE(StateSeries(kEpoch).read(kEpoch).bins.empty()); }

TEST(StateSeries, of_a_century_fits) {
  StateSeries series(kEpoch);
  const Instant end = at_seconds(100LL * 365 * 86'400);
  for (int i = 0; i < 2'000; ++i) series.add(NodeUse::busy, 400'000, kEpoch, end);
  const NodeStates states = series.read(end);
  EXPECT_GE(states.bins.size(), StateSeries::kMostBins / 2);
  std::int64_t time = 0;
  for (const auto& bin : states.bins) {
    EXPECT_GT(bin.energy, 0);
    time += bin.time[kBusy];
  }
  EXPECT_EQ(time, 2'000 * (end - kEpoch).count());
}

RC_GTEST_PROP(StateSeries, is_a_count_millisecond_by_millisecond, ()) {
  struct Interval {
    std::size_t use;
    std::int64_t draw, from, to;
  };
  std::vector<Interval> intervals;
  const auto longest = *rc::gen::element<std::int64_t>(500, 20'000, 4'000'000, 1'000'000'000);
  const int n = *rc::gen::inRange(1, 20);
  std::int64_t end = 0;
  StateSeries series(at_seconds(7));
  for (int i = 0; i < n; ++i) {
    const auto from = *rc::gen::inRange<std::int64_t>(0, longest);
    const auto to = from + *rc::gen::inRange<std::int64_t>(0, longest);
    intervals.push_back({*rc::gen::inRange<std::size_t>(0, 5), *rc::gen::inRange(0, 1000), from, to});
    series.add(NodeUse{static_cast<std::uint8_t>(intervals.back().use)}, intervals.back().draw,
               at_seconds(7) + Duration{from}, at_seconds(7) + Duration{to});
    end = std::max(end, to);
  }
  const NodeStates states = series.read(at_seconds(7) + Duration{end});
  const std::int64_t width = states.width.count();
  RC_ASSERT(static_cast<std::int64_t>(states.bins.size()) == (end + width - 1) / width);
  for (std::size_t b = 0; b < states.bins.size(); ++b) {
    NodeStates::Bin wanted;
    const std::int64_t low = static_cast<std::int64_t>(b) * width;
    for (const Interval& interval : intervals) {
      const std::int64_t part =
          std::max<std::int64_t>(0, std::min(interval.to, low + width) - std::max(interval.from, low));
      wanted.time[interval.use] += part;
      wanted.energy += interval.draw * part;
    }
    RC_ASSERT(states.bins[b] == wanted);
  }
}

}  // namespace
}  // namespace rota::sim
