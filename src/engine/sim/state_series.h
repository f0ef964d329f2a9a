// Keeps what nodes did over time in a bounded number of bins. When time outgrows them, their width doubles and each two
// become one: sums stay exact, whatever the length. Not thread-safe.
#pragma once

#include <array>
#include <vector>

#include "model/node_states.h"

namespace rota::sim {

class StateSeries {
 public:
  static constexpr std::size_t kMostBins = 1200;  // at least half as many are used once there are as many seconds

  explicit StateSeries(Instant from) : from_(from), bins_(kMostBins + 1) {}

  // One node did so from `from`, not before the beginning, until `to`, and drew as much all the time. O(1) on average.
  void add(NodeUse use, std::int64_t milliwatts, Instant from, Instant to) { add(1, use, milliwatts, from, to); }

  // Something in a node draws so much besides.
  void add_draw(std::int64_t milliwatts, Instant from, Instant to) { add(0, {}, milliwatts, from, to); }

  // The states of all nodes, until `to`.
  NodeStates read(Instant to) const;

 private:
  // An interval is told by its parts of the two bins in which it begins and ends, and by where the full ones begin and
  // end.
  struct Entry {
    NodeStates::Bin part;
    std::array<std::int64_t, NodeStates::kUses> nodes{};  // that are so for the whole of this bin more than of the last
    std::int64_t draw = 0;                                // milliwatts, likewise
  };

  void add(std::int64_t nodes, NodeUse use, std::int64_t milliwatts, Instant from, Instant to);
  void fold();
  std::vector<NodeStates::Bin> sums() const;

  Instant from_;
  std::int64_t width_ = 1000;  // milliseconds
  std::vector<Entry> bins_;    // and one that is never read
};

}  // namespace rota::sim
