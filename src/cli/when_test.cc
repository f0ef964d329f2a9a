#include "cli/when.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace rota::cli {
namespace {

constexpr std::int64_t kNow = 1'795'996'800 + 8 * 3600;  // 2026-11-30T08:00:00Z

class WhenTest : public testing::Test {
 protected:
  WhenTest() { zone("UTC"); }
  ~WhenTest() override { zone("UTC"); }
  static void zone(const char* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
};

std::string read(std::string_view text, bool past = false) {
  const auto when = parse_when(text, kNow, past);
  return when ? time_text(static_cast<double>(*when)) : "no";
}

TEST_F(WhenTest, SaysThatWhatNoServiceTakesIsTooFarAway) {
  EXPECT_EQ(read("5138-11-16T09:46:40"), "5138-11-16T09:46:40");
  const auto when = parse_when("9999-12-31T23:59:59", kNow);
  ASSERT_FALSE(when);
  EXPECT_EQ(when.error().message, "\"9999-12-31T23:59:59\" is too far away; times up to the year 5138 are taken.");
}

TEST_F(WhenTest, ReadsEveryFormOfSbatch) {
  EXPECT_EQ(read("now"), "2026-11-30T08:00:00");
  EXPECT_EQ(read("now+1hour"), "2026-11-30T09:00:00");
  EXPECT_EQ(read("now+90"), "2026-11-30T08:01:30");
  EXPECT_EQ(read("now+2weeks"), "2026-12-14T08:00:00");
  EXPECT_EQ(read("now-7days"), "2026-11-23T08:00:00");
  EXPECT_EQ(read("now-5min"), "2026-11-30T07:55:00");
  EXPECT_EQ(read("now+1h30m"), "2026-11-30T09:30:00");
  EXPECT_EQ(read("16:00"), "2026-11-30T16:00:00");
  EXPECT_EQ(read("07:30"), "2026-12-01T07:30:00");
  EXPECT_EQ(read("07:30", true), "2026-11-30T07:30:00");
  EXPECT_EQ(read("16:00:05"), "2026-11-30T16:00:05");
  EXPECT_EQ(read("noon"), "2026-11-30T12:00:00");
  EXPECT_EQ(read("midnight"), "2026-12-01T00:00:00");
  EXPECT_EQ(read("tomorrow"), "2026-12-01T00:00:00");
  EXPECT_EQ(read("friday"), "2026-12-04T00:00:00");
  EXPECT_EQ(read("Mon"), "2026-12-07T00:00:00");
  EXPECT_EQ(read("yesterday"), "2026-11-29T00:00:00");
  EXPECT_EQ(read("2027-01-02"), "2027-01-02T00:00:00");
  EXPECT_EQ(read("2027-01-02T03:04:05"), "2027-01-02T03:04:05");
  EXPECT_EQ(read("teatime"), "2026-11-30T16:00:00");
  EXPECT_EQ(read("4:30pm"), "2026-11-30T16:30:00");
  EXPECT_EQ(read("12:15 AM"), "2026-12-01T00:15:00");
  EXPECT_EQ(read("12/24/26"), "2026-12-24T00:00:00");
  EXPECT_EQ(read("12.24.26-16:00"), "2026-12-24T16:00:00");
  EXPECT_EQ(read("12/24"), "2026-12-24T00:00:00");
  EXPECT_EQ(read("01/15-6:00"), "2027-01-15T06:00:00");
  EXPECT_EQ(read("11/01", true), "2026-11-01T00:00:00");
  EXPECT_EQ(read("122426"), "2026-12-24T00:00:00");
  EXPECT_EQ(read("@1795996800"), "2026-11-30T00:00:00");
}

TEST_F(WhenTest, RefusesWhatIsNoTime) {
  for (const char* text : {"",
                           "soon",
                           "now+",
                           "now*2",
                           "now+1fortnight",
                           "24:00",
                           "12:60",
                           "1:2",
                           "2026-02-30",
                           "2026-13-01",
                           "13:00pm",
                           "0:30am",
                           "13/01/26",
                           "02/30",
                           "1/2/3/4",
                           "12/24/2026",
                           "2026-11-30T",
                           "2026-11-30T25:00",
                           "12",
                           "@",
                           "@-1",
                           "now-99999999weeks",
                           "now+UNLIMITED"})
    EXPECT_EQ(read(text), "no") << text;
}

TEST_F(WhenTest, GoesByTheLocalTimeZone) {
  zone("Europe/Berlin");
  EXPECT_EQ(*parse_when("2026-11-30T12:00", kNow), 1'795'996'800 + 11 * 3600);
  EXPECT_EQ(time_text(1'795'996'800), "2026-11-30T01:00:00");
}

TEST_F(WhenTest, PrintsTimesAsSlurmDoes) {
  EXPECT_EQ(run_text(5.9), "0:05");
  EXPECT_EQ(run_text(754), "12:34");
  EXPECT_EQ(run_text(3723), "1:02:03");
  EXPECT_EQ(run_text(2 * 86400 + 3723), "2-01:02:03");
  EXPECT_EQ(run_text(-1), "0:00");
  EXPECT_EQ(limit_text(1e11), "UNLIMITED");
  EXPECT_EQ(time_text(-1), "N/A");
  EXPECT_EQ(time_text(1e300), "N/A");
}

TEST_F(WhenTest, SaysTimesInTwoUnits) {
  EXPECT_EQ(spoken_time(6600), "1h50m");
  EXPECT_EQ(spoken_time(45), "45s");
  EXPECT_EQ(spoken_time(3605), "1h");
  EXPECT_EQ(spoken_time(0), "0s");
  EXPECT_EQ(spoken_time(86400 * 2 + 3600), "2d1h");
}

}  // namespace
}  // namespace rota::cli
