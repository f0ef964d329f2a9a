#include "base/min_heap.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <queue>

namespace rota {
namespace {

RC_GTEST_PROP(MinHeap, IsAPriorityQueue, (const std::vector<std::pair<bool, int>>& steps)) {
  MinHeap<int> heap;
  std::priority_queue<int, std::vector<int>, std::greater<>> expected;
  for (const auto& [take, value] : steps) {
    if (take && !expected.empty()) {
      heap.pop();
      expected.pop();
    } else {
      heap.push(value);
      expected.push(value);
    }
    RC_ASSERT(heap.size() == expected.size());
    RC_ASSERT(heap.empty() || heap.top() == expected.top());
  }
  for (; !expected.empty(); heap.pop(), expected.pop()) RC_ASSERT(heap.top() == expected.top());
  RC_ASSERT(heap.empty());
}

}  // namespace
}  // namespace rota
