#include "site/cluster_build.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "base/saturate.h"
#include "base/text.h"
#include "model/node_wish.h"
#include "site/cluster_load.h"
#include "site/cluster_prices.h"
#include "site/cluster_reservations.h"
#include "site/cluster_shares.h"
#include "site/cluster_sites.h"

namespace rota::site {
namespace {

constexpr std::size_t kMostPartitions = 16;       // of a node, on average over the most nodes
constexpr std::size_t kFewEnoughToGuess = 2'000;  // nodes among which the nearest name is looked for

class Builder {
 public:
  Builder(const ClusterDraft& draft, std::size_t most_nodes) : draft_(draft), most_nodes_(most_nodes) {}

  Result<ClusterDescription> build() {
    machine_.name = draft_.top.name;
    machine_.price = draft_.top.price;
    machine_.co2 = draft_.top.co2;
    machine_.boot_seed = draft_.top.boot_seed;
    auto tariff = TRY(tariff_of(draft_, draft_.top));
    machine_.tariff = std::move(tariff);
    auto ok = check_sites(draft_);
    if (ok) ok = add_processors();
    if (ok) ok = add_licences();
    if (ok) ok = add_partitions();
    if (ok) ok = check_every_node_is_used();
    if (ok) ok = add_shares(draft_, machine_);
    if (ok) ok = add_reservations();
    if (ok && !draft_.sites.empty()) ok = split();
    if (!ok) return std::unexpected(ok.error());
    return ClusterDescription{std::move(machine_), std::move(dated_)};
  }

 private:
  std::unexpected<Error> wrong(std::uint32_t line, const std::string& what) const {
    return fail("{}:{}: {}", draft_.shown, line, what);
  }

  Result<void> add_reservations() {
    machine_.reservations = TRY(reservations_of(draft_, machine_, false));
    dated_ = TRY(reservations_of(draft_, machine_, true));
    for (const ReservationEntry& entry : draft_.reservations) {
      if (!entry.dated()) machine_.reservation_names.push_back(entry.name);
    }
    return {};
  }

  Result<void> add_processors() {
    if (draft_.nodes.empty()) {
      if (draft_.top.processors == 0 && !draft_.sites.empty()) return {};  // they say how many they have
      if (draft_.top.processors == 0) {
        return fail(draft_.shown +
                    ": the cluster has no processors. Describe its nodes in [[nodes]] tables, or write "
                    "`processors = 64` at the top.");
      }
      machine_.processors = draft_.top.processors;
      return {};
    }
    if (draft_.top.processors != 0) {
      return wrong(
          draft_.top.line_of("processors"),
          "`processors` counts interchangeable processors and there are [[nodes]] too. Remove one of the two.");
    }
    for (const NodesEntry& entry : draft_.nodes) {
      if (auto ok = add_nodes(entry); !ok) return ok;
    }
    return index_nodes();
  }

  Result<void> add_licences() {
    const std::uint32_t line = draft_.top.line_of("licences");
    if (line == 0) return {};
    if (draft_.nodes.empty()) {
      return wrong(
          line,
          "`licences` goes with nodes, and this cluster only counts processors. Describe them in [[nodes]] tables.");
    }
    auto licences = parse_licences(draft_.top.licences);
    if (!licences) return wrong(line, licences.error().message);
    machine_.licences = std::move(*licences);
    return {};
  }

  Result<void> add_nodes(const NodesEntry& entry) {
    const std::uint32_t line = entry.line_of("names");
    auto names = parse_host_list(entry.names, most_nodes_);
    if (!names) return wrong(line, names.error().message);
    if (names->size() > most_nodes_ - machine_.nodes.size()) {
      return wrong(
          line, fmt::format("with these there are more than {} nodes, which is more than a cluster file can describe.",
                            grouped(static_cast<std::int64_t>(most_nodes_))));
    }
    machine_.processors += entry.processors * static_cast<std::int64_t>(names->size());
    if (machine_.processors > kMostProcessors) {
      return wrong(line,
                   fmt::format("with these nodes there are more than {} processors, which is more than Rota can count.",
                               grouped(kMostProcessors)));
    }
    if (auto ok = check_accelerators(entry); !ok) return ok;
    const auto type = TRY(accelerator_type_of(entry));
    const auto features = TRY(features_of(entry));
    Node node;
    node.processors = static_cast<std::uint32_t>(entry.processors);
    node.memory = entry.memory;
    node.rack = rack_named(entry.rack);
    node.features = features;
    node.cpu_factor = static_cast<std::int32_t>(entry.cpu_factor);
    node.accelerators = static_cast<std::uint32_t>(entry.accelerators);
    if (entry.accelerators > 0) {
      node.accelerator_type = type;
      node.accelerator_speed = static_cast<std::int32_t>(entry.accelerator_speed);
      node.accelerator_link = entry.accelerator_link;
    }
    node.weight = entry.weight;
    node.power = {.off = entry.watts_off,
                  .idle = entry.watts_idle,
                  .busy = entry.watts_busy,
                  .accelerator = entry.watts_accelerator,
                  .boot = entry.boot_time,
                  .shutdown = entry.shutdown_time,
                  .boot_energy = entry.boot_energy < 0 ? -1 : entry.boot_energy * 1000,
                  .shutdown_energy = entry.shutdown_energy < 0 ? -1 : entry.shutdown_energy * 1000,
                  .boot_fails = static_cast<std::int32_t>(entry.boot_fails),
                  .boot_retry = entry.boot_retry};
    auto commands = TRY(commands_of(entry));
    node.commands = std::move(commands);
    machine_.nodes.reserve(machine_.nodes.size() + names->size());
    for (std::string& name : *names) {
      node.name = std::move(name);
      machine_.memory = saturated_sum(machine_.memory, node.memory);
      machine_.accelerators += node.accelerators;
      machine_.nodes.push_back(node);
    }
    ends_.push_back(machine_.nodes.size());
    return {};
  }

  Result<void> check_accelerators(const NodesEntry& entry) const {
    if (entry.accelerators > 0) return {};
    for (const char* key : {"accelerator_type", "accelerator_speed", "accelerator_link", "watts_accelerator"}) {
      if (const std::uint32_t line = entry.line_of(key); line != 0) {
        return wrong(line, fmt::format("`{}` speaks of accelerators, and these nodes have none. Say how many with "
                                       "`accelerators`, or remove the key.",
                                       key));
      }
    }
    return {};
  }

  Result<std::shared_ptr<const SwitchCommands>> commands_of(const NodesEntry& entry) const {
    if (!entry.suspend_command.empty() && !entry.resume_command.empty()) {
      return std::make_shared<const SwitchCommands>(
          SwitchCommands{.suspend = entry.suspend_command,
                         .resume = entry.resume_command,
                         .probe = entry.probe_command,
                         .timeout = entry.power_timeout > Duration{0} ? entry.power_timeout : 2 * entry.boot_time,
                         .tries = entry.power_tries});
    }
    for (const char* key : {"suspend_command", "resume_command", "probe_command", "power_timeout", "power_tries"}) {
      if (const std::uint32_t line = entry.line_of(key); line != 0) {
        return wrong(line,
                     fmt::format("`{}` is for nodes that can be switched off and on. It takes both `suspend_command` "
                                 "and `resume_command` for that; add what is missing, or remove the key.",
                                 key));
      }
    }
    return nullptr;
  }

  Result<AcceleratorTypeId> accelerator_type_of(const NodesEntry& entry) {
    auto& types = machine_.accelerator_types;
    const auto found = std::ranges::find(types, entry.accelerator_type);
    const auto index = static_cast<std::size_t>(found - types.begin());
    if (entry.accelerators == 0) return AcceleratorTypeId{};
    if (index == AcceleratorTypeId::kNone) {
      return wrong(
          entry.line_of("accelerator_type"),
          fmt::format("there are more than {} types of accelerators, which is more than Rota can tell apart.", index));
    }
    if (found == types.end()) types.push_back(entry.accelerator_type);
    return AcceleratorTypeId{static_cast<std::uint8_t>(index)};
  }

  Result<std::uint64_t> features_of(const NodesEntry& entry) {
    const std::uint32_t line = entry.line_of("features");
    if (line == 0) return 0;
    auto mask = add_features(entry.features, machine_.features);
    if (!mask) return wrong(line, mask.error().message);
    return mask;
  }

  RackId rack_named(const std::string& name) {
    const auto [at, fresh] = racks_.try_emplace(name, static_cast<std::uint32_t>(machine_.racks.size()));
    if (fresh) machine_.racks.push_back(name);
    return RackId{at->second};
  }

  Result<void> index_nodes() {
    ids_.reserve(machine_.nodes.size());
    for (std::uint32_t id = 0; id < machine_.nodes.size(); ++id) {
      const auto [at, fresh] = ids_.try_emplace(machine_.nodes[id].name, id);
      if (fresh) continue;
      return wrong(line_of(id), fmt::format("node {} is described twice; the first time in line {}.",
                                            quoted(machine_.nodes[id].name), line_of(at->second)));
    }
    return {};
  }

  // Where a node is described.
  std::size_t table_of(std::uint32_t id) const {
    return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), id) - ends_.begin());
  }
  std::uint32_t line_of(std::uint32_t id) const { return draft_.nodes[table_of(id)].line_of("names"); }

  Result<void> split() {
    std::vector<std::size_t> tables;
    tables.reserve(machine_.nodes.size());
    for (std::uint32_t id = 0; id < machine_.nodes.size(); ++id) tables.push_back(table_of(id));
    return split_into_sites(draft_, tables, machine_);
  }

  Result<void> add_partitions() {
    for (const PartitionEntry& entry : draft_.partitions) {
      if (auto ok = check_limits(entry); !ok) return ok;
      if (auto ok = check_name(entry); !ok) return ok;
      auto partition = TRY(partition_of(entry));
      machine_.partitions.push_back(std::move(partition));
    }
    return choose_default();
  }

  Result<void> check_limits(const PartitionEntry& entry) const {
    if (draft_.nodes.empty()) {
      for (const char* key : {"nodes", "min_nodes", "max_nodes"}) {
        if (const std::uint32_t line = entry.line_of(key); line != 0) {
          return wrong(line, fmt::format("`{}` speaks of nodes, and this cluster only counts processors. Describe "
                                         "nodes in [[nodes]] tables, or remove the key.",
                                         key));
        }
      }
    }
    const std::uint32_t time = entry.line_of("default_time");
    if (time != 0 && entry.default_time > entry.max_time) {
      return wrong(time, fmt::format("`default_time` is longer than `max_time`, so that no job could go without a "
                                     "limit of its own. Lower it to at most {}.",
                                     format_duration(entry.max_time)));
    }
    if (entry.max_nodes != 0 && entry.min_nodes > entry.max_nodes) {
      return wrong(entry.line_of("min_nodes"),
                   fmt::format("`min_nodes` is above `max_nodes`, so that no job could run. Lower it to at most {}.",
                               entry.max_nodes));
    }
    return {};
  }

  Result<void> check_name(const PartitionEntry& entry) const {
    for (std::size_t i = 0; i < machine_.partitions.size(); ++i) {
      if (machine_.partitions[i].name == entry.name) {
        return wrong(entry.line_of("name"), fmt::format("partition {} is described twice; the first time in line {}.",
                                                        quoted(entry.name), draft_.partitions[i].line_of("name")));
      }
    }
    return {};
  }

  Result<Partition> partition_of(const PartitionEntry& entry) {
    Partition partition;
    partition.name = entry.name;
    partition.max_time = entry.max_time;
    partition.default_time = std::min(entry.default_time, entry.max_time);
    partition.min_nodes = static_cast<std::uint32_t>(entry.min_nodes);
    partition.max_nodes = static_cast<std::uint32_t>(entry.max_nodes);
    partition.max_processors = static_cast<std::uint32_t>(entry.max_processors);
    partition.priority = static_cast<std::int32_t>(entry.priority);
    partition.job_factor = entry.job_factor;
    partition.billing = {entry.billing_processor, entry.billing_node, entry.billing_memory, entry.billing_accelerator,
                         entry.billing_most};
    partition.processors = machine_.processors;
    if (!draft_.nodes.empty()) {
      partition.nodes = TRY(nodes_of(entry));
    }
    partition.load_rule = TRY(load_rule_of(draft_, entry, partition.nodes.size()));
    if (draft_.nodes.empty()) return partition;
    if (partition.min_nodes > partition.nodes.size()) {
      return wrong(entry.line_of("min_nodes"),
                   fmt::format("`min_nodes` is {}, but the partition has {}, so that no job could run.",
                               partition.min_nodes, amount(static_cast<std::int64_t>(partition.nodes.size()), "node")));
    }
    partition.processors = 0;
    const PartitionId id{static_cast<std::uint32_t>(machine_.partitions.size())};
    for (const NodeId node : partition.nodes) {
      partition.processors += machine_.nodes[node.value].processors;
      partition.memory = saturated_sum(partition.memory, machine_.nodes[node.value].memory);
      partition.accelerators += machine_.nodes[node.value].accelerators;
      machine_.nodes[node.value].partitions.push_back(id);
    }
    return partition;
  }

  // Ascending.
  Result<std::vector<NodeId>> nodes_of(const PartitionEntry& entry) {
    std::vector<NodeId> ids;
    const std::uint32_t line = entry.line_of("nodes");
    if (line == 0) {
      for (std::uint32_t i = 0; i < machine_.nodes.size(); ++i) ids.push_back(NodeId{i});
    } else {
      const auto names = parse_host_list(entry.nodes, most_nodes_);
      if (!names) return wrong(line, names.error().message);
      for (const std::string& name : *names) {
        const auto found = ids_.find(name);
        if (found == ids_.end()) return wrong(line, unknown_node(name));
        ids.push_back(NodeId{found->second});
      }
      std::ranges::sort(ids);
      const auto twice = std::ranges::adjacent_find(ids);
      if (twice != ids.end()) {
        return wrong(line, fmt::format("the partition names node {} twice; name it once.",
                                       quoted(machine_.nodes[twice->value].name)));
      }
    }
    places_ += ids.size();
    const std::size_t most = kMostPartitions * most_nodes_;
    if (places_ > most) {
      return wrong(
          std::max(line, entry.line),
          fmt::format(
              "the partitions have more than {} nodes all told, which is more than a cluster file can describe.",
              grouped(static_cast<std::int64_t>(most))));
    }
    return ids;
  }

  std::string unknown_node(const std::string& name) const {
    std::string said = fmt::format("the partition names node {}, which no [[nodes]] table describes.", quoted(name));
    if (machine_.nodes.size() > kFewEnoughToGuess) return said;
    std::vector<std::string_view> known;
    known.reserve(machine_.nodes.size());
    for (const Node& node : machine_.nodes) known.push_back(node.name);
    const std::string_view near = nearest(name, known);
    return near.empty() ? said : fmt::format("{} Did you mean {}?", said, quoted(near));
  }

  Result<void> choose_default() {
    for (std::uint32_t i = 0; i < draft_.partitions.size(); ++i) {
      if (!draft_.partitions[i].by_default) continue;
      if (machine_.default_partition.valid()) {
        const PartitionEntry& first = draft_.partitions[machine_.default_partition.value];
        return wrong(draft_.partitions[i].line_of("default"),
                     fmt::format("partition {} is the default already, in line {}. Only one can be.",
                                 quoted(first.name), first.line_of("default")));
      }
      machine_.default_partition = PartitionId{i};
    }
    if (!machine_.partitions.empty() && !machine_.default_partition.valid())
      machine_.default_partition = PartitionId{0};
    return {};
  }

  Result<void> check_every_node_is_used() const {
    if (machine_.partitions.empty()) return {};
    const auto idle = std::ranges::find_if(machine_.nodes, [](const Node& node) { return node.partitions.empty(); });
    if (idle == machine_.nodes.end()) return {};
    const auto id = static_cast<std::uint32_t>(idle - machine_.nodes.begin());
    return fail(
        "{}: node {}, described in line {}, is in no partition, so that no job could ever run there. Name it in one, "
        "or leave it out.",
        draft_.shown, quoted(idle->name), line_of(id));
  }

  const ClusterDraft& draft_;
  std::size_t most_nodes_;
  Machine machine_;
  std::vector<Reservation> dated_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;  // of nodes by name
  std::unordered_map<std::string, std::uint32_t> racks_;     // by name; "": of those that name none
  std::vector<std::size_t> ends_;                            // of the nodes of each [[nodes]] table
  std::size_t places_ = 0;                                   // of nodes in partitions so far
};

}  // namespace

Result<ClusterDescription> build_machine(const ClusterDraft& draft, std::size_t most_nodes) {
  return Builder(draft, most_nodes).build();
}

}  // namespace rota::site
