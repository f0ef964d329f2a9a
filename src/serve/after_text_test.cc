#include "serve/after_text.h"

#include <gtest/gtest.h>

namespace rota::serve {
namespace {

using When = Dependency::When;

std::string repeated(const std::string& word, const std::string& name, std::size_t times) {
  std::string text = word;
  for (std::size_t i = 0; i < times; ++i) text += ":" + name;
  return text;
}

TEST(AfterText, takes_every_form) {
  const auto after = parse_after({"after:1", "afterok:2:3_4", "afterany:5", "afternotok:6", "aftercorr:7:8_9"});
  ASSERT_TRUE(after);
  EXPECT_FALSE(after->singleton);
  EXPECT_EQ(after->names, (std::vector<AfterName>{{When::started, false, 1, -1},
                                                  {When::succeeded, false, 2, -1},
                                                  {When::succeeded, false, 3, 4},
                                                  {When::ended, false, 5, -1},
                                                  {When::failed, false, 6, -1},
                                                  {When::succeeded, true, 7, -1},
                                                  {When::succeeded, false, 8, 9}}));
  EXPECT_EQ(after->names[2].text(), "3_4");
  EXPECT_TRUE(parse_after({"singleton"})->singleton);
  for (const char* text : {"", "afterok", "before:1", "afterok:", "afterok:0", "afterok:x", "afterok:1_",
                           "afterok:1_-1", "afterok:99999999999999999999", "singleton:1"})
    EXPECT_FALSE(parse_after({text})) << text;
}

TEST(AfterText, takes_minutes_behind_a_job_whose_start_is_waited_for) {
  const auto after = parse_after({"after:1+5:2_3+0:4"});
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->names[0].later, seconds(300));
  EXPECT_EQ(after->names[1].index, 3);
  EXPECT_EQ(after->names[2].later, Duration{0});
  for (const char* text : {"after:1+", "after:1+x", "after:1+-5", "after:+5", "afterok:1+5"})
    EXPECT_FALSE(parse_after({text})) << text;
}

TEST(AfterText, knows_that_one_of_several_may_do) {
  EXPECT_TRUE(parse_after({"any", "afterok:1", "after:2"})->any);
  EXPECT_FALSE(parse_after({"afterok:1"})->any);
  EXPECT_FALSE(parse_after({"any", "afterok:1", "singleton"}));
  EXPECT_FALSE(parse_after({"any", "aftercorr:1"}));
}

TEST(AfterText, says_each_name_once) {
  const auto after = parse_after({repeated("afterany", "10", 500), "afterok:10", repeated("afterany", "10", 499)});
  ASSERT_TRUE(after);
  EXPECT_EQ(after->names.size(), 2U);
}

TEST(AfterText, has_so_many_names_in_all) {
  const std::string why = "a job waits for 1,000 names at most; name arrays instead of their tasks.";
  EXPECT_EQ(parse_after({repeated("afterany", "10", kMostNames + 1)}).error().message, why);
  EXPECT_EQ(parse_after({repeated("afterany", "10", 500), repeated("afterok", "10", 501)}).error().message, why);
  EXPECT_EQ(parse_after(std::vector<std::string>(kMostNames + 1, "singleton")).error().message, why);
  EXPECT_EQ(parse_after({std::string(kMostNames + 1, ':')}).error().message, why);
  EXPECT_EQ(parse_after({std::string(1 << 20, ':')}).error().message,
            "what a job waits for is said in 16 KiB at most; name arrays instead of their tasks.");
}

}  // namespace
}  // namespace rota::serve
