// Binding of nodes and tasks to accelerators against laws, after any sequence of nodes that come and go.
#include "policy/bind/bind.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "engine/sim/task_cluster_test.h"
#include "scenario/scenario.h"

namespace rota {
namespace {

constexpr std::uint32_t kNodes = 24;
constexpr std::uint32_t kRacks = 3;

using Hosts = std::map<std::uint32_t, NodeId>;  // of each node that is there

Hosts hosts_of(const NodeBinding& binding) {
  Hosts hosts;
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    if (binding.present(NodeId{i})) hosts[i] = binding.bound_to(NodeId{i});
  }
  return hosts;
}

std::vector<std::uint32_t> accelerator_nodes(const NodeBinding& binding, std::uint32_t rack) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    const NodeId node{i};
    if (binding.present(node) && binding.has_accelerator(node) && binding.rack_of(node) == RackId{rack}) {
      found.push_back(i);
    }
  }
  return found;
}

// A node comes or goes, as chance will have it; one with accelerators of at most that weight.
std::vector<NodeBinding::Move> something_happens(NodeBinding& binding, std::int64_t heaviest = 1) {
  const NodeId node{*rc::gen::inRange<std::uint32_t>(0, kNodes)};
  std::span<const NodeBinding::Move> moves;
  if (binding.present(node)) {
    moves = binding.leave(node);
  } else {
    const bool accelerated = *rc::gen::inRange(0, 3) == 0;
    const auto weight = accelerated ? *rc::gen::inRange<std::int64_t>(1, heaviest + 1) : 0;
    moves = binding.join(node, RackId{*rc::gen::inRange<std::uint32_t>(0, kRacks)}, weight);
  }
  return {moves.begin(), moves.end()};
}

// Stacks and hosts tell the same, within a rack, and a node is bound if its rack has an accelerator.
void check_bound(const NodeBinding& binding) {
  std::size_t stacked = 0;
  std::size_t bound = 0;
  for (const auto& [i, host] : hosts_of(binding)) {
    const NodeId node{i};
    const bool served = !accelerator_nodes(binding, binding.rack_of(node).value).empty();
    RC_ASSERT(host.valid() == served);
    if (!host.valid()) continue;
    RC_ASSERT(binding.present(host) && binding.has_accelerator(host));
    RC_ASSERT(binding.rack_of(host) == binding.rack_of(node));
    if (binding.has_accelerator(node)) {
      RC_ASSERT(host == node);
      stacked += binding.stack(node).size();
      continue;
    }
    ++bound;
    RC_ASSERT(std::ranges::count(binding.stack(host), node) == 1);
  }
  RC_ASSERT(stacked == bound);
}

void check_balance(const NodeBinding& binding) {
  for (std::uint32_t rack = 0; rack < kRacks; ++rack) {
    std::vector<std::size_t> sizes;
    for (const std::uint32_t host : accelerator_nodes(binding, rack)) {
      sizes.push_back(binding.stack(NodeId{host}).size());
    }
    if (sizes.empty()) continue;
    const auto [least, most] = std::ranges::minmax(sizes);
    RC_ASSERT(most - least <= 1);
  }
}

// How many nodes must be bound elsewhere than before for the stacks to be in balance: each stack keeps what it can, the
// largest ones one more where the nodes do not come out even.
std::size_t fewest_moves(const NodeBinding& after, const Hosts& before) {
  std::size_t fewest = 0;
  for (std::uint32_t rack = 0; rack < kRacks; ++rack) {
    std::map<std::uint32_t, std::size_t> kept;
    for (const std::uint32_t host : accelerator_nodes(after, rack)) kept[host] = 0;
    std::size_t nodes = 0;
    for (const auto& [node, host] : hosts_of(after)) {
      if (after.rack_of(NodeId{node}) != RackId{rack} || after.has_accelerator(NodeId{node})) continue;
      ++nodes;
      const auto was = before.find(node);
      if (was != before.end() && kept.contains(was->second.value)) ++kept[was->second.value];
    }
    if (kept.empty()) continue;
    std::vector<std::size_t> sizes;
    sizes.reserve(kept.size());
    for (const auto& [host, size] : kept) sizes.push_back(size);
    std::ranges::sort(sizes, std::greater<>());
    std::size_t stay = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      stay += std::min(sizes[i], nodes / sizes.size() + (i < nodes % sizes.size() ? 1 : 0));
    }
    fewest += nodes - stay;
  }
  return fewest;
}

std::size_t bound_elsewhere(const NodeBinding& after, const Hosts& before) {
  std::size_t moved = 0;
  for (const auto& [node, host] : hosts_of(after)) {
    if (after.has_accelerator(NodeId{node}) || !host.valid()) continue;
    const auto was = before.find(node);
    moved += was == before.end() || was->second != host ? 1U : 0U;
  }
  return moved;
}

RC_GTEST_PROP(BoundNodes, StacksOfARackDifferByOneAtMostAndNoEventMovesMoreThanItMust, ()) {
  NodeBinding binding;
  for (int i = *rc::gen::inRange(1, 80); i > 0; --i) {
    const Hosts before = hosts_of(binding);
    something_happens(binding);
    check_bound(binding);
    check_balance(binding);
    RC_ASSERT(bound_elsewhere(binding, before) == fewest_moves(binding, before));
  }
}

// Stacks of a rack: how many nodes each has, or had before and can keep.
struct Stack {
  std::int64_t weight;
  std::int64_t kept;
};

// Whether no node could move so that the larger (size + 1) / weight of both becomes smaller.
bool in_proportion(const std::vector<Stack>& stacks, const std::vector<std::int64_t>& sizes) {
  for (std::size_t a = 0; a < stacks.size(); ++a) {
    for (std::size_t b = 0; b < stacks.size(); ++b) {
      if (a == b || sizes[a] == 0) continue;
      if ((sizes[b] + 2) * stacks[a].weight < (sizes[a] + 1) * stacks[b].weight) return false;
    }
  }
  return true;
}

// The most nodes that stay where they are, tried for every way to share out those that are left.
std::int64_t most_that_stay(const std::vector<Stack>& stacks, std::vector<std::int64_t>& sizes, std::int64_t left) {
  if (sizes.size() + 1 == stacks.size()) {
    sizes.push_back(left);
    std::int64_t stay = -1;
    if (in_proportion(stacks, sizes)) {
      stay = 0;
      for (std::size_t i = 0; i < stacks.size(); ++i) stay += std::min(sizes[i], stacks[i].kept);
    }
    sizes.pop_back();
    return stay;
  }
  std::int64_t best = -1;
  for (std::int64_t size = 0; size <= left; ++size) {
    sizes.push_back(size);
    best = std::max(best, most_that_stay(stacks, sizes, left - size));
    sizes.pop_back();
  }
  return best;
}

// As check_balance() and fewest_moves(), by weight.
void check_proportion(const NodeBinding& after, const Hosts& before) {
  std::size_t fewest = 0;
  for (std::uint32_t rack = 0; rack < kRacks; ++rack) {
    std::map<std::uint32_t, Stack> by_host;
    for (const std::uint32_t host : accelerator_nodes(after, rack)) by_host[host] = {after.weight_of({host}), 0};
    std::int64_t nodes = 0;
    for (const auto& [node, host] : hosts_of(after)) {
      if (after.rack_of(NodeId{node}) != RackId{rack} || after.has_accelerator(NodeId{node})) continue;
      ++nodes;
      const auto was = before.find(node);
      if (was != before.end() && by_host.contains(was->second.value)) ++by_host[was->second.value].kept;
    }
    if (by_host.empty()) continue;
    std::vector<Stack> stacks;
    std::vector<std::int64_t> sizes;
    for (const auto& [host, stack] : by_host) {
      stacks.push_back(stack);
      sizes.push_back(static_cast<std::int64_t>(after.stack({host}).size()));
    }
    RC_ASSERT(in_proportion(stacks, sizes));
    sizes.clear();
    fewest += static_cast<std::size_t>(nodes - most_that_stay(stacks, sizes, nodes));
  }
  RC_ASSERT(bound_elsewhere(after, before) == fewest);
}

RC_GTEST_PROP(BoundNodes, StacksByWeightAreInProportionAndNoEventMovesMoreThanItMust, ()) {
  NodeBinding binding(NodeBinding::Stop::weighted);
  const auto heaviest = *rc::gen::inRange<std::int64_t>(1, 6);
  for (int i = *rc::gen::inRange(1, 40); i > 0; --i) {
    const Hosts before = hosts_of(binding);
    something_happens(binding, heaviest);
    check_bound(binding);
    check_proportion(binding, before);
  }
}

RC_GTEST_PROP(BoundNodes, EqualWeightsBindAsNone, ()) {
  NodeBinding balanced;
  NodeBinding weighted(NodeBinding::Stop::weighted);
  const auto weight = *rc::gen::inRange<std::int64_t>(1, 4000);
  for (int i = *rc::gen::inRange(1, 80); i > 0; --i) {
    const NodeId node{*rc::gen::inRange<std::uint32_t>(0, kNodes)};
    const RackId rack{*rc::gen::inRange<std::uint32_t>(0, kRacks)};
    const bool accelerated = *rc::gen::inRange(0, 3) == 0;
    if (balanced.present(node)) {
      balanced.leave(node);
      weighted.leave(node);
    } else {
      balanced.join(node, rack, accelerated ? 1 : 0);
      weighted.join(node, rack, accelerated ? weight : 0);
    }
    RC_ASSERT(hosts_of(balanced) == hosts_of(weighted));
  }
}

RC_GTEST_PROP(BoundNodes, ThePrintedRuleBindsTheSameNodesThoughNotEvenly, ()) {
  NodeBinding binding(NodeBinding::Stop::literal);
  for (int i = *rc::gen::inRange(1, 80); i > 0; --i) {
    something_happens(binding);
    check_bound(binding);
  }
}

RC_GTEST_PROP(BoundNodes, TheMovesTellAllThatChanged, ()) {
  NodeBinding binding(
      *rc::gen::element(NodeBinding::Stop::balanced, NodeBinding::Stop::literal, NodeBinding::Stop::weighted));
  Hosts by_moves;
  for (int i = *rc::gen::inRange(1, 80); i > 0; --i) {
    const auto moves = something_happens(binding, 3);
    for (const NodeBinding::Move& move : moves) {
      RC_ASSERT(move.from == (by_moves.contains(move.node.value) ? by_moves[move.node.value] : NodeId{}));
      RC_ASSERT(move.from != move.to);
      by_moves[move.node.value] = move.to;
    }
    for (const auto& [node, host] : hosts_of(binding)) {
      if (!binding.has_accelerator(NodeId{node})) RC_ASSERT(by_moves[node] == host);
    }
    std::erase_if(by_moves, [&](const auto& entry) { return !binding.present(NodeId{entry.first}); });
  }
}

// A cluster of a few nodes, maybe with accelerators.
Machine any_machine(std::uint32_t racks) {
  Machine machine;
  for (int i = *rc::gen::inRange(0, 10); i >= 0; --i) {
    Node& node = machine.nodes.emplace_back();
    node.rack = RackId{*rc::gen::inRange<std::uint32_t>(0, racks)};
    node.accelerators = *rc::gen::inRange<std::uint32_t>(0, 3);
    node.accelerator_speed = *rc::gen::inRange(1, 4000);
    node.accelerator_link = 1000;
  }
  machine.processors = static_cast<std::int64_t>(machine.nodes.size());
  return machine;
}

TaskSpec any_tasks() {
  TaskSpec tasks;
  tasks.count = *rc::gen::inRange<std::uint32_t>(1, 60);
  tasks.cpu = Duration{*rc::gen::inRange(1, 400)};
  tasks.accelerator = Duration{*rc::gen::inRange(1, 100)};
  tasks.start_up = Duration{*rc::gen::inRange(0, 50)};
  return tasks;
}

sim::ContainerModel any_containers() {
  return {{*rc::gen::inRange<std::size_t>(0, 4), *rc::gen::inRange<std::size_t>(0, 4), *rc::gen::inRange(0, 4) > 0},
          *rc::gen::inRange(0, 2) == 0,
          Duration{*rc::gen::inRange(0, 2) * *rc::gen::inRange(1, 40)}};
}

// Two jobs; nodes on which neither runs come and go.
RC_GTEST_PROP(BoundTasks, EachIsFinishedOnceWhicheverNodesComeAndGo, ()) {
  const Bind bind = *rc::gen::element(Bind::none, Bind::node, Bind::node_literal, Bind::node_weighted, Bind::slot,
                                      Bind::container, Bind::weighted, Bind::late);
  const Machine machine = any_machine(kRacks);
  TaskTable table;
  table.of_others = any_tasks();
  table.of_others->transfer = *rc::gen::inRange(0, 30);
  table.of_others->limit = Duration{*rc::gen::inRange(0, 2) * *rc::gen::inRange(1, 400)};
  sim::TaskCluster cluster(bind, machine, table, any_containers());
  const auto nodes = static_cast<std::uint32_t>(machine.nodes.size());
  std::vector<std::vector<std::uint32_t>> of_job(2);
  std::vector<NodeId> of_no_job;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const auto whose = i == 0 ? 0U : *rc::gen::inRange<std::uint32_t>(0, 4);
    if (whose < 2) {
      of_job[whose].push_back(i);
    } else {
      of_no_job.push_back(NodeId{i});
    }
  }
  const std::uint32_t jobs = of_job[1].empty() ? 1 : 2;
  for (std::uint32_t job = 0; job < jobs; ++job) cluster.start(job, of_job[job]);
  Duration now{0};
  for (int i = of_no_job.empty() ? 0 : *rc::gen::inRange(0, 12); i > 0; --i) {
    cluster.until(now += Duration{*rc::gen::inRange(1, 300)});
    const NodeId node = *rc::gen::elementOf(of_no_job);
    if (cluster.tasks().present(node)) {
      cluster.tasks().leave(node);
    } else {
      cluster.tasks().join(node);
    }
  }
  cluster.to_the_end();
  const sim::TaskUse use = cluster.use();
  RC_ASSERT(!cluster.tasks().breach());
  RC_ASSERT(use.on_cpu + use.local + use.remote == jobs * std::int64_t{table.of_others->count});
  for (std::uint32_t job = 0; job < jobs; ++job) RC_ASSERT(cluster.end_of(job) > table.of_others->start_up);
  if (bind != Bind::none) return;
  const bool too_long = table.of_others->limit > Duration{0} && table.of_others->cpu > table.of_others->limit;
  RC_ASSERT(use.local + use.remote == 0 && use.redone == (too_long ? use.on_cpu : 0));
}

// Without transfers, a job that has all nodes.
RC_GTEST_PROP(BoundTasks, LateIsNeverFarBehindTheBestSplit, ()) {
  const Machine machine = any_machine(1);
  const TaskSpec tasks = any_tasks();
  Duration longest = tasks.cpu;
  for (const Node& node : machine.nodes) {
    if (node.accelerators == 0) continue;
    longest = std::max(longest, Duration{tasks.accelerator.count() * kUnitSpeed / node.accelerator_speed + 1});
  }
  const auto nodes = static_cast<std::uint32_t>(machine.nodes.size());
  TaskTable table;
  table.of_others = tasks;
  RehearseOptions options = scenario::on(nodes);
  options.machine = std::make_shared<const Machine>(machine);
  options.tasks = std::make_shared<const TaskTable>(table);
  options.containers = any_containers();
  const std::vector<scenario::Row> rows{{.number = 1, .processors = nodes, .limit = 100'000, .run = 100'000}};
  const auto run_time = [&](const std::string& bind) {
    return scenario::outcome_of(rows, "fcfs+bind=" + bind, options).jobs.front().run_time();
  };
  RC_ASSERT(run_time("late") <= run_time("weighted") + longest);
}

}  // namespace
}  // namespace rota
