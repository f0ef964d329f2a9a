// A priority queue with the least element on top: a heap in which each element has four below it, so that taking one
// touches half as many cache lines as with two. push and pop are O(log n). Elements that are equal come out in no
// order that means anything. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace rota {

// A heap of elements with operator>.
template <class Element>
class MinHeap {
 public:
  bool empty() const { return elements_.empty(); }
  std::size_t size() const { return elements_.size(); }
  const Element& top() const { return elements_.front(); }  // not while empty

  void push(const Element& element) {
    std::size_t at = elements_.size();
    elements_.push_back(element);
    for (; at > 0 && elements_[(at - 1) / kBelow] > element; at = (at - 1) / kBelow) {
      elements_[at] = elements_[(at - 1) / kBelow];
    }
    elements_[at] = element;
  }

  // Not while empty.
  void pop() {
    const Element last = elements_.back();
    elements_.pop_back();
    const std::size_t size = elements_.size();
    if (size == 0) return;
    std::size_t at = 0;
    for (std::size_t first = 1; first < size; first = at * kBelow + 1) {
      std::size_t least = first;
      const std::size_t end = std::min(first + kBelow, size);
      for (std::size_t i = first + 1; i < end; ++i) {
        if (elements_[least] > elements_[i]) least = i;
      }
      if (!(last > elements_[least])) break;
      elements_[at] = elements_[least];
      at = least;
    }
    elements_[at] = last;
  }

 private:
  static constexpr std::size_t kBelow = 4;
  std::vector<Element> elements_;
};

}  // namespace rota
