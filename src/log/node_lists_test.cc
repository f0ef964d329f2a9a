#include "log/node_lists.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace rota::log {
namespace {

TEST(NodeLists, KeepsEachTextOnce) {
  NodeLists lists;
  EXPECT_EQ(lists.size(), 0U);
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t i = 1; i <= 1000; ++i) {
      EXPECT_EQ(lists.number_of(fmt::format("n[1-3,{}]", i + 3)), i);
    }
  }
  EXPECT_EQ(lists.size(), 1000U);
  EXPECT_EQ(lists.text(1), "n[1-3,4]");
  EXPECT_EQ(lists.text(1000), "n[1-3,1003]");
}

TEST(NodeLists, KeepsNothingThatIsNoListOfNodes) {
  NodeLists lists;
  for (const char* const text :
       {"", "None assigned", "n[1-", "bgq[000x133]", "n[1-99999999]", "n\xff", "a\nb", "n\x01", "n\x7f"})
    EXPECT_EQ(lists.number_of(text), 0U) << text;
  EXPECT_EQ(lists.size(), 0U);
  EXPECT_EQ(lists.number_of("login"), 1U);
}

}  // namespace
}  // namespace rota::log
