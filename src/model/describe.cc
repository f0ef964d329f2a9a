#include "model/describe.h"

#include <fmt/core.h>

#include <algorithm>

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
  const bool possible =
      fact.is.processors <= kMostProcessors && fact.is.memory >= 0 && fact.is.memory <= kMostMemory &&
      fact.is.accelerators <= kMostAccelerators && fact.is.cpu_factor > 0 &&
      rises_within(fact.is.partitions, machine.partitions.size()) &&
      (!fact.is.accelerator_type.valid() || fact.is.accelerator_type.value < machine.accelerator_types.size());
  if (!possible)
    return name + " is described with sizes, partitions or accelerators that cannot be; nothing was changed.";
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

}  // namespace rota
