#include "plan/node_room.h"

namespace rota {

bool NodeRoom::find(const JobSpec& spec, Placement& where) const {
  where.shares.clear();
  where.memory = spec.memory;
  if (const std::uint32_t nodes = std::min(spec.nodes, spec.processors); nodes > 0) {
    const std::uint32_t larger = spec.processors % nodes;
    equal_shares(larger, spec.processors / nodes + 1, spec, where);
    if (where.shares.size() == larger) equal_shares(nodes, spec.processors / nodes, spec, where);
    return where.shares.size() == nodes;
  }
  std::int64_t left = spec.processors;
  for (std::uint32_t i = 0; i < free_.size() && left > 0; ++i) {
    const std::int64_t share = std::min(left, free_[i].processors);
    if (share <= 0 || free_[i].memory < spec.memory || !space_->in_partition(NodeId{i}, spec.partition)) continue;
    where.shares.push_back({NodeId{i}, static_cast<std::uint32_t>(share)});
    left -= share;
  }
  return left == 0;
}

void NodeRoom::equal_shares(std::uint32_t count, std::uint32_t share, const JobSpec& spec, Placement& where) const {
  const auto given = static_cast<std::ptrdiff_t>(where.shares.size());
  for (std::uint32_t i = 0; i < free_.size() && where.shares.size() < count; ++i) {
    if (free_[i].processors < share || free_[i].memory < spec.memory) continue;
    if (!space_->in_partition(NodeId{i}, spec.partition)) continue;
    const auto here = [&](const Share& s) { return s.node.value == i; };
    if (std::any_of(where.shares.begin(), where.shares.begin() + given, here)) continue;
    where.shares.push_back({NodeId{i}, share});
  }
}

}  // namespace rota
