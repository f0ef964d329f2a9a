#include "serve/time_share.h"

#include <gtest/gtest.h>

namespace rota::serve {
namespace {

TEST(TimeShare, IsSpentAtOnceAndComesBackAsTimeGoesBy) {
  using std::chrono::seconds;
  TimeShare share(2, 0.25);
  const TimeShare::Instant begin{seconds(1000)};
  EXPECT_TRUE(share.any_left(begin));
  share.spend(1);
  EXPECT_TRUE(share.any_left(begin));
  share.spend(2);  // what was begun is ended
  EXPECT_FALSE(share.any_left(begin));
  EXPECT_FALSE(share.any_left(begin + seconds(4)));
  EXPECT_TRUE(share.any_left(begin + seconds(5)));
  share.spend(2);
  EXPECT_FALSE(share.any_left(begin + seconds(5)));
  EXPECT_TRUE(share.any_left(begin + seconds(100)));  // and never more than at first
  share.spend(2);
  EXPECT_FALSE(share.any_left(begin + seconds(100)));
}

}  // namespace
}  // namespace rota::serve
