#include "serve/cluster_change.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "model/never_fits.h"
#include "model/snapshot.h"
#include "serve/job_book.h"

namespace rota::serve {
namespace {

constexpr const char* kLeave = "leave it in the file and take it out of use by `rota nodes down ";

using Places = std::map<std::string_view, std::size_t>;

Places places_of(const std::vector<Node>& nodes) {
  Places places;
  for (std::size_t n = 0; n < nodes.size(); ++n) places[nodes[n].name] = n;
  return places;
}

Node without_commands(Node node) {
  node.commands = nullptr;
  return node;
}

auto terms_of(const Limit& limit) {
  return std::tie(limit.user, limit.account, limit.qos, limit.partition, limit.accelerator_type, limit.except_qos,
                  limit.except_partitions, limit.most);
}

class Comparison {
 public:
  Comparison(const View& state, const Machine& file)
      : state_(state), before_(*state.options().machine), now_(file), in_file_(places_of(file.nodes)) {}

  ClusterChange made() {
    if (before_.nodes.empty() != now_.nodes.empty()) {
      refuse(before_.nodes.empty() ? "nodes are described where only processors were counted"
                                   : "processors are only counted where nodes were described");
    }
    if (change_.refused.empty() && !now_.nodes.empty()) {
      if (state_.options().shared) {
        keep_nodes();
      } else {
        nodes();
      }
    }
    named(before_.partitions, now_.partitions, "partition");
    named(before_.licences, now_.licences, "licence");
    named(before_.qos, now_.qos, "QOS");
    for (std::size_t i = 0; i < std::min(before_.licences.size(), now_.licences.size()); ++i)
      licence(before_.licences[i], now_.licences[i]);
    if (!std::ranges::equal(before_.limits, now_.limits, {}, terms_of, terms_of)) note("there are other [[limits]]");
    if (now_.nodes.empty() && before_.processors != now_.processors)
      sized("the cluster", amounts("processor", before_.processors, now_.processors),
            now_.processors < before_.processors);
    return std::move(change_);
  }

 private:
  void refuse(const std::string& why) {
    if (change_.refused.empty()) change_.refused = why;  // one at a time is enough to mend
  }
  void take_unless(bool held, const std::string& what) {
    if (held) return refuse(what);
    note(what);
  }
  void note(const std::string& what) { change_.taken += (change_.taken.empty() ? "" : ", ") + what; }

  // Where others own the nodes, their manager describes them, and the file has no say.
  void keep_nodes() {
    MachineKept stand = as_it_stands();
    for (Node& node : stand.nodes) node.commands = nullptr;
    stand_unless_as_in_file(std::move(stand));
  }

  MachineKept as_it_stands() const { return {before_.nodes, before_.accelerator_types, before_.features}; }
  static void add_missing(const std::vector<std::string>& names, std::vector<std::string>& into) {
    for (const std::string& name : names) {
      if (std::ranges::find(into, name) == into.end()) into.push_back(name);
    }
  }

  void nodes() {
    MachineKept stand = as_it_stands();
    add_missing(now_.accelerator_types, stand.accelerator_types);
    add_missing(now_.features, stand.features);
    if (stand.features.size() > kMostFeatures)
      return refuse(fmt::format("with those that there were nodes have more than {} features, which are the most",
                                kMostFeatures));
    std::vector<std::string> gone;
    for (std::uint32_t n = 0; n < stand.nodes.size(); ++n) {
      Node& old = stand.nodes[n];
      const auto found = in_file_.find(old.name);
      old.commands = nullptr;
      old.rack = found == in_file_.end() ? RackId{0} : now_.nodes[found->second].rack;  // the file's have other ids
      if (found != in_file_.end()) {
        node(NodeId{n}, old, in_ids_of(stand, now_.nodes[found->second]));
      } else if (!old.has_gone()) {
        gone.push_back(old.name);
        goes(NodeId{n}, old);
      }
    }
    if (!gone.empty()) note(format_host_list(gone) + (gone.size() == 1 ? " is gone" : " are gone"));
    come(stand);
    keep_numbers();
    stand_unless_as_in_file(std::move(stand));
  }

  void stand_unless_as_in_file(MachineKept stand) {
    const bool as_in_file = stand.accelerator_types == now_.accelerator_types && stand.features == now_.features &&
                            std::ranges::equal(stand.nodes, now_.nodes,
                                               [](const Node& a, const Node& b) { return a == without_commands(b); });
    if (!as_in_file) change_.stand = std::move(stand);
  }

  // A node of the file, its type of accelerators and its features by the ids that they have in the state.
  Node in_ids_of(const MachineKept& stand, Node node) const {
    node.commands = nullptr;
    const std::uint64_t features = std::exchange(node.features, 0);
    for (std::size_t f = 0; f < now_.features.size(); ++f) {
      if ((features >> f & 1U) == 0) continue;
      node.features |=
          std::uint64_t{1} << (std::ranges::find(stand.features, now_.features[f]) - stand.features.begin());
    }
    if (!node.accelerator_type.valid()) return node;
    const auto type = std::ranges::find(stand.accelerator_types, now_.accelerator_types[node.accelerator_type.value]);
    node.accelerator_type =
        AcceleratorTypeId{static_cast<decltype(AcceleratorTypeId::value)>(type - stand.accelerator_types.begin())};
    return node;
  }

  void come(const MachineKept& stand) {
    const Places there = places_of(stand.nodes);
    std::vector<std::string> added;
    auto next = static_cast<std::uint32_t>(stand.nodes.size());
    for (const Node& node : now_.nodes) {
      const auto found = there.find(node.name);
      if (found != there.end() && !stand.nodes[found->second].has_gone()) continue;
      added.push_back(node.name);
      if (found == there.end()) change_.nodes.push_back({NodeId{next++}, in_ids_of(stand, node)});
    }
    if (!added.empty()) note(format_host_list(added) + (added.size() == 1 ? " is new" : " are new"));
  }

  // The engine numbers accelerators through all nodes, and a job has the numbers that it was started with.
  void keep_numbers() {
    std::vector<std::uint32_t> counts;
    for (const Node& node : before_.nodes) counts.push_back(node.accelerators);
    for (const Described& node : change_.nodes)
      if (node.node.value < counts.size()) counts[node.node.value] = node.is.accelerators;
    std::int64_t moved = 0;  // by how much the numbers of the next node are others
    for (std::uint32_t n = 0; n < counts.size(); ++n) {
      const Node& node = before_.nodes[n];
      if (moved != 0 && accelerators_held(NodeId{n}, node) > 0)
        return refuse(
            fmt::format("the accelerators of node {} would have other numbers, as those of a node before it "
                        "are more or fewer, and jobs hold some: let these jobs end first",
                        node.name));
      moved += std::int64_t{counts[n]} - node.accelerators;
    }
  }

  bool is_held(NodeId id, const Node& node) const {
    return state_.nodes().free_on(id) != node.processors || accelerators_held(id, node) != 0 ||
           memory_held(id, node) != 0;
  }
  std::int64_t accelerators_held(NodeId id, const Node& node) const {
    return node.accelerators - std::int64_t{state_.nodes().per_node_on(id).accelerators};
  }
  std::int64_t memory_held(NodeId id, const Node& node) const {
    return node.memory == 0 ? 0 : node.memory - state_.nodes().per_node_on(id).memory;
  }

  void goes(NodeId id, Node node) {
    if (is_held(id, node))
      return refuse(fmt::format("node {} is gone: {}{} --reason gone`", node.name, kLeave, node.name));
    node.processors = 0;
    node.memory = 0;
    node.accelerators = 0;
    node.accelerator_type = {};
    node.features = 0;
    node.partitions.clear();
    change_.nodes.push_back({id, std::move(node)});
    change_.less = true;
  }

  void node(NodeId id, const Node& old, const Node& now) {
    if (old == now) return;
    change_.nodes.push_back({id, now});
    if (old.has_gone()) return change_.back.push_back(id);
    const std::size_t said = change_.taken.size();
    const std::string name = "node " + old.name;
    const auto size = [&](const char* what, std::int64_t before, std::int64_t after, std::int64_t held) {
      if (before == after) return;
      change_.less = change_.less || after < before;
      if (after < held)
        return refuse(
            fmt::format("{} has {}: what runs there holds more than that", name, amounts(what, before, after)));
      note(fmt::format("{} has {}", name, amounts(what, before, after)));
    };
    size("processor", old.processors, now.processors, old.processors - state_.nodes().free_on(id));
    if (old.memory != 0 && now.memory != 0) {
      memory(name, old, now, memory_held(id, old));
    } else if (old.memory != now.memory) {
      const char* const what = " tells its memory where it did not, or no longer does";
      take_unless(is_held(id, old), name + what);
    }
    size("accelerator", old.accelerators, now.accelerators, accelerators_held(id, old));
    if (old.accelerators > 0 && now.accelerators > 0 && old.accelerator_type != now.accelerator_type) {
      const char* const what = " has accelerators of another type";
      take_unless(accelerators_held(id, old) != 0, name + what);
    }
    if (old.features != now.features) note(name + " has other features");
    if (old.partitions != now.partitions) note(name + " is in other partitions");
    if (change_.taken.size() == said) note(name + " is described otherwise");
  }

  void memory(const std::string& name, const Node& old, const Node& now, std::int64_t held) {
    if (old.memory == now.memory) return;
    const std::string what =
        fmt::format("{} has {} of memory instead of {}", name, format_size(now.memory), format_size(old.memory));
    change_.less = change_.less || now.memory < old.memory;
    if (now.memory < held) return refuse(what + ": what runs there holds more than that");
    note(what);
  }

  void licence(const Licence& old, const Licence& now) {
    const std::string what = "licence " + now.name;
    if (now.count > old.count) note(fmt::format("{} has {}", what, amounts("", old.count, now.count)));
    if (now.count >= old.count) return;
    refuse(
        fmt::format("{} has {} instead of {}: what runs, or ran, may hold more than that; leave {} in the file, and "
                    "have a `licence_command` say how many there are, as with \"echo {} {} 0\"",
                    what, grouped(now.count), grouped(old.count), grouped(old.count), now.name, now.count));
  }

  static std::string amounts(const char* what, std::int64_t old, std::int64_t now) {
    return fmt::format("{} instead of {}", *what == '\0' ? grouped(now) : amount(now, what), grouped(old));
  }

  void sized(const std::string& of, const std::string& what, bool less) {
    if (less) return refuse(fmt::format("{} has {}: what runs, or ran, may hold more than that", of, what));
    note(fmt::format("{} has {}", of, what));
  }

  template <class Named>
  void named(const std::vector<Named>& old, const std::vector<Named>& now, const std::string& what) {
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (i >= now.size() || now[i].name != old[i].name)
        return refuse(fmt::format("{} {} is gone or stands in another place: keep all that there were, in their order",
                                  what, old[i].name));
    }
    for (std::size_t i = old.size(); i < now.size(); ++i) note(fmt::format("{} {} is new", what, now[i].name));
  }

  const View& state_;
  const Machine& before_;
  const Machine& now_;
  const Places in_file_;
  ClusterChange change_;
};

}  // namespace

ClusterChange cluster_change(const View& state, const Machine& file) { return Comparison(state, file).made(); }

std::vector<Fact> carried_over(std::vector<Fact> snapshot, const ClusterChange& change) {
  std::erase_if(snapshot, [](const Fact& fact) { return std::holds_alternative<MachineKept>(fact.what); });
  if (change.stand && !snapshot.empty())
    snapshot.insert(snapshot.begin(), Fact{snapshot.front().at, snapshot.front().sequence, *change.stand, Duration{0}});
  if (!change.less) return snapshot;
  for (Fact& fact : snapshot) {  // where processors are listed, some have other numbers now
    if (auto* job = std::get_if<JobKept>(&fact.what)) job->processors.clear();
    if (auto* state = std::get_if<StateKept>(&fact.what)) {
      state->set_aside_for = {};
      state->set_aside.clear();
    }
  }
  return snapshot;
}

// A job that has ended does not keep the file from changing, whatever it needed.
Result<StateUnderFile> under_file(const ClusterOptions& options, std::vector<Fact> snapshot,
                                  const ClusterChange& change) {
  const Machine& file = *options.machine;
  Cluster state(options);
  const auto fold = [&](const Fact& fact) -> Result<void> {
    if (auto why = state.objection(fact)) return fail("{}{}", *why, kTooTight);
    state.fold(fact);
    return {};
  };
  for (const Fact& fact : carried_over(std::move(snapshot), change)) TRY(fold(fact));
  const auto now = [&](AnyFact what) { return fold({state.now(), state.sequence(), std::move(what), Duration{0}}); };
  for (const Described& node : change.nodes) TRY(now(node));
  for (const NodeId node : change.back) TRY(now(HealthChanged{node, Health::up}));
  std::optional<std::string> tight;
  state.for_each_job([&](JobId, const Job& job) {
    if (tight || job.gone()) return;
    if (auto why = never_fits(*state.options().machine, job.spec))
      tight = fmt::format("job {} {}.", job.spec.number, *why);
  });
  if (tight) return fail("{}{}", *tight, kTooTight);
  return StateUnderFile{carried_over(Snapshot::facts_of(state), cluster_change(state, file)),
                        with_commands(*state.options().machine, file)};
}

std::shared_ptr<const Machine> with_commands(const Machine& standing, const Machine& file) {
  auto machine = std::make_shared<Machine>(standing);
  const Places places = places_of(file.nodes);
  for (Node& node : machine->nodes) {
    const auto found = places.find(node.name);
    node.commands = found == places.end() ? nullptr : file.nodes[found->second].commands;
  }
  return machine;
}

std::vector<NodeId> ids_of(const std::vector<NodeId>& in_file, const Machine& file, const Machine& standing) {
  const Places places = places_of(standing.nodes);
  std::vector<NodeId> ids;
  for (const NodeId node : in_file)
    ids.push_back(NodeId{static_cast<std::uint32_t>(places.at(file.nodes[node.value].name))});
  std::ranges::sort(ids);
  return ids;
}

}  // namespace rota::serve
