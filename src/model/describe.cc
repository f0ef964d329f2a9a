#include "model/describe.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string_view>

#include "base/saturate.h"

namespace rota {
namespace {

bool rises_within(const std::vector<PartitionId>& partitions, std::size_t count) {
  const auto not_less = [](PartitionId a, PartitionId b) { return a >= b; };
  return std::ranges::adjacent_find(partitions, not_less) == partitions.end() &&
         (partitions.empty() || partitions.back().value < count);
}

void sum_up(Machine& machine) {
  machine.processors = machine.memory = machine.accelerators = 0;
  for (Partition& partition : machine.partitions) {
    partition.nodes.clear();
    partition.processors = partition.memory = partition.accelerators = 0;
  }
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    const Node& node = machine.nodes[n];
    machine.processors += node.processors;
    machine.memory = saturated_sum(machine.memory, node.memory);
    machine.accelerators += node.accelerators;
    for (const PartitionId p : node.partitions) {
      Partition& partition = machine.partitions[p.value];
      partition.nodes.push_back(NodeId{n});
      partition.processors += node.processors;
      partition.memory = saturated_sum(partition.memory, node.memory);
      partition.accelerators += node.accelerators;
    }
  }
}

bool is_possible(const Node& node, std::size_t partitions, std::size_t types, std::size_t features) {
  return node.processors <= kMostProcessors && node.memory >= 0 && node.memory <= kMostMemory &&
         node.accelerators <= kMostAccelerators && node.cpu_factor > 0 && rises_within(node.partitions, partitions) &&
         (!node.accelerator_type.valid() || node.accelerator_type.value < types) &&
         static_cast<std::size_t>(std::bit_width(node.features)) <= features;
}

}  // namespace

std::optional<std::string> objection_to(const Machine& machine, const Described& fact) {
  const std::string name = fmt::format("node {}", fact.is.name);
  if (machine.nodes.empty()) return name + " is described, and here processors are only counted; nothing was changed.";
  if (fact.is.name.empty() || fact.node.value > machine.nodes.size())
    return "a node is described that has no name, or is not the next; nothing was changed.";
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    if (n != fact.node.value && machine.nodes[n].name == fact.is.name)
      return name + " is there already under another id; nothing was changed.";
  }
  if (!is_possible(fact.is, machine.partitions.size(), machine.accelerator_types.size(), machine.features.size()))
    return name + " is described with sizes, partitions, accelerators or features that cannot be; nothing was changed.";
  const std::int64_t before = fact.node.value < machine.nodes.size() ? machine.nodes[fact.node.value].processors : 0;
  if (machine.processors - before + fact.is.processors > kMostProcessors)
    return name + " makes more processors than can be counted; nothing was changed.";
  return std::nullopt;
}

void describe(Machine& machine, const Described& fact) {
  if (fact.node.value == machine.nodes.size()) machine.nodes.emplace_back();
  Node& node = machine.nodes[fact.node.value];
  const auto commands = node.commands;
  node = fact.is;
  node.commands = commands;
  sum_up(machine);
}

std::optional<std::string> objection_to(const Machine& machine, const MachineKept& fact) {
  if (machine.nodes.empty() || fact.nodes.empty())
    return "nodes are kept where processors are only counted, or none is; nothing was changed.";
  if (fact.features.size() > kMostFeatures)
    return "nodes are kept with more features than there may be; nothing was changed.";
  std::set<std::string_view> names;
  std::int64_t processors = 0;
  for (const Node& node : fact.nodes) {
    if (node.name.empty() || !names.insert(node.name).second)
      return "a node is kept that has no name, or twice; nothing was changed.";
    if (!is_possible(node, machine.partitions.size(), fact.accelerator_types.size(), fact.features.size()))
      return fmt::format(
          "node {} is kept with sizes, partitions, accelerators or features that cannot be; nothing was changed.",
          node.name);
    processors += node.processors;
  }
  if (processors > kMostProcessors) return "the nodes have more processors than can be counted; nothing was changed.";
  return std::nullopt;
}

void describe(Machine& machine, const MachineKept& fact) {
  machine.nodes = fact.nodes;
  machine.accelerator_types = fact.accelerator_types;
  machine.features = fact.features;
  sum_up(machine);
}

}  // namespace rota
