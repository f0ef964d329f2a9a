// A set of nodes as bits: what the backfill pass keeps for each stretch of time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/id.h"

namespace rota {

class NodeSet {
 public:
  explicit NodeSet(std::size_t nodes = 0) : words_((nodes + 63) / 64, ~std::uint64_t{0}) {  // all of them
    if (nodes % 64 != 0) words_.back() = (std::uint64_t{1} << (nodes % 64)) - 1;
  }

  bool contains(NodeId node) const { return (words_[node.value / 64] >> (node.value % 64) & 1U) != 0; }
  void erase(NodeId node) { words_[node.value / 64] &= ~(std::uint64_t{1} << (node.value % 64)); }
  void insert(NodeId node) { words_[node.value / 64] |= std::uint64_t{1} << (node.value % 64); }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }
  NodeSet& operator&=(const NodeSet& o) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= o.words_[i];
    return *this;
  }
  // Whether all that a and b have in common is a member of both this set and o.
  bool shares_all_of(const NodeSet& o, const NodeSet& a, const NodeSet& b) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((a.words_[i] & b.words_[i] & ~(words_[i] & o.words_[i])) != 0) return false;
    }
    return true;
  }
  // Whether every member of o is one.
  bool includes(const NodeSet& o) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((o.words_[i] & ~words_[i]) != 0) return false;
    }
    return true;
  }
  std::size_t size() const {
    std::size_t count = 0;
    for (const std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
    return count;
  }
  bool operator==(const NodeSet&) const = default;
  bool empty() const {
    return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace rota
