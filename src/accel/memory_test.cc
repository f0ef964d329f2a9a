// The memory of a container, and its queues.
#include "accel/memory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <thread>

#include "accel/bounded_queue.h"

namespace rota::accel {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

TEST(Memory, UsesABufferAgainAndCallsOnce) {
  int calls = 0;
  Memory memory(8 * kMebibyte, [&] { ++calls; });
  auto buffer = memory.reserve(3 * kMebibyte, 0);
  const std::byte* first = buffer.bytes().data();
  buffer.reset();
  EXPECT_EQ(calls, 0) << "it was not asked to";
  memory.ask_for_call();
  buffer = memory.reserve(3 * kMebibyte - 5, 0);
  EXPECT_EQ(buffer.bytes().data(), first);
  buffer.reset();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(memory.used(), 0U);
}

TEST(Memory, CountsScratchOnceForAllTasks) {
  Memory memory(8 * kMebibyte, [] {});
  EXPECT_FALSE(memory.could_hold(4 * kMebibyte, 5 * kMebibyte));
  EXPECT_FALSE(memory.could_hold(UINT64_MAX, UINT64_MAX));
  const auto a = memory.reserve(2 * kMebibyte, 4 * kMebibyte);
  const auto b = memory.reserve(2 * kMebibyte, 4 * kMebibyte);
  EXPECT_TRUE(a && b);
  EXPECT_FALSE(memory.reserve(1, 0));
  EXPECT_NE(memory.scratch(4 * kMebibyte), nullptr);
}

RC_GTEST_PROP(Memory, NeverGivesMoreThanTheLimit, ()) {
  Memory memory(64 * kMebibyte, [] {});
  std::vector<Memory::Buffer> held;
  for (const auto& [size, gives] : *rc::gen::container<std::vector<std::pair<std::uint32_t, bool>>>(
           rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, 40U << 20U), rc::gen::arbitrary<bool>()))) {
    if (auto buffer = memory.reserve(size, size / 4)) {
      RC_ASSERT(buffer.bytes().size() >= size);
      buffer.bytes().front() = buffer.bytes().back() = std::byte{1};
      held.push_back(std::move(buffer));
    }
    RC_ASSERT(memory.used() <= memory.limit());
    if (gives && !held.empty()) held.erase(held.begin());
  }
  held.clear();
  RC_ASSERT(memory.used() == 0U);
}

TEST(BoundedQueue, KeepsOrderBetweenThreadsAndLetsGoWhenClosed) {
  constexpr int kItems = 20'000;
  BoundedQueue<int> queue(2);
  std::thread pushes([&] {
    for (int i = 0; i < kItems; ++i) queue.push(i);
  });
  for (int i = 0; i < kItems; ++i) ASSERT_EQ(queue.pop(), i);
  pushes.join();
  std::thread waits([&] { EXPECT_FALSE(queue.pop()); });
  queue.close();
  waits.join();
  int one = 1;
  EXPECT_FALSE(queue.push(1));
  EXPECT_FALSE(queue.try_push(one));
}

}  // namespace
}  // namespace rota::accel
