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
                           "afterok:1_-1", "afterok:4294967295", "singleton:1"})
    EXPECT_FALSE(parse_after({text})) << text;
}

TEST(AfterText, tells_that_no_time_may_stand_behind_a_job) {
  const auto after = parse_after({"after:1+5"});
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().message,
            "a job waits for \"1+5\", and a time behind + is not known here; leave it out, and give the job a begin "
            "time if it is to wait.");
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
