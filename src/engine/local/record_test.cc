#include "engine/local/record.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/words.h"

namespace rota::local {
namespace {

template <class Record>
std::string named_twice() {
  std::set<std::string, std::less<>> names;
  std::string twice;
  const Record record;
  fields(
      [&](std::string_view name, const auto& /*value*/) {
        if (!names.emplace(name).second) twice = name;
      },
      record);
  return twice;
}

TEST(LocalRecord, no_line_has_a_word_twice) {
  EXPECT_EQ(named_twice<RunRecord>(), "");
  EXPECT_EQ(named_twice<Order>(), "");
  EXPECT_EQ(named_twice<Tell>(), "");
}

TEST(LocalRecord, the_limit_of_an_order_is_that_of_its_claim) {
  Order order;
  order.claim.deadline = 12'345;
  Order read;
  read_words(in_words(order), read);
  EXPECT_EQ(read.claim.deadline, 12'345);
  RunRecord claim;
  read_words("deadline=12345", claim);
  EXPECT_EQ(claim.deadline, 12'345);
}

}  // namespace
}  // namespace rota::local
