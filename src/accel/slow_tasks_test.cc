#include "accel/client/slow_tasks.h"

#include <gtest/gtest.h>

namespace rota::accel {
namespace {

TEST(SlowTasks, TakeTwiceTheMedianOfTheirLike) {
  const rota_accel_header lu{"lu", {500}, 0}, other{"lu", {1000}, 0};
  SlowTasks tasks;
  for (const double seconds : {1.0, 9.0, 1.2, 0.8}) tasks.ended(lu, seconds, 1);
  EXPECT_FALSE(tasks.is_slow(lu, 100, 1)) << "too few are known";
  tasks.ended(lu, 1.1, 1);
  EXPECT_FALSE(tasks.is_slow(lu, 2.1, 1));
  EXPECT_TRUE(tasks.is_slow(lu, 2.3, 1));
  EXPECT_TRUE(tasks.is_slow(lu, 1.3, 2)) << "so much is done in less time where the container is faster";
  EXPECT_FALSE(tasks.is_slow(other, 100, 1)) << "it is of another kind";
  for (int i = 0; i < 64; ++i) tasks.ended(lu, 0.01, 1);
  EXPECT_FALSE(tasks.is_slow(lu, 0.9, 1)) << "so short a task is not worth it";
  EXPECT_TRUE(tasks.is_slow(lu, 1.1, 1)) << "what was long ago is forgotten";
}

}  // namespace
}  // namespace rota::accel
