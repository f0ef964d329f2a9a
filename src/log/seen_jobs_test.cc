#include "log/seen_jobs.h"

#include <gtest/gtest.h>

namespace rota::log {
namespace {

TEST(SeenJobs, are_known_again_whenever_they_came) {
  constexpr std::int64_t kJobs = 10'007;  // a prime: the numbers come in no order
  SeenJobs seen;
  for (std::int64_t i = 0; i < kJobs; ++i) {
    const std::int64_t number = i * 4'001 % kJobs;
    ASSERT_TRUE(seen.add({number, 0, 0, 0}));
    ASSERT_FALSE(seen.add({number, 0, 0, 0}));
  }
  for (std::int64_t i = 0; i < kJobs; ++i) ASSERT_FALSE(seen.add({i, 0, 0, 0}));
  EXPECT_TRUE(seen.add({kJobs, 0, 0, 0}));
}

TEST(SeenJobs, differ_in_any_part) {
  SeenJobs seen;
  EXPECT_TRUE(seen.add({1, 2, 3, 4}));
  for (const SeenJobs::Key& key : {SeenJobs::Key{0, 2, 3, 4}, {1, 0, 3, 4}, {1, 2, 0, 4}, {1, 2, 3, 0}})
    EXPECT_TRUE(seen.add(key));
}

TEST(SeenJobs, are_found_by_the_first_of_their_parts) {
  constexpr std::int64_t kMost = INT64_MAX;
  SeenJobs seen;
  for (std::int64_t i = 0; i < 5'000; ++i) ASSERT_TRUE(seen.add({i * 3, 7, i, 0}));
  for (std::int64_t i = 0; i < 15'000; ++i) {
    ASSERT_EQ(seen.any({i, 7, 0, 0}, {i, 7, kMost, kMost}), i % 3 == 0);
    ASSERT_FALSE(seen.any({i, 7, i / 3 + 1, 0}, {i, 7, kMost, kMost}));
    ASSERT_FALSE(seen.any({i, 0, 0, 0}, {i, 6, kMost, kMost}));
  }
}

}  // namespace
}  // namespace rota::log
