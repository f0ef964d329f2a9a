#include "serve/selector.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace rota::serve {
namespace {

using Kind = SelectorPart::Kind;

TEST(Selector, reads_every_form) {
  const auto parts = parse_selector("12, 14_[1-5,9],20-25,last,all,user=ann,name=a fit,state=PENDING,3_7");
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 9U);
  EXPECT_EQ((*parts)[0].from, 12);
  EXPECT_EQ((*parts)[1].kind, Kind::tasks);
  EXPECT_EQ((*parts)[1].indexes, (std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 5}, {9, 9}}));
  EXPECT_EQ((*parts)[2].to, 25);
  EXPECT_EQ((*parts)[3].kind, Kind::last);
  EXPECT_EQ((*parts)[4].kind, Kind::all);
  EXPECT_EQ((*parts)[5].word, "ann");
  EXPECT_EQ((*parts)[6].word, "a fit");
  EXPECT_EQ((*parts)[7].kind, Kind::state);
  EXPECT_EQ((*parts)[8].indexes.front().first, 7);
}

TEST(Selector, takes_an_array_as_lists_show_it) {
  const auto parts = parse_selector("7_[3-9,12%2]");
  ASSERT_TRUE(parts);
  EXPECT_EQ((*parts)[0].indexes, (Ranges{{3, 9}, {12, 12}}));
  EXPECT_FALSE(parse_selector("7_[3-9%]"));
}

TEST(Selector, refuses_what_names_no_jobs) {
  for (const char* text : {"", ",", "0", "-3", "5-2", "x", "user=", "1_", "1_[", "1_[2-1]", "99999999999999999999"}) {
    EXPECT_FALSE(parse_selector(text)) << text;
  }
}

TEST(Selector, knows_states_by_letters_and_names) {
  for (const char* text : {"state=PENDING", "state=pending", "state=PD", "state=pd"}) {
    const auto parts = parse_selector(text);
    ASSERT_TRUE(parts) << text;
    EXPECT_EQ((*parts)[0].word, "PENDING");
  }
  EXPECT_EQ(
      parse_selector("12,state=bogus").error().message,
      "\"bogus\" is no state of a job; write one such as PENDING, RUNNING, COMPLETED or FAILED, or its letters, as "
      "PD.");
}

TEST(Selector, says_each_part_once) {
  const auto parts = parse_selector("7,7,7_3,1-9,7_[1-2,8],7,user=ann,1-9,last,user=ben,7_3,last,user=ann");
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 6U);
  EXPECT_EQ((*parts)[1].kind, Kind::tasks);
  EXPECT_EQ((*parts)[1].indexes, (Ranges{{1, 3}, {8, 8}}));
  EXPECT_EQ(numbers_of(*parts), (Ranges{{1, 9}}));
}

TEST(Selector, has_so_many_parts) {
  const auto repeated = [](std::string_view part, std::size_t times) {
    std::string text(part);
    for (std::size_t i = 1; i < times; ++i) text += "," + std::string(part);
    return text;
  };
  for (const char* part : {"12", "12_1", "1-999", "user=ann"}) {
    EXPECT_TRUE(parse_selector(repeated(part, kMostParts))) << part;
    EXPECT_FALSE(parse_selector(repeated(part, kMostParts + 1))) << part;
  }
  EXPECT_TRUE(parse_selector(fmt::format("12_[{}]", repeated("1-5", kMostParts))));
  EXPECT_EQ(parse_selector(fmt::format("12_[{}]", repeated("1-5", kMostParts + 1))).error().message,
            "jobs are named in 1,000 parts at most; name ranges, as 20-25 or 14_[1-5].");
}

TEST(Ranges, are_merged_and_looked_into) {
  const Ranges some = merged({{5, 9}, {1, 2}, {3, 3}, {7, 12}, {20, 20}, {6, 6}});
  EXPECT_EQ(some, (Ranges{{1, 3}, {5, 12}, {20, 20}}));
  for (const std::int64_t number : {1, 3, 5, 12, 20}) EXPECT_TRUE(within(some, number)) << number;
  for (const std::int64_t number : {0, 4, 13, 19, 21}) EXPECT_FALSE(within(some, number)) << number;
  EXPECT_FALSE(within({}, 1));
}

}  // namespace
}  // namespace rota::serve
