#include "model/node_space.h"

#include <algorithm>
#include <string>

#include "base/check.h"

namespace rota {

NodeSpace::NodeSpace(const Machine* machine) : machine_(machine) {
  if (!machine) return;
  for (const Node& node : machine->nodes) {
    all_.push_back(NodeId{static_cast<std::uint32_t>(free_.size())});
    free_.push_back({node.processors, node.memory > 0 ? node.memory : INT64_MAX});
  }
}

std::optional<Placement> NodeSpace::find(const JobSpec& spec) const {
  const std::vector<NodeId>& nodes = spec.partition.valid() ? machine_->partitions[spec.partition.value].nodes : all_;
  return spec.nodes == 0 ? spread(spec, nodes) : equal_shares(spec, nodes);
}

std::optional<Placement> NodeSpace::spread(const JobSpec& spec, const std::vector<NodeId>& nodes) const {
  Placement placement{{}, spec.memory};
  std::uint32_t left = spec.processors;
  for (const NodeId node : nodes) {
    if (!has_room(node, 1, spec.memory)) continue;
    const std::uint32_t share = std::min(left, free_[node.value].processors);
    placement.shares.push_back({node, share});
    left -= share;
    if (left == 0) return placement;
  }
  return std::nullopt;
}

std::optional<Placement> NodeSpace::equal_shares(const JobSpec& spec, const std::vector<NodeId>& nodes) const {
  Placement placement{{}, spec.memory};
  const std::uint32_t least = spec.processors / spec.nodes;
  const std::uint32_t with_one_more = spec.processors % spec.nodes;
  for (const NodeId node : nodes) {
    const auto taken = static_cast<std::uint32_t>(placement.shares.size());
    const std::uint32_t share = least + (taken < with_one_more ? 1 : 0);
    if (!has_room(node, share, spec.memory)) continue;
    placement.shares.push_back({node, share});
    if (taken + 1 == spec.nodes) return placement;
  }
  return std::nullopt;
}

bool NodeSpace::fits(const Placement& placement) const {
  return std::all_of(placement.shares.begin(), placement.shares.end(),
                     [&](const Share& s) { return has_room(s.node, s.processors, placement.memory); });
}

void NodeSpace::take(const Placement& placement) {
  CHECK(fits(placement), "a job goes where there is room for it");
  for (const Share& s : placement.shares) {
    free_[s.node.value].processors -= s.processors;
    if (free_[s.node.value].memory != INT64_MAX) free_[s.node.value].memory -= placement.memory;
  }
}

void NodeSpace::give(const Placement& placement) {
  for (const Share& s : placement.shares) {
    free_[s.node.value].processors += s.processors;
    if (free_[s.node.value].memory != INT64_MAX) free_[s.node.value].memory += placement.memory;
  }
}

void NodeSpace::shrink_to(const NodeSpace& other) {
  for (std::size_t i = 0; i < free_.size(); ++i) {
    free_[i].processors = std::min(free_[i].processors, other.free_[i].processors);
    free_[i].memory = std::min(free_[i].memory, other.free_[i].memory);
  }
}

namespace {

std::optional<std::string> beyond_limit(const Partition& partition, const JobSpec& spec) {
  const auto asks = [&](const std::string& what, std::int64_t limit) {
    return "asks for " + what + "; partition " + partition.name + " allows " + std::to_string(limit);
  };
  if (spec.limit > partition.max_time) {
    return asks(std::to_string(spec.limit.count() / 1000) + " s", partition.max_time.count() / 1000);
  }
  if (partition.max_processors > 0 && spec.processors > partition.max_processors) {
    return asks(std::to_string(spec.processors) + " processors", partition.max_processors);
  }
  if (partition.max_nodes > 0 && spec.nodes > partition.max_nodes) {
    return asks(std::to_string(spec.nodes) + " nodes", partition.max_nodes);
  }
  if (spec.nodes > 0 && spec.nodes < partition.min_nodes) {
    return "asks for " + std::to_string(spec.nodes) + " nodes; partition " + partition.name + " takes jobs from " +
           std::to_string(partition.min_nodes) + " on";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> never_fits(const Machine& machine, const JobSpec& spec) {
  if (spec.processors > machine.processors) {
    return "asks for " + std::to_string(spec.processors) + " processors; the cluster has " +
           std::to_string(machine.processors);
  }
  if (spec.partition.valid()) {
    if (auto why = beyond_limit(machine.partitions[spec.partition.value], spec)) return why;
  }
  if (machine.nodes.empty() || NodeSpace(&machine).find(spec)) return std::nullopt;
  return "asks for more processors, nodes or memory than its partition has, even when it is empty";
}

}  // namespace rota
