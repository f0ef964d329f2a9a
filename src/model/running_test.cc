#include "model/running.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace rota {
namespace {

using Rows = std::map<std::pair<Instant, std::uint32_t>, std::uint32_t>;  // processors by end and dispatch

RunningJobs::Release counted_release(const Rows& rows, std::int64_t processors) {
  std::int64_t sum = 0;
  for (auto at = rows.begin(); at != rows.end(); ++at) {
    sum += at->second;
    const auto next = std::next(at);
    const bool last_of_instant = next == rows.end() || next->first.first != at->first.first;
    if (sum >= processors && last_of_instant) return {at->first.first, sum};
  }
  return {};
}

TEST(RunningJobs, AnswerAsACountOfThemWould) {
  Random random(7);
  RunningJobs running;
  Rows rows;
  for (std::uint32_t dispatch = 0; dispatch < 3000; ++dispatch) {
    if (random.chance(0.55) || rows.empty()) {
      const Instant end = at_seconds(random.between(0, 40));
      const auto processors = static_cast<std::uint32_t>(random.between(1, 9));
      running.insert({{end, dispatch}, processors, JobId{dispatch}});
      rows[{end, dispatch}] = processors;
    } else {
      const auto at = std::next(rows.begin(), random.between(0, static_cast<std::int64_t>(rows.size()) - 1));
      EXPECT_TRUE(running.erase({at->first.first, at->first.second}));
      rows.erase(at);
    }
    const Instant at = at_seconds(random.between(0, 41));
    std::int64_t all = 0;
    std::int64_t by_then = 0;
    for (const auto& [key, processors] : rows) {
      all += processors;
      by_then += key.first <= at ? processors : 0;
    }
    ASSERT_EQ(running.size(), rows.size());
    ASSERT_EQ(running.processors(), all);
    ASSERT_EQ(running.released_by(at), by_then);
    const std::int64_t wanted = random.between(1, all + 2);
    const auto expected = counted_release(rows, wanted);
    const auto found = running.release_of(wanted);
    ASSERT_EQ(found.at, expected.at);
    ASSERT_EQ(found.processors, expected.processors);
  }
  EXPECT_FALSE(running.erase({at_seconds(99), 1}));
}

}  // namespace
}  // namespace rota
