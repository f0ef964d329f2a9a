#include "policy/power/capacity_on.h"

#include <algorithm>

namespace rota {
CapacityOn::CapacityOn(const Machine& machine) : is_on_(machine.nodes.size()) {
  kind_.reserve(machine.nodes.size());
  for (const Node& node : machine.nodes) {
    kind_.push_back(kind_of(node));
    ++nodes_[kind_.back()];
  }
  for (std::uint32_t p = 0; p < machine.partitions.size(); ++p) {
    demand({PartitionId{p}, 1}).need.with_share = machine.partitions[p].min_nodes;
  }
  if (machine.partitions.empty()) demand({{}, 1}).need.with_share = 1;
}

std::uint32_t CapacityOn::kind_of(const Node& node) {
  const PerNode per_node{node.memory > 0 ? node.memory : PerNode::kUnlimited,
                         static_cast<std::int32_t>(node.accelerators)};
  const auto same = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& k) {
    return k.processors == node.processors && k.per_node == per_node && k.accelerator_type == node.accelerator_type &&
           k.features == node.features && *k.partitions == node.partitions;
  });
  const auto index = static_cast<std::uint32_t>(same - kinds_.begin());
  if (same == kinds_.end()) {
    kinds_.push_back({node.processors, per_node, node.accelerator_type, node.features, &node.partitions});
    nodes_.push_back(0);
    on_.push_back(0);
  }
  return index;
}

Given CapacityOn::gives(const Kind& kind, const Asked& asked) {
  if (!kind.per_node.covers(asked.per_node)) return {};
  if (asked.accelerator_type.valid() && kind.accelerator_type != asked.accelerator_type) return {};
  if (asked.wish && !asked.wish->suits(kind.features)) return {};
  const auto& in = *kind.partitions;
  if (asked.partition.valid() && !std::binary_search(in.begin(), in.end(), asked.partition)) return {};
  return Given::by_node(kind.processors, asked.share);
}

Given CapacityOn::gives(NodeId node, const Asked& asked) const {
  const bool allowed = !asked.wish || asked.wish->allows(node);
  return allowed ? gives(kinds_[kind_[node.value]], asked) : Given{};
}

CapacityOn::Demand& CapacityOn::demand(Asked asked) {
  std::int64_t enough = PerNode::kUnlimited;
  for (const Kind& kind : kinds_) {
    if (kind.per_node.memory >= asked.per_node.memory) enough = std::min(enough, kind.per_node.memory);
  }
  asked.per_node.memory = enough;
  for (Demand& d : demands_) {
    if (d.asked == asked) return d;
  }
  Demand& d = demands_.emplace_back(Demand{asked});
  const bool by_name = asked.wish && asked.wish->has_lists();
  for (std::uint32_t n = 0; by_name && n < kind_.size(); ++n) {
    d.all.add(gives(NodeId{n}, asked), 1);
    if (is_on_[n]) d.on.add(gives(NodeId{n}, asked), 1);
  }
  for (std::size_t k = 0; !by_name && k < kinds_.size(); ++k) {
    d.all.add(gives(kinds_[k], asked), nodes_[k]);
    d.on.add(gives(kinds_[k], asked), on_[k]);
  }
  return d;
}

void CapacityOn::need(const JobSpec& spec) {
  const Spread asked(spec);
  Demand& d = demand({spec.partition, asked.share, spec.per_node(), spec.accelerator_type, spec.node_wish});
  const auto grow = [](std::int64_t& most, std::int64_t wanted, std::int64_t all) {
    most = std::max(most, std::min(wanted, all));
  };
  if (asked.nodes == 0) return grow(d.need.processors, spec.processors, d.all.processors);
  grow(d.need.with_share, asked.nodes, d.all.with_share);
  grow(d.need.with_larger, asked.larger, d.all.with_larger);
}

void CapacityOn::change_on(NodeId node, std::int64_t sign) {
  on_[kind_[node.value]] += sign;
  is_on_[node.value] = sign > 0;
  for (Demand& d : demands_) d.on.add(gives(node, d.asked), sign);
}

// Whether `of` has less than `need` of something that `node` gives.
bool CapacityOn::helps(const Given& node, const Given& of, const Given& need) {
  return (node.processors > 0 && of.processors < need.processors) ||
         (node.with_share > 0 && of.with_share < need.with_share) ||
         (node.with_larger > 0 && of.with_larger < need.with_larger);
}

bool CapacityOn::lacks(NodeId node) const {
  return std::any_of(demands_.begin(), demands_.end(),
                     [&](const Demand& d) { return helps(gives(node, d.asked), d.on, d.need); });
}

bool CapacityOn::needs(NodeId node) const {
  return std::any_of(demands_.begin(), demands_.end(), [&](const Demand& d) {
    Given without = d.on;
    without.add(gives(node, d.asked), -1);
    return helps(gives(node, d.asked), without, d.need);
  });
}

}  // namespace rota
