#include "base/json_size.h"

#include <gtest/gtest.h>

#include <string>

namespace rota {
namespace {

TEST(JsonSize, CountsWhatStandsWithinEachOther) {
  EXPECT_EQ(json_size(R"([{"a": [1, 2]}, 3])", 3), JsonSize::within);
  EXPECT_EQ(json_size(R"([{"a": [1, 2]}, 3])", 2), JsonSize::too_deep);
  EXPECT_EQ(json_size("]]]][[", 2), JsonSize::within);
  EXPECT_EQ(json_size(std::string(1000, '['), 64), JsonSize::too_deep);
}

TEST(JsonSize, CountsValuesThatTheTextCouldHave) {
  EXPECT_EQ(json_size("[1,2,3]", 1, 4), JsonSize::within);
  EXPECT_EQ(json_size("[1,2,3]", 1, 3), JsonSize::too_many);
  EXPECT_EQ(json_size("[[,", 1, 1), JsonSize::too_many) << "whichever comes first";
  EXPECT_EQ(json_size("[[,", 1), JsonSize::too_deep);
}

TEST(JsonSize, LeavesTextsAlone) {
  EXPECT_EQ(json_size(R"(["[[[,,,", "\"[[[,,,", "\\"])", 1, 4), JsonSize::within);
  EXPECT_EQ(json_size(R"("[[[)", 0), JsonSize::within);
  EXPECT_EQ(json_size("\"\\", 0), JsonSize::within);
}

}  // namespace
}  // namespace rota
