#include "base/id_set.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace rota {
namespace {

TEST(IdSet, finds_the_next_member_across_empty_words) {
  IdSet set(10'000);
  for (const std::uint32_t id : {3U, 64U, 4095U, 4096U, 9999U}) set.insert(id);
  EXPECT_EQ(set.first(), 3U);
  EXPECT_EQ(set.next(4), 64U);
  EXPECT_EQ(set.next(65), 4095U);
  EXPECT_EQ(set.next(4096), 4096U);
  EXPECT_EQ(set.next(4097), 9999U);
  set.erase(9999);
  EXPECT_EQ(set.next(4097), IdSet::kNone);
}

RC_GTEST_PROP(IdSet, finds_the_next_that_another_set_has_too, ()) {
  const auto some = [] { return *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0U, 9000U)); };
  const auto make = [](const std::vector<std::uint32_t>& ids) {
    IdSet set(9000);
    for (const std::uint32_t id : ids) set.insert(id);
    return set;
  };
  auto in_both = some();
  auto ours = some();
  auto others = some();
  ours.insert(ours.end(), in_both.begin(), in_both.end());
  others.insert(others.end(), in_both.begin(), in_both.end());
  const IdSet one = make(ours);
  const IdSet other = make(others);
  for (const std::uint32_t from : some()) {
    std::uint32_t next = one.next(from);
    while (next != IdSet::kNone && !other.contains(next)) next = one.next(next + 1);
    RC_ASSERT(one.next_in(other, from) == next);
  }
  RC_ASSERT(one.next_in(IdSet(9000), 0) == IdSet::kNone);
}

RC_GTEST_PROP(IdSet, holds_what_a_set_holds, ()) {
  const auto ids = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0U, 9000U));
  IdSet set(9000);
  std::set<std::uint32_t> expected;
  for (const std::uint32_t id : ids) {
    const bool out = expected.contains(id) || id % 3 == 0;
    if (out) {
      set.erase(id);
    } else {
      set.insert(id);
    }
    if (out) {
      expected.erase(id);
    } else {
      expected.insert(id);
    }
    RC_ASSERT(set.size() == expected.size());
    const auto next = expected.lower_bound(id);
    RC_ASSERT(set.next(id) == (next == expected.end() ? IdSet::kNone : *next));
  }
}

}  // namespace
}  // namespace rota
