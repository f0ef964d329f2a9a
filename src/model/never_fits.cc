#include "model/never_fits.h"

#include <algorithm>

#include "base/text.h"
#include "model/spread.h"

namespace rota {
namespace {

std::optional<std::string> beyond_limit(const Partition& partition, const JobSpec& spec) {
  const auto asks = [&](const std::string& what, std::int64_t limit) {
    return "asks for " + what + "; partition " + partition.name + " allows " + grouped(limit);
  };
  if (spec.limit > partition.max_time) {
    return asks(grouped(spec.limit.count() / 1000) + " s", partition.max_time.count() / 1000);
  }
  if (partition.max_processors > 0 && spec.processors > partition.max_processors) {
    return asks(amount(spec.processors, "processor"), partition.max_processors);
  }
  if (partition.max_nodes > 0 && spec.nodes > partition.max_nodes) {
    return asks(amount(spec.nodes, "node"), partition.max_nodes);
  }
  if (spec.nodes > 0 && spec.nodes < partition.min_nodes) {
    return "asks for " + amount(spec.nodes, "node") + "; partition " + partition.name + " takes jobs from " +
           grouped(partition.min_nodes) + " on";
  }
  return std::nullopt;
}

bool has_accelerators(const Node& node, const JobSpec& spec) {
  if (spec.accelerators == 0) return true;
  const bool of_the_type = !spec.accelerator_type.valid() || node.accelerator_type == spec.accelerator_type;
  return of_the_type && node.accelerators >= spec.accelerators;
}

// What the job asks for on each of its nodes, but for the processors.
bool can_give(const Node& node, const JobSpec& spec) {
  return (node.memory == 0 || node.memory >= spec.memory) && has_accelerators(node, spec);
}

std::optional<std::string> lacks_accelerators(const Machine& machine, const JobSpec& spec) {
  const auto has_them = [&](const Node& node) {
    const bool in = !spec.partition.valid() || std::ranges::binary_search(node.partitions, spec.partition);
    return in && has_accelerators(node, spec);
  };
  const auto have = std::ranges::count_if(machine.nodes, has_them);
  const std::uint32_t nodes = std::max(1U, Spread(spec).nodes);
  if (have >= nodes) return std::nullopt;
  std::string asked = amount(spec.accelerators, "accelerator");
  if (spec.accelerator_type.valid()) asked += " of type " + machine.accelerator_types[spec.accelerator_type.value];
  const bool some = spec.partition.valid();
  return "asks for " + asked + " on each of " + (nodes > 1 ? grouped(nodes) : "its") + " nodes; " +
         (have == 0   ? "no node of "
          : have == 1 ? "one node of "
                      : grouped(have) + " nodes of ") +
         (some ? "partition " + machine.partitions[spec.partition.value].name : "the cluster") +
         (have > 1 ? " have so many" : " has so many");
}

bool has_room_when_empty(const Machine& machine, const JobSpec& spec) {
  const Partition* partition = spec.partition.valid() ? &machine.partitions[spec.partition.value] : nullptr;
  const Spread asked(spec);
  Given given;
  const bool anywhere = spec.memory == 0 && spec.accelerators == 0;
  const auto look_at = [&](const Node& node) {
    if (can_give(node, spec)) given.add(Given::by_node(node.processors, asked.share), 1);
  };
  if (partition) {
    if (asked.nodes == 0 && anywhere) return partition->processors >= spec.processors;
    for (const NodeId id : partition->nodes) look_at(machine.nodes[id.value]);
  } else {
    if (asked.nodes == 0 && anywhere) return true;
    for (const Node& node : machine.nodes) look_at(node);
  }
  return given.suffices(asked, spec.processors);
}

}  // namespace

std::optional<std::string> never_fits(const Machine& machine, const JobSpec& spec) {
  if (spec.licence.valid() && spec.licences > machine.licences[spec.licence.value].count) {
    const Licence& licence = machine.licences[spec.licence.value];
    return "asks for " + amount(spec.licences, "licence") + " of " + licence.name + "; the cluster has " +
           grouped(licence.count);
  }
  if (spec.processors > machine.processors) {
    return "asks for " + amount(spec.processors, "processor") + "; the cluster has " + grouped(machine.processors);
  }
  if (spec.partition.valid()) {
    if (auto why = beyond_limit(machine.partitions[spec.partition.value], spec)) return why;
  }
  if (machine.nodes.empty() || has_room_when_empty(machine, spec)) return std::nullopt;
  if (spec.accelerators > 0) {
    if (auto why = lacks_accelerators(machine, spec)) return why;
  }
  return "asks for more processors, nodes or memory than its partition has, even when it is empty";
}

}  // namespace rota
