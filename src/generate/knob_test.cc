#include "generate/knob.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rota::generate {
namespace {

struct Settings {
  double share = 0.25;
  double load = kUnset;
  std::int64_t jobs = 100;
  Duration gap = seconds(5400);
  std::string kind = "all";

  Knobs knobs() {
    return {{.name = "share", .value = &share, .meaning = "of something", .low = 0, .high = 1},
            {.name = "load", .value = &load, .meaning = "of the machine", .low = 0.1, .high = 2, .unset = "natural"},
            {.name = "jobs", .value = &jobs, .meaning = "number", .low = 1, .high = 1e9},
            {.name = "gap", .value = &gap, .meaning = "between jobs", .low = 1, .high = 86400},
            {.name = "kind", .value = &kind, .meaning = "of jobs", .choices = {"all", "batch"}}};
  }
};

TEST(Knobs, are_written_as_options_that_read_back) {
  Settings settings;
  EXPECT_EQ(as_options(settings.knobs()), " --share 0.25 --jobs 100 --gap 90m --kind all");
  settings.gap = Duration{1500};
  settings.load = 0.7;
  settings.jobs = 1'000'000'000;
  EXPECT_EQ(as_options(settings.knobs()), " --share 0.25 --load 0.7 --jobs 1000000000 --gap 1500ms --kind all");
}

TEST(Knobs, take_numbers_durations_and_words) {
  Settings settings;
  const Knobs knobs = settings.knobs();
  EXPECT_TRUE(set(knobs[0], "1"));
  EXPECT_TRUE(set(knobs[1], "1.5"));
  EXPECT_TRUE(set(knobs[2], "42"));
  EXPECT_TRUE(set(knobs[3], "2h"));
  EXPECT_TRUE(set(knobs[4], "batch"));
  EXPECT_EQ(settings.share, 1.0);
  EXPECT_EQ(settings.load, 1.5);
  EXPECT_EQ(settings.jobs, 42);
  EXPECT_EQ(settings.gap, seconds(7200));
  EXPECT_EQ(settings.kind, "batch");
  EXPECT_TRUE(set(knobs[1], "natural"));
  EXPECT_TRUE(std::isnan(settings.load));
}

TEST(Knobs, say_what_they_take_and_keep_their_value_when_given_something_else) {
  Settings settings;
  const Knobs knobs = settings.knobs();
  const auto message = [&](std::size_t i, std::string_view text) { return set(knobs[i], text).error().message; };
  EXPECT_EQ(message(0, "1.01"), "--share takes 0 to 1, not \"1.01\".");
  EXPECT_EQ(message(1, "much"), "--load takes 0.1 to 2, or natural, not \"much\".");
  EXPECT_EQ(message(1, "nan"), "--load takes 0.1 to 2, or natural, not \"nan\".");
  EXPECT_EQ(message(2, "0"), "--jobs takes 1 to 1000000000, not \"0\".");
  EXPECT_EQ(message(2, "99999999999999999999"), "--jobs takes 1 to 1000000000, not \"99999999999999999999\".");
  EXPECT_EQ(message(3, "2d"), "--gap takes 1s to 1d, not \"2d\".");
  EXPECT_EQ(message(4, ""), "--kind takes all|batch, not \"\".");
  EXPECT_EQ(as_options(knobs), as_options(Settings().knobs()));
}

TEST(Knobs, are_checked_where_they_were_set_directly) {
  Settings settings;
  EXPECT_TRUE(check(settings.knobs()));
  settings.share = kUnset;
  EXPECT_FALSE(check(settings.knobs()));
  settings.share = 0.5;
  settings.kind = "interactive";
  EXPECT_EQ(check(settings.knobs()).error().message, "--kind takes all|batch, not \"interactive\".");
}

}  // namespace
}  // namespace rota::generate
