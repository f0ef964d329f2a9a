#include "engine/sim/state_series.h"

#include <algorithm>

namespace rota::sim {
namespace {

constexpr auto kUses = NodeStates::kUses;

}  // namespace

void StateSeries::add(std::int64_t nodes, NodeUse use, std::int64_t milliwatts, Instant from, Instant to) {
  const std::int64_t begin = (from - from_).count();
  const std::int64_t end = (to - from_).count();
  if (end <= begin) return;
  while (end > width_ * static_cast<std::int64_t>(kMostBins)) fold();
  const auto at = static_cast<std::size_t>(use);
  const auto lasts = [&](std::int64_t bin, std::int64_t time) {
    NodeStates::Bin& part = bins_[static_cast<std::size_t>(bin)].part;
    part.time[at] += nodes * time;
    part.energy += milliwatts * time;
  };
  const std::int64_t first = begin / width_;
  const std::int64_t last = end / width_;
  if (first == last) return lasts(first, end - begin);
  lasts(first, (first + 1) * width_ - begin);
  lasts(last, end - last * width_);
  Entry& full = bins_[static_cast<std::size_t>(first) + 1];
  Entry& past = bins_[static_cast<std::size_t>(last)];
  full.nodes[at] += nodes;
  full.draw += milliwatts;
  past.nodes[at] -= nodes;
  past.draw -= milliwatts;
}

std::vector<NodeStates::Bin> StateSeries::sums() const {
  std::vector<NodeStates::Bin> all;
  Entry level;
  for (const Entry& entry : bins_) {
    NodeStates::Bin& bin = all.emplace_back(entry.part);
    for (std::size_t use = 0; use < kUses; ++use) {
      level.nodes[use] += entry.nodes[use];
      bin.time[use] += level.nodes[use] * width_;
    }
    level.draw += entry.draw;
    bin.energy += level.draw * width_;
  }
  all.pop_back();
  return all;
}

void StateSeries::fold() {
  const std::vector<NodeStates::Bin> all = sums();
  std::ranges::fill(bins_, Entry{});
  for (std::size_t i = 0; i < all.size(); ++i) bins_[i / 2].part += all[i];
  width_ *= 2;
}

NodeStates StateSeries::read(Instant to) const {
  NodeStates states;
  states.from = from_;
  states.length = to - from_;
  states.width = Duration{width_};
  states.bins = sums();
  const std::int64_t used = (states.length.count() + width_ - 1) / width_;
  states.bins.resize(std::min(states.bins.size(), static_cast<std::size_t>(used)));
  return states;
}

}  // namespace rota::sim
