#include "model/accelerator_bindings.h"

#include <fmt/core.h>

#include <algorithm>

namespace rota {
namespace {

bool is_time(Duration d) { return d >= Duration{0} && d <= kLongest; }

std::string named(const Machine& machine, NodeId node) { return "node " + machine.nodes[node.value].name; }

}  // namespace

std::vector<Bound> AcceleratorBindings::all() const {
  std::vector<std::pair<std::uint64_t, Bound>> rows;
  for (const auto& [key, row] : rows_) {
    const auto& [job, node, to] = key;
    rows.emplace_back(row.order, Bound{node, to, job, row.processors});
  }
  std::ranges::sort(rows, {}, [](const auto& row) { return row.first; });
  std::vector<Bound> bound;
  for (const auto& row : rows) bound.push_back(row.second);
  return bound;
}

NodeId AcceleratorBindings::bound_to(NodeId node) const {
  const auto found = of_node({}, node);
  return found != rows_.end() && std::get<1>(found->first) == node ? std::get<2>(found->first) : NodeId{};
}

std::optional<std::string> AcceleratorBindings::objection(const TasksAsked& fact) const {
  const TaskSpec& t = fact.tasks;
  const bool possible = t.count >= 1 && t.count <= kMostTasksOfJob && fact.left <= t.count &&
                        t.accelerator > Duration{0} && t.accelerator <= kLongest && is_time(t.cpu) &&
                        is_time(t.start_up) && is_time(fact.on_cpus) && is_time(t.limit) && t.transfer >= 0;
  if (possible) return std::nullopt;
  return "a job is said to have tasks that cannot be: none or too many, or such that take no time; nothing was "
         "changed.";
}

std::optional<std::string> AcceleratorBindings::cannot_be(const Machine& machine, const Bound& fact) {
  const Node& node = machine.nodes[fact.node.value];
  const Node& to = machine.nodes[fact.to.value];
  // A node may be bound to one that is described without accelerators: live it is the container there that counts, and
  // a site whose containers alone use its devices describes none, so that no job is given them.
  const bool by_tasks = fact.job.valid() && fact.processors == 0;
  const bool wrong = by_tasks ? to.accelerators == 0 : !fact.job.valid() && fact.to == fact.node;
  if (wrong || to.has_gone() || to.rack != node.rack) {
    return fmt::format("{} is said to be bound to {}, which has no accelerators in its rack; nothing was changed.",
                       named(machine, fact.node), named(machine, fact.to));
  }
  if (!fact.job.valid() && (node.accelerators > 0 || fact.processors > 0)) {
    return fmt::format(
        "{} is said to be bound for all jobs, and has accelerators, or only some of its processors are; "
        "nothing was changed.",
        named(machine, fact.node));
  }
  if (fact.processors > node.processors) {
    return fmt::format("more processors of {} are said to be bound than it has; nothing was changed.",
                       named(machine, fact.node));
  }
  return std::nullopt;
}

std::optional<std::string> AcceleratorBindings::objection(const Machine& machine, const Bound& fact) const {
  if (auto why = cannot_be(machine, fact)) return why;
  if (fact.job.valid() && fact.processors == 0 && !asked_.contains(fact.job))
    return "a job is said to be bound to accelerators, and it has no tasks; nothing was changed.";
  const auto known = rows_.find({fact.job, fact.node, fact.to});
  if (known == rows_.end() || (fact.processors > 0 && known->second.processors > 0)) return std::nullopt;
  return fmt::format("{} is said to be bound to {}, and it is; nothing was changed.", named(machine, fact.node),
                     named(machine, fact.to));
}

std::optional<std::string> AcceleratorBindings::objection(const Machine& machine, const Unbound& fact) const {
  if (!fact.node.valid()) {
    const auto found = of_node(fact.job, NodeId{0});
    const bool has_some = fact.job.valid() && found != rows_.end() && std::get<0>(found->first) == fact.job;
    if (has_some) return std::nullopt;
    return "a job is said to be bound to accelerators no longer, and it is not; nothing was changed.";
  }
  const auto found = rows_.find({fact.job, fact.node, fact.from});
  if (found != rows_.end() && found->second.processors >= fact.processors) return std::nullopt;
  return fmt::format("{} is said to be bound to {} no longer, and it is not; nothing was changed.",
                     named(machine, fact.node), named(machine, fact.from));
}

void AcceleratorBindings::apply(const Bound& fact) {
  if (!fact.job.valid()) {
    if (const NodeId before = bound_to(fact.node); before.valid()) rows_.erase({{}, fact.node, before});
  }
  const auto [row, is_new] = rows_.try_emplace({fact.job, fact.node, fact.to}, Row{0, order_});
  row->second.processors += fact.processors;
  order_ += is_new ? 1 : 0;
}

void AcceleratorBindings::apply(const Unbound& fact) {
  if (!fact.node.valid()) return left_nodes(fact.job);
  const auto found = rows_.find({fact.job, fact.node, fact.from});
  if (fact.processors > 0) found->second.processors -= fact.processors;
  if (fact.processors == 0 || found->second.processors == 0) rows_.erase(found);
}

void AcceleratorBindings::described(const Machine& machine) {
  std::erase_if(rows_, [&](const auto& row) {
    const auto& [job, node, to] = row.first;
    return cannot_be(machine, {node, to, job, row.second.processors}).has_value();
  });
}

void AcceleratorBindings::left_nodes(JobId job) {
  const auto first = of_node(job, NodeId{0});
  const auto last = std::find_if(first, rows_.cend(), [&](const auto& row) { return std::get<0>(row.first) != job; });
  rows_.erase(first, last);
}

void AcceleratorBindings::forget(JobId job) { asked_.erase(job); }

}  // namespace rota
