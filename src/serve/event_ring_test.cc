#include "serve/event_ring.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace rota::serve {
namespace {

std::vector<std::uint64_t> told_after(const EventRing& ring, std::uint64_t sequence) {
  std::vector<std::uint64_t> numbers;
  ring.for_each_after(sequence, [&](const Event& event) {
    numbers.push_back(event.sequence);
    return true;
  });
  return numbers;
}

TEST(EventRing, tells_nothing_before_it_may_be_told) {
  EventRing ring;
  int calls = 0;
  ring.follow(6, [&] { ++calls; });
  ring.add({7, "a", "{}"});
  EXPECT_EQ(told_after(ring, 6), std::vector<std::uint64_t>{});
  ring.wake();
  ring.add({8, "b", "{}"});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(told_after(ring, 6), std::vector<std::uint64_t>{7});
  ring.wake();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(told_after(ring, 6), (std::vector<std::uint64_t>{7, 8}));
}

TEST(EventRing, wakes_many_a_few_at_a_time_and_all_of_them) {
  EventRing ring;
  std::vector<std::function<void()>> later;
  ring.set_later([&](std::function<void()> call) { later.push_back(std::move(call)); });
  std::set<int> woken;
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 250; ++i) {
    ids.push_back(ring.follow(0, [&, i] {
      woken.insert(i);
      if (i == 3) ring.leave(ids[3]), ring.leave(ids[4]), ring.leave(ids[200]);
    }));
  }
  const auto goes_on = [&] {
    ASSERT_EQ(later.size(), 1U);
    const auto call = std::exchange(later.front(), {});
    later.clear();
    call();
  };
  ring.add({1, "a", "{}"});
  ring.wake();
  EXPECT_LT(woken.size(), 150U);
  ring.add({2, "b", "{}"});
  ring.wake();  // while the round is under way: there is another one afterwards, and no second at a time
  goes_on();
  goes_on();
  EXPECT_EQ(woken.size(), 248U);
  EXPECT_FALSE(woken.contains(4) || woken.contains(200));
  woken.clear();
  for (int more = 0; more < 3; ++more) goes_on();
  EXPECT_EQ(woken.size(), 247U);
  EXPECT_TRUE(later.empty());
}

}  // namespace
}  // namespace rota::serve
