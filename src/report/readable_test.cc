#include "report/readable.h"

#include <gtest/gtest.h>

namespace rota::report {
namespace {

TEST(Readable, DurationsHaveTheirTwoLargestUnits) {
  EXPECT_EQ(readable_seconds(0), "0 s");
  EXPECT_EQ(readable_seconds(0.02), "< 0.1 s");
  EXPECT_EQ(readable_seconds(12.34), "12.3 s");
  EXPECT_EQ(readable_seconds(12), "12 s");
  EXPECT_EQ(readable_seconds(245), "4 min 5 s");
  EXPECT_EQ(readable_seconds(3600), "1 h");
  EXPECT_EQ(readable_seconds(6837), "1 h 54 min");
  EXPECT_EQ(readable_seconds(353776), "4 d 2 h");
  EXPECT_EQ(readable_seconds(1234 * 86400.0), "1,234 d");
  EXPECT_EQ(readable_seconds(-245), "-4 min 5 s");
  EXPECT_EQ(readable(Duration{1500}), "1.5 s");
}

TEST(Readable, DurationsRoundIntoTheNextUnit) {
  EXPECT_EQ(readable_seconds(59.96), "1 min");
  EXPECT_EQ(readable_seconds(59.94), "59.9 s");
  EXPECT_EQ(readable_seconds(3599.7), "1 h");
  EXPECT_EQ(readable_seconds(86399), "1 d");
  EXPECT_EQ(readable_seconds(2 * 86400 - 1), "2 d");
}

TEST(Readable, NumbersAreGroupedAndKeepTheirDigits) {
  EXPECT_EQ(readable_number(13823.526, 2), "13,823.53");
  EXPECT_EQ(readable_number(0.996, 2), "1.00");
  EXPECT_EQ(readable_number(-0.001, 2), "0.00");
  EXPECT_EQ(readable_number(-1234.5, 1), "-1,234.5");
  EXPECT_EQ(readable_number(1e300, 0), "9,000,000,000,000,000") << "no overflow";
  EXPECT_EQ(readable_percent(0.68561, 1), "68.6");
}

TEST(Readable, MomentsAreDatesWhereTheStartIsKnownAndDaysElse) {
  EXPECT_EQ(readable(at_seconds(12 * 86400 + 4 * 3600 + 5 * 60 + 6), 0), "day 12, 04:05:06");
  EXPECT_EQ(readable(at_seconds(6), 1296705900), "2011-02-03 04:05:06");
  EXPECT_EQ(readable(at_seconds(-1), 0), "day -1, 23:59:59");
  EXPECT_EQ(readable(kNever, 0), "never");
}

}  // namespace
}  // namespace rota::report
