#include "base/paged_table.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace rota {
namespace {

TEST(PagedTableTest, ARowIsThereFromWhenItIsAddedUntilItIsRetired) {
  PagedTable<int> table;
  EXPECT_FALSE(table.contains(5));
  EXPECT_EQ(table.add(5), 0);
  table[5] = 7;
  EXPECT_TRUE(table.contains(5));
  EXPECT_FALSE(table.contains(4));
  EXPECT_FALSE(table.contains(UINT32_MAX));
  table.retire(5);
  EXPECT_FALSE(table.contains(5));
}

TEST(PagedTableTest, RowsThatComeBackAreFresh) {
  PagedTable<int> table;
  for (std::uint32_t id = 0; id < 1000; ++id) {
    EXPECT_EQ(table.add(id), 0);
    table[id] = 1;
    if (id >= 10) table.retire(id - 10);
  }
}

// Ids rise with gaps, rows go in any order, some stay for ever.
TEST(PagedTableTest, HoldsWhatAMapHolds) {
  Random random(3);
  PagedTable<std::uint32_t> table;
  std::map<std::uint32_t, std::uint32_t> map;
  std::uint32_t next = 0;
  for (int step = 0; step < 200'000; ++step) {
    if (map.size() < 300 && random.chance(0.6)) {
      next += static_cast<std::uint32_t>(random.chance(0.001) ? random.between(1, 100'000) : 1);
      table.add(next) = next * 3;
      map[next] = next * 3;
    } else if (!map.empty()) {
      const auto any = static_cast<std::uint32_t>(random.between(0, next));
      auto row = map.lower_bound(any);
      if (row == map.end()) row = map.begin();
      ASSERT_TRUE(table.contains(row->first));
      ASSERT_EQ(table[row->first], row->second);
      table.retire(row->first);
      ASSERT_FALSE(table.contains(row->first));
      map.erase(row);
    }
  }
  auto expected = map.begin();
  table.for_each([&](std::uint32_t id, std::uint32_t row) {
    ASSERT_NE(expected, map.end());
    EXPECT_EQ(id, expected->first);
    EXPECT_EQ(row, expected->second);
    ++expected;
  });
  EXPECT_EQ(expected, map.end());
}

TEST(PagedTableDeathTest, ARowIsRetiredOnce) {
  PagedTable<int> table;
  table.add(1);
  table.retire(1);
  EXPECT_DEATH(table.retire(1), "once");
}

}  // namespace
}  // namespace rota
