#include "policy/capacity_on.h"

#include <algorithm>

namespace rota {
CapacityOn::CapacityOn(const Machine& machine) {
  kind_.reserve(machine.nodes.size());
  for (const Node& node : machine.nodes) {
    kind_.push_back(kind_of(node));
    ++nodes_[kind_.back()];
  }
  for (std::uint32_t p = 0; p < machine.partitions.size(); ++p) {
    demand(PartitionId{p}, 0, 1).need.wide = machine.partitions[p].min_nodes;
  }
  if (machine.partitions.empty()) demand({}, 0, 1).need.wide = 1;
}

std::uint32_t CapacityOn::kind_of(const Node& node) {
  const std::int64_t memory = node.memory > 0 ? node.memory : INT64_MAX;
  const auto same = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& k) {
    return k.processors == node.processors && k.memory == memory && *k.partitions == node.partitions;
  });
  const auto index = static_cast<std::uint32_t>(same - kinds_.begin());
  if (same == kinds_.end()) {
    kinds_.push_back({node.processors, memory, &node.partitions});
    nodes_.push_back(0);
    on_.push_back(0);
  }
  return index;
}

CapacityOn::Tally CapacityOn::gives(const Kind& kind, const Demand& d) {
  if (kind.memory < d.memory) return {};
  const auto& in = *kind.partitions;
  if (d.partition.valid() && !std::binary_search(in.begin(), in.end(), d.partition)) return {};
  return {kind.processors, kind.processors >= d.share ? 1 : 0, kind.processors > d.share ? 1 : 0};
}

CapacityOn::Demand& CapacityOn::demand(PartitionId partition, std::int64_t memory, std::int64_t share) {
  std::int64_t enough = INT64_MAX;
  for (const Kind& kind : kinds_) {
    if (kind.memory >= memory) enough = std::min(enough, kind.memory);
  }
  for (Demand& d : demands_) {
    if (d.partition == partition && d.memory == enough && d.share == share) return d;
  }
  Demand& d = demands_.emplace_back(Demand{partition, enough, share});
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    d.all.add(gives(kinds_[k], d), nodes_[k]);
    d.on.add(gives(kinds_[k], d), on_[k]);
  }
  return d;
}

void CapacityOn::need(const JobSpec& spec) {
  const std::int64_t nodes = std::min(spec.nodes, spec.processors);
  Demand& d = demand(spec.partition, spec.memory, nodes == 0 ? 1 : spec.processors / nodes);
  const auto grow = [](std::int64_t& most, std::int64_t wanted, std::int64_t all) {
    most = std::max(most, std::min(wanted, all));
  };
  if (nodes == 0) return grow(d.need.processors, spec.processors, d.all.processors);
  grow(d.need.wide, nodes, d.all.wide);
  grow(d.need.wider, spec.processors % nodes, d.all.wider);
}

void CapacityOn::change_on(NodeId node, std::int64_t sign) {
  on_[kind_[node.value]] += sign;
  for (Demand& d : demands_) d.on.add(gives(kinds_[kind_[node.value]], d), sign);
}

// Whether `of` has less than `need` of something that `node` gives.
bool CapacityOn::helps(const Tally& node, const Tally& of, const Tally& need) {
  return (node.processors > 0 && of.processors < need.processors) || (node.wide > 0 && of.wide < need.wide) ||
         (node.wider > 0 && of.wider < need.wider);
}

bool CapacityOn::lacks(NodeId node) const {
  const Kind& kind = kinds_[kind_[node.value]];
  return std::any_of(demands_.begin(), demands_.end(),
                     [&](const Demand& d) { return helps(gives(kind, d), d.on, d.need); });
}

bool CapacityOn::needs(NodeId node) const {
  const Kind& kind = kinds_[kind_[node.value]];
  return std::any_of(demands_.begin(), demands_.end(), [&](const Demand& d) {
    Tally without = d.on;
    without.add(gives(kind, d), -1);
    return helps(gives(kind, d), without, d.need);
  });
}

}  // namespace rota
