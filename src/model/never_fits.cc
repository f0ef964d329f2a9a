#include "model/never_fits.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "model/shortage.h"
#include "model/spread.h"

namespace rota {
namespace {

std::optional<std::string> beyond_limit(const Partition& partition, const JobSpec& spec) {
  const auto asks = [&](const std::string& what, const std::string& limit) {
    return fmt::format("asks for {}; partition {} allows {}", what, partition.name, limit);
  };
  if (spec.limit > partition.max_time) {
    if (spec.limit >= kLongest) return asks("no time limit", format_duration(partition.max_time) + " at most");
    return asks("a time limit of " + format_duration(spec.limit), format_duration(partition.max_time));
  }
  if (partition.max_processors > 0 && spec.processors > partition.max_processors) {
    return asks(amount(spec.processors, "processor"), grouped(partition.max_processors));
  }
  if (partition.max_nodes > 0 && spec.nodes > partition.max_nodes) {
    return asks(amount(spec.nodes, "node"), grouped(partition.max_nodes));
  }
  if (spec.nodes > 0 && spec.nodes < partition.min_nodes) {
    return fmt::format("asks for {}; partition {} takes jobs from {} on", amount(spec.nodes, "node"), partition.name,
                       grouped(partition.min_nodes));
  }
  return std::nullopt;
}

bool in_partition(const Node& node, const JobSpec& spec) {
  return !spec.partition.valid() || std::ranges::binary_search(node.partitions, spec.partition);
}

bool has_accelerators(const Node& node, const JobSpec& spec) {
  if (spec.accelerators == 0) return true;
  const bool of_the_type = !spec.accelerator_type.valid() || node.accelerator_type == spec.accelerator_type;
  return of_the_type && node.accelerators >= spec.accelerators;
}

bool is_wished(NodeId id, const Node& node, const JobSpec& spec) {
  return !spec.node_wish || spec.node_wish->admits(id, node.features);
}

// What the job asks for on each of its nodes, but for the processors.
bool can_give(NodeId id, const Node& node, const JobSpec& spec) {
  return (node.memory == 0 || node.memory >= spec.memory) && has_accelerators(node, spec) && is_wished(id, node, spec);
}

std::optional<std::string> lacks_accelerators(const Machine& machine, const JobSpec& spec) {
  const auto has_them = [&](const Node& node) { return in_partition(node, spec) && has_accelerators(node, spec); };
  const auto have = std::ranges::count_if(machine.nodes, has_them);
  const std::uint32_t nodes = std::max(1U, Spread(spec).nodes);
  if (have >= nodes) return std::nullopt;
  std::string asked = amount(spec.accelerators, "accelerator");
  if (spec.accelerator_type.valid()) asked += " of type " + machine.accelerator_types[spec.accelerator_type.value];
  const bool some = spec.partition.valid();
  return fmt::format("asks for {} on each of {} nodes; {}{}{}", asked, nodes > 1 ? grouped(nodes) : "its",
                     have == 0   ? "no node of "
                     : have == 1 ? "one node of "
                                 : grouped(have) + " nodes of ",
                     some ? "partition " + machine.partitions[spec.partition.value].name : "the cluster",
                     have > 1 ? " have so many" : " has so many");
}

std::string scope_of(const Machine& machine, const JobSpec& spec) {
  return spec.partition.valid() ? "partition " + machine.partitions[spec.partition.value].name : "the cluster";
}

// visit(Node) for those that its partition has, until it gives true; whether it did.
template <class Visit>
bool any_in_scope(const Machine& machine, const JobSpec& spec, const Visit& visit) {
  if (!spec.partition.valid()) {
    for (std::uint32_t n = 0; n < machine.nodes.size(); ++n)
      if (visit(NodeId{n}, machine.nodes[n])) return true;
    return false;
  }
  return std::ranges::any_of(machine.partitions[spec.partition.value].nodes,
                             [&](NodeId id) { return visit(id, machine.nodes[id.value]); });
}

// Too few nodes in its partition have the features that it asks for, or it names one that is not there.
std::optional<std::string> lacks_wished(const Machine& machine, const JobSpec& spec) {
  const NodeWish& wish = *spec.node_wish;
  for (const NodeId id : wish.among) {
    const Node& node = machine.nodes[id.value];
    const char* why = std::ranges::binary_search(wish.without, id) ? ", which it does not want either"
                      : !in_partition(node, spec)                  ? ", which is not in its partition"
                      : !wish.suits(node.features)                 ? ", which has not the features that it asks for"
                      : node.has_gone()                            ? ", which has gone"
                                                                   : nullptr;
    if (why != nullptr) return fmt::format("asks for node {}{}", node.name, why);
  }
  std::int64_t have = 0;
  any_in_scope(machine, spec, [&](NodeId id, const Node& node) {
    have += !node.has_gone() && is_wished(id, node, spec) ? 1 : 0;
    return false;
  });
  const std::uint32_t nodes = std::max(1U, Spread(spec).nodes);
  if (have >= nodes) return std::nullopt;
  const std::string scope = scope_of(machine, spec);
  if (have == 0) return fmt::format("asks for {}; {} has none", wish_text(wish, machine, nodes == 1), scope);
  return fmt::format("asks for {}; {} has {}", wished_nodes(wish, machine, nodes), scope, grouped(have));
}

// The same job with fewer processors, but as many nodes. 0: with none it has room.
std::uint32_t most_processors(const Machine& machine, const JobSpec& spec) {
  const auto fits = [&](std::uint32_t processors) {
    JobSpec smaller = spec;
    smaller.processors = processors;
    return fits_when_empty(machine, smaller, {});
  };
  std::uint32_t good = std::max(1U, spec.nodes) - 1, bad = spec.processors;
  while (bad - good > 1) {
    const std::uint32_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good < std::max(1U, spec.nodes) ? 0 : good;
}

// What its nodes lack one by one, else together: with the largest that would fit.
std::string lacks_room(const Machine& machine, const JobSpec& spec) {
  const Spread asked(spec);
  std::int64_t memory = 0, nodes = 0, wide = 0, most = 0, processors = 0;
  any_in_scope(machine, spec, [&](NodeId id, const Node& node) {
    ++nodes;
    memory = node.memory == 0 ? INT64_MAX : std::max(memory, node.memory);
    processors = std::max(processors, std::int64_t{node.processors});
    if (!can_give(id, node, spec)) return false;
    ++wide;
    most += node.processors;
    return false;
  });
  const std::string scope = scope_of(machine, spec);
  if (memory < spec.memory) {
    const bool alike = format_size(spec.memory) == format_size(memory);  // as texts are cut
    const auto text = [&](std::int64_t bytes) { return alike ? grouped(bytes) + " bytes" : format_size(bytes); };
    return fmt::format("asks for {} of memory on each of its nodes; the largest node of {} has {}", text(spec.memory),
                       scope, text(memory));
  }
  if (asked.nodes > nodes)
    return fmt::format("asks for {}; {} has {}", amount(asked.nodes, "node"), scope, grouped(nodes));
  if (asked.nodes > 0 && asked.share > processors)
    return fmt::format("asks for {} on {}; the largest node of {} has {}", amount(asked.share, "processor"),
                       asked.nodes == 1 ? "one node" : fmt::format("each of {} nodes", grouped(asked.nodes)), scope,
                       grouped(processors));
  std::string what = amount(spec.processors, "processor");
  if (spec.node_wish)
    what += " on " + wished_nodes(*spec.node_wish, machine, asked.nodes);
  else if (asked.nodes > 0)
    what += " on " + amount(asked.nodes, "node");
  const char* const with = spec.node_wish || asked.nodes > 0 ? ", with " : " on nodes with ";
  if (spec.memory > 0) what += with + format_size(spec.memory);
  if (spec.accelerators > 0) what += (spec.memory > 0 ? " and " : with) + amount(spec.accelerators, "accelerator");
  if (spec.memory > 0 || spec.accelerators > 0) what += " each";
  const bool each = spec.memory > 0 || spec.accelerators > 0 || spec.node_wish;
  if (each && wide == 0) return fmt::format("asks for {}; {} has no such node", what, scope);
  std::string out = fmt::format("asks for {}; {} has {}{} in all", what, scope,
                                each ? amount(wide, "such node") + " with " : "", amount(most, "processor"));
  const std::uint32_t fits = most_processors(machine, spec);
  return fits == 0 ? out : fmt::format("{}, and with {} it would fit", out, grouped(fits));
}

std::optional<std::string> beyond_licences(const Machine& machine, const JobSpec& spec) {
  std::optional<std::string> why;
  each_licence(spec, [&](LicenceId id, std::uint32_t count) {
    const Licence& licence = machine.licences[id.value];
    if (why || count <= licence.count) return;
    why = fmt::format("asks for {} of {}; the cluster has {}", amount(count, "licence"), licence.name,
                      grouped(licence.count));
  });
  return why;
}

}  // namespace

std::uint32_t nodes_of(const Machine& machine, const JobSpec& spec) {
  if (spec.nodes > 0 || !spec.partition.valid()) return spec.nodes;
  return machine.partitions[spec.partition.value].max_nodes == 1 ? 1 : 0;
}

bool fits_when_empty(const Machine& machine, const JobSpec& spec, const std::function<bool(NodeId)>& usable) {
  const Spread asked(spec);
  if (machine.nodes.empty()) return true;
  if (!usable && asked.nodes == 0 && spec.memory == 0 && spec.accelerators == 0 && !spec.node_wish)
    return !spec.partition.valid() || machine.partitions[spec.partition.value].processors >= spec.processors;
  Given given;  // by as many as it takes: most jobs find room on the first ones
  return any_in_scope(machine, spec, [&](NodeId id, const Node& node) {
    if (!can_give(id, node, spec) || (usable && !usable(id))) return false;
    given.add(Given::by_node(node.processors, asked.share), 1);
    return given.suffices(asked, spec.processors);
  });
}

bool fits_on(const Machine& machine, const JobSpec& spec, const std::vector<NodeId>& nodes) {
  std::vector<bool> usable(machine.nodes.size());
  for (const NodeId node : nodes) usable[node.value] = true;
  return fits_when_empty(machine, spec, [&](NodeId node) { return usable[node.value]; });
}

bool may_serve(const Machine& machine, const JobSpec& spec, NodeId id) {
  const Node& node = machine.nodes[id.value];
  return in_partition(node, spec) && can_give(id, node, spec) && node.processors >= Spread(spec).share;
}

std::optional<std::string> never_fits(const Machine& machine, const JobSpec& spec) {
  if (spec.nodes > spec.processors) {
    return fmt::format("asks for {} and {}, and each node gives one at least", amount(spec.processors, "processor"),
                       amount(spec.nodes, "node"));
  }
  if (auto why = beyond_licences(machine, spec)) return why;
  if (spec.processors > machine.processors) {
    return fmt::format("asks for {}; the cluster has {}", amount(spec.processors, "processor"),
                       grouped(machine.processors));
  }
  if (spec.partition.valid()) {
    if (auto why = beyond_limit(machine.partitions[spec.partition.value], spec)) return why;
  }
  if (machine.nodes.empty() || fits_when_empty(machine, spec, {})) return std::nullopt;
  if (spec.accelerators > 0) {
    if (auto why = lacks_accelerators(machine, spec)) return why;
  }
  if (spec.node_wish) {
    if (auto why = lacks_wished(machine, spec)) return why;
  }
  return lacks_room(machine, spec);
}

}  // namespace rota
