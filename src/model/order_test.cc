#include "model/order.h"

#include <gtest/gtest.h>

#include <bit>

namespace rota {
namespace {

// Submitted at 1000 s, and asked at 1300 s.
std::int64_t score_of(Order order, std::uint32_t processors, std::int64_t expected_ms) {
  Job job;
  job.spec.submit = at_seconds(1000);
  job.spec.processors = processors;
  job.spec.limit = seconds(10'000);  // what counts is what is expected
  job.expected = Duration{expected_ms};
  return score(order, job, at_seconds(1300), kEpoch);
}

std::int64_t as_bits(double number) { return std::bit_cast<std::int64_t>(number); }

TEST(Order, EachScoreIsWhatItsPageSays) {
  EXPECT_EQ(score_of(Order::fcfs, 8, 100'000), 0);
  EXPECT_EQ(score_of(Order::sjf, 8, 100'000), 100'000);
  EXPECT_EQ(score_of(Order::smallest, 8, 100'000), 8);
  EXPECT_EQ(score_of(Order::largest, 8, 100'000), -8);
  EXPECT_EQ(score_of(Order::wfp3, 8, 100'000), -as_bits(216));             // -(300 / 100)^3 * 8
  EXPECT_EQ(score_of(Order::unicef, 8, 100'000), -1'000'000);              // -300 / (3 * 100)
  EXPECT_EQ(score_of(Order::f1, 8, 100'000), 16'000'000 + 2'610'000'000);  // 2 * 8 + 870 * 3
  EXPECT_EQ(score_of(Order::hrrn, 8, 100'000), -4'000'000);                // -(300 + 100) / 100
  EXPECT_EQ(score_of(Order::hrrn, 8, 700'000), -1'428'571);                // -(300 + 700) / 700
}

TEST(Order, LessThanASecondCountsAsOne) {
  EXPECT_EQ(score_of(Order::wfp3, 1, 1), -as_bits(27e6));  // -300^3
  EXPECT_EQ(score_of(Order::unicef, 2, 500), -300'000'000);
  EXPECT_EQ(score_of(Order::hrrn, 1, 1), -301'000'000);
  EXPECT_EQ(score_of(Order::f1, 5, 10), 2'610'000'000);
  Job first;
  first.spec.submit = kEpoch;
  first.expected = seconds(10);
  EXPECT_EQ(score(Order::f1, first, kEpoch, kEpoch), 1'000'000);
}

TEST(Order, OneProcessorAndTwoHaveTheSameLogarithm) {
  EXPECT_EQ(score_of(Order::unicef, 1, 100'000), -3'000'000);
  EXPECT_EQ(score_of(Order::unicef, 2, 100'000), -3'000'000);
}

TEST(Order, a_longer_wait_goes_first_however_long_both_are) {
  Job job;
  job.spec.processors = UINT32_MAX;
  job.expected = kLongest;
  EXPECT_EQ(score(Order::wfp3, job, kEpoch, kEpoch), 0);
  std::int64_t before = 0;
  for (Duration wait{1}; wait <= 2 * kLongest; wait *= 7) {
    for (const Duration more : {Duration{0}, Duration{1}}) {
      const std::int64_t now = score(Order::wfp3, job, kEpoch + wait + more, kEpoch);
      EXPECT_LT(now, before) << wait.count();
      before = now;
    }
  }
}

TEST(Order, a_response_ratio_is_exact_however_long_the_wait_and_the_limit) {
  Job job;
  job.expected = kLongest;
  EXPECT_EQ(score(Order::hrrn, job, kEpoch, kEpoch), -1'000'000);
  EXPECT_EQ(score(Order::hrrn, job, kEpoch + 2 * kLongest - Duration{1}, kEpoch), -2'999'999);
  EXPECT_EQ(score(Order::hrrn, job, kEpoch + 2 * kLongest, kEpoch), -3'000'000);
  job.expected = seconds(1);
  EXPECT_EQ(score(Order::hrrn, job, kEpoch + kLongest, kEpoch), -100'000'000'001'000'000);
  job.spec.submit = at_seconds(5);
  EXPECT_EQ(score(Order::hrrn, job, kEpoch, kEpoch), -1'000'000) << "one that is yet to come has not waited";
}

TEST(Order, a_response_ratio_counts_up_to_its_cap) {
  Job job;
  job.expected = seconds(10);
  const auto capped = [&](std::int64_t waited_ms) {
    return score(Order::hrrn, job, kEpoch + Duration{waited_ms}, kEpoch, 3);
  };
  EXPECT_EQ(capped(19'999), -2'999'900);
  EXPECT_EQ(capped(20'000), -3'000'000);
  EXPECT_EQ(capped(20'001), -3'000'000);
  EXPECT_EQ(capped(kLongest.count()), -3'000'000);
}

TEST(Order, f1_counts_from_the_first_submission) {
  Job job;
  job.expected = seconds(10);
  job.spec.submit = at_seconds(1'700'000'100);
  const std::int64_t here = score(Order::f1, job, job.spec.submit, at_seconds(1'700'000'000));
  EXPECT_EQ(here, 1'741'000'000);  // 1 + 870 * 2
  job.spec.submit = at_seconds(100);
  EXPECT_EQ(score(Order::f1, job, job.spec.submit, kEpoch), here);
  EXPECT_EQ(score(Order::f1, job, job.spec.submit, at_seconds(200)), 1'000'000)
      << "one that came before counts as first";
}

TEST(Order, says_which_ask_how_long_jobs_run) {
  for (const auto& [order, name] : kOrderNames) {
    EXPECT_EQ(asks_run_time(order), score_of(order, 8, 100'000) != score_of(order, 8, 900'000)) << name;
  }
}

TEST(Order, some_vary_with_time) {
  for (const auto& [order, name] : kOrderNames) {
    EXPECT_EQ(varies_with_time(order), name == "wfp3" || name == "unicef" || name == "hrrn") << name;
  }
}

}  // namespace
}  // namespace rota
