#include "site/date.h"

#include <gtest/gtest.h>

namespace rota::site {
namespace {

TEST(Date, is_read_with_its_zone) {
  EXPECT_EQ(unix_milliseconds_of("1970-01-01T00:00Z"), 0);
  EXPECT_EQ(unix_milliseconds_of("2026-12-01T08:00Z"), 1'796'112'000'000);
  EXPECT_EQ(unix_milliseconds_of("2026-12-01 08:00Z"), 1'796'112'000'000);
  EXPECT_EQ(unix_milliseconds_of("2026-12-01T08:00:30Z"), 1'796'112'030'000);
  EXPECT_EQ(unix_milliseconds_of("2026-12-01T09:30+01:30"), 1'796'112'000'000);
  EXPECT_EQ(unix_milliseconds_of("2026-12-01T03:00-05:00"), 1'796'112'000'000);
}

TEST(Date, without_a_zone_or_that_there_never_is_is_none) {
  for (const char* text : {"", "2026-12-01", "2026-12-01T08:00", "2026-12-01T08:00X", "2026-02-29T08:00Z",
                           "2026-13-01T08:00Z", "2026-12-01T24:00Z", "2026-12-01T08:60Z", "2026-12-01T08:00:60Z",
                           "2026-12-01T08:00Z ", "26-12-01T08:00Z", "2026-1-01T08:00Z", "1970-01-01T00:00+01:00",
                           "1969-12-31T00:00Z", "2026-12-01T08:00+1:00", "-026-12-01T08:00Z"}) {
    EXPECT_FALSE(unix_milliseconds_of(text)) << text;
  }
}

}  // namespace
}  // namespace rota::site
