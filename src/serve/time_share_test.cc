#include "serve/time_share.h"

#include <gtest/gtest.h>

namespace rota::serve {
namespace {

using std::chrono::seconds;

constexpr TimeShare::Clock::time_point kBegin{seconds(1000)};

void use_processor(double of_the_processor) {
  const double end = cpu_seconds() + of_the_processor;
  while (cpu_seconds() < end) {
  }
}

TEST(TimeShare, IsSpentAheadAndComesBackAsTimeGoesBy) {
  TimeShare share(0.02, 0.01);
  const auto runs = [&](int after) { return share.run([] { use_processor(0.012); }, kBegin + seconds(after)); };
  EXPECT_TRUE(runs(0));
  EXPECT_TRUE(runs(0));  // what was begun is ended
  EXPECT_FALSE(runs(0));
  EXPECT_TRUE(runs(100));  // and never more than at first
  EXPECT_TRUE(runs(100));
  EXPECT_FALSE(runs(100));
}

TEST(TimeShare, WithNothingAheadRunsOnceUntilThatHasComeBack) {
  TimeShare share(0, 0.01);
  int ran = 0;
  const auto runs = [&](int after) { return share.run([&] { use_processor(0.1), ++ran; }, kBegin + seconds(after)); };
  EXPECT_TRUE(runs(0));
  EXPECT_FALSE(runs(0));
  EXPECT_FALSE(runs(9));
  EXPECT_TRUE(runs(1000));
  EXPECT_FALSE(runs(1000));
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace rota::serve
