#include "serve/selector.h"

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

TEST(Selector, refuses_what_names_no_jobs) {
  for (const char* text : {"", ",", "0", "-3", "5-2", "x", "user=", "1_", "1_[", "1_[2-1]", "99999999999999999999"}) {
    EXPECT_FALSE(parse_selector(text)) << text;
  }
}

}  // namespace
}  // namespace rota::serve
