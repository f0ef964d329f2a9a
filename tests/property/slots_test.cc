// Binding of slots to accelerator nodes against laws, after any sequence of jobs that start and end and of nodes that
// come and go.
#include "policy/bind/slots.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace rota {
namespace {

constexpr std::uint32_t kNodes = 12;
constexpr std::uint32_t kRacks = 3;

struct Open {
  NodeId home;
  RackId rack;
};

using Hosts = std::map<SlotId, NodeId>;

// Nodes with accelerators and slots of jobs, as they come and go.
class SlotWorld {
 public:
  void something_happens() {
    if (*rc::gen::inRange(0, 4) == 0) return node_comes_or_goes();
    if (!jobs_.empty() && *rc::gen::inRange(0, 2) == 0) return job_ends();
    job_starts();
  }

  const SlotBinding& binding() const { return binding_; }
  const std::map<SlotId, Open>& open() const { return open_; }
  Hosts hosts_of_slots() const {
    Hosts hosts;
    for (const auto& [slot, where] : open_) hosts[slot] = binding_.bound_to(slot);
    return hosts;
  }
  std::vector<NodeId> accelerator_nodes(RackId rack) const {
    std::vector<NodeId> found;
    for (const auto& [node, where] : hosts_) {
      if (where == rack) found.push_back(node);
    }
    return found;
  }

 private:
  static RackId rack_of(NodeId node) { return RackId{node.value % kRacks}; }
  static NodeId some_node() { return NodeId{*rc::gen::inRange<std::uint32_t>(0, kNodes)}; }

  void node_comes_or_goes() {
    const NodeId node = some_node();
    if (hosts_.erase(node) > 0) return binding_.leave(node);
    hosts_[node] = rack_of(node);
    binding_.join(node, rack_of(node));
  }
  void job_starts() {
    std::vector<SlotId>& slots = jobs_.emplace_back();
    for (int n = *rc::gen::inRange(1, 4); n > 0; --n) {
      const NodeId home = some_node();
      for (int i = *rc::gen::inRange(1, 5); i > 0; --i) {
        const SlotId slot{next_++};
        binding_.open(slot, home, rack_of(home));
        open_[slot] = {home, rack_of(home)};
        slots.push_back(slot);
      }
    }
  }
  void job_ends() {
    const auto job = jobs_.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(jobs_));
    binding_.close(*job);
    for (const SlotId slot : *job) open_.erase(slot);
    jobs_.erase(job);
  }

  SlotBinding binding_;
  std::uint32_t next_ = 0;
  std::map<NodeId, RackId> hosts_;
  std::map<SlotId, Open> open_;
  std::vector<std::vector<SlotId>> jobs_;
};

// Every slot is in one stack of its rack, that of its host, if the rack has an accelerator; and stacks are in balance.
void check_stacks(const SlotWorld& world) {
  for (std::uint32_t r = 0; r < kRacks; ++r) {
    const auto hosts = world.accelerator_nodes(RackId{r});
    std::map<SlotId, NodeId> stacked;
    std::vector<std::size_t> sizes;
    for (const NodeId host : hosts) {
      sizes.push_back(world.binding().stack(host).size());
      for (const SlotId slot : world.binding().stack(host)) RC_ASSERT(stacked.emplace(slot, host).second);
    }
    std::size_t bound = 0;
    for (const auto& [slot, where] : world.open()) {
      if (where.rack != RackId{r}) continue;
      const NodeId host = world.binding().bound_to(slot);
      RC_ASSERT(host.valid() == !hosts.empty());
      if (!host.valid()) continue;
      ++bound;
      RC_ASSERT(stacked.contains(slot) && stacked.at(slot) == host);
    }
    RC_ASSERT(bound == stacked.size());
    if (sizes.empty()) continue;
    const auto [least, most] = std::ranges::minmax(sizes);
    RC_ASSERT(most - least <= 1);
  }
}

// How many slots must be bound to another node than before: each stack keeps what it can, the largest ones one more
// where the slots do not come out even.
std::size_t fewest_moves(const SlotWorld& world, const Hosts& before) {
  std::size_t fewest = 0;
  for (std::uint32_t r = 0; r < kRacks; ++r) {
    std::map<NodeId, std::size_t> kept;
    for (const NodeId host : world.accelerator_nodes(RackId{r})) kept[host] = 0;
    if (kept.empty()) continue;
    std::size_t slots = 0;
    for (const auto& [slot, where] : world.open()) {
      if (where.rack != RackId{r}) continue;
      ++slots;
      const auto was = before.find(slot);
      if (was != before.end() && kept.contains(was->second)) ++kept[was->second];
    }
    std::vector<std::size_t> sizes;
    for (const auto& [host, size] : kept) sizes.push_back(size);
    std::ranges::sort(sizes, std::greater<>());
    std::size_t stay = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      stay += std::min(sizes[i], slots / sizes.size() + (i < slots % sizes.size() ? 1 : 0));
    }
    fewest += slots - stay;
  }
  return fewest;
}

RC_GTEST_PROP(BoundSlots, StacksOfARackDifferByOneAtMostAndNoEventMovesMoreThanItMust, ()) {
  SlotWorld world;
  for (int i = *rc::gen::inRange(1, 80); i > 0; --i) {
    const Hosts before = world.hosts_of_slots();
    const std::uint64_t bindings = world.binding().bindings();
    world.something_happens();
    check_stacks(world);
    std::size_t elsewhere = 0;
    for (const auto& [slot, host] : world.hosts_of_slots()) {
      const auto was = before.find(slot);
      elsewhere += host.valid() && (was == before.end() || was->second != host) ? 1U : 0U;
    }
    RC_ASSERT(elsewhere == fewest_moves(world, before));
    RC_ASSERT(world.binding().bindings() - bindings == elsewhere);
  }
}

// A service that starts again: hosts that are still there get back the slots of jobs that still run.
RC_GTEST_PROP(BoundSlots, PutBackStayWhereTheyWereButForThoseThatBalanceAsksForWhereJobsHaveEndedMeanwhile, ()) {
  SlotWorld world;
  for (int i = *rc::gen::inRange(1, 80); i > 0; --i) world.something_happens();
  const auto one_in = *rc::gen::element<std::uint32_t>(1, 2, 3);  // so many are left
  SlotBinding again;
  for (std::uint32_t r = 0; r < kRacks; ++r)
    for (const NodeId host : world.accelerator_nodes(RackId{r})) again.join(host, RackId{r});
  for (const auto& [slot, where] : world.open()) {
    const NodeId host = world.binding().bound_to(slot);
    if (slot.value % one_in != 0 || !host.valid()) continue;
    again.put_back(slot, where.home, host);
    RC_ASSERT(again.bound_to(slot) == host);
  }
  again.take_moves();
  for (std::uint32_t r = 0; r < kRacks; ++r) {
    const auto hosts = world.accelerator_nodes(RackId{r});
    if (hosts.empty()) continue;
    again.balance(RackId{r});
    std::vector<std::size_t> sizes;
    for (const NodeId host : hosts) sizes.push_back(again.stack(host).size());
    RC_ASSERT(std::ranges::max(sizes) - std::ranges::min(sizes) <= 1);
  }
  if (one_in == 1) RC_ASSERT(again.take_moves().empty());
}

}  // namespace
}  // namespace rota
