// Binding of nodes and tasks to accelerators against laws, after any sequence of nodes that come and go.
#include "policy/bind/bind.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/sim/offload.h"

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

// A node comes or goes, as chance will have it.
std::vector<NodeBinding::Move> something_happens(NodeBinding& binding) {
  const NodeId node{*rc::gen::inRange<std::uint32_t>(0, kNodes)};
  std::span<const NodeBinding::Move> moves;
  if (binding.present(node)) {
    moves = binding.leave(node);
  } else {
    moves = binding.join(node, RackId{*rc::gen::inRange<std::uint32_t>(0, kRacks)}, *rc::gen::inRange(0, 3) == 0);
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

RC_GTEST_PROP(BoundNodes, ThePrintedRuleBindsTheSameNodesThoughNotEvenly, ()) {
  NodeBinding binding(NodeBinding::Stop::literal);
  for (int i = *rc::gen::inRange(1, 80); i > 0; --i) {
    something_happens(binding);
    check_bound(binding);
  }
}

RC_GTEST_PROP(BoundNodes, TheMovesTellAllThatChanged, ()) {
  NodeBinding binding(*rc::gen::element(NodeBinding::Stop::balanced, NodeBinding::Stop::literal));
  Hosts told;
  for (int i = *rc::gen::inRange(1, 80); i > 0; --i) {
    const auto moves = something_happens(binding);
    for (const NodeBinding::Move& move : moves) {
      RC_ASSERT(move.from == (told.contains(move.node.value) ? told[move.node.value] : NodeId{}));
      RC_ASSERT(move.from != move.to);
      told[move.node.value] = move.to;
    }
    for (const auto& [node, host] : hosts_of(binding)) {
      if (!binding.has_accelerator(NodeId{node})) RC_ASSERT(told[node] == host);
    }
    std::erase_if(told, [&](const auto& entry) { return !binding.present(NodeId{entry.first}); });
  }
}

sim::Offload any_application(Bind bind) {
  sim::Offload offload;
  offload.bind = bind;
  offload.tasks = *rc::gen::inRange<std::uint32_t>(0, 60);
  offload.times = {Duration{*rc::gen::inRange(1, 400)}, Duration{*rc::gen::inRange(1, 100)}};
  offload.transfer = *rc::gen::inRange(0, 30);
  offload.bandwidth = 1000;
  offload.start_up = Duration{*rc::gen::inRange(0, 50)};
  offload.pipeline = {*rc::gen::inRange<std::size_t>(0, 4), *rc::gen::inRange<std::size_t>(0, 4),
                      *rc::gen::inRange(0, 4) > 0};
  for (int i = *rc::gen::inRange(0, 10); i >= 0; --i) {
    sim::OffloadNode node{.rack = RackId{*rc::gen::inRange<std::uint32_t>(0, kRacks)}};
    for (int k = *rc::gen::inRange(0, 3); k > 0; --k) node.speeds.push_back(*rc::gen::inRange(1, 4000));
    if (*rc::gen::inRange(0, 3) == 0) node.joins = kEpoch + Duration{*rc::gen::inRange(0, 800)};
    if (i > 0 && *rc::gen::inRange(0, 3) == 0) node.leaves = node.joins + Duration{*rc::gen::inRange(1, 800)};
    if (i > 0 && *rc::gen::inRange(0, 4) == 0) node.drains = node.joins + Duration{*rc::gen::inRange(1, 800)};
    offload.nodes.push_back(node);
  }
  return offload;
}

RC_GTEST_PROP(BoundTasks, EachIsFinishedOnceWhoeverComesAndGoes, ()) {
  const Bind bind =
      *rc::gen::element(Bind::none, Bind::node, Bind::node_literal, Bind::container, Bind::weighted, Bind::late);
  const sim::Offload offload = any_application(bind);
  const auto outcome = sim::run_offload(offload);
  RC_ASSERT(outcome.has_value());
  const auto sum = [](const std::vector<std::uint32_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
  };
  RC_ASSERT(sum(outcome->on_cpu) + sum(outcome->in_container) == offload.tasks);
  RC_ASSERT(outcome->makespan >= offload.start_up);
  if (std::ranges::all_of(offload.nodes, [](const sim::OffloadNode& n) { return n.leaves == kNever; })) {
    RC_ASSERT(outcome->redone == 0U);
  }
  if (bind == Bind::none) RC_ASSERT(sum(outcome->in_container) == 0U);
}

// With nobody coming or going, and without transfers.
RC_GTEST_PROP(BoundTasks, LateIsNeverFarBehindTheBestSplit, ()) {
  sim::Offload offload = any_application(Bind::late);
  offload.transfer = 0;
  for (sim::OffloadNode& node : offload.nodes) node = {.rack = RackId{0}, .speeds = node.speeds};
  const auto late = sim::run_offload(offload);
  offload.bind = Bind::weighted;
  const auto weighted = sim::run_offload(offload);
  RC_ASSERT(late.has_value() && weighted.has_value());
  Duration longest = offload.times.cpu;
  for (const sim::OffloadNode& node : offload.nodes) {
    for (const std::int32_t speed : node.speeds) {
      longest = std::max(longest, Duration{offload.times.accelerator.count() * kUnitSpeed / speed + 1});
    }
  }
  RC_ASSERT(late->makespan <= weighted->makespan + longest);
}

}  // namespace
}  // namespace rota
