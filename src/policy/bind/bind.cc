#include "policy/bind/bind.h"

#include <algorithm>

#include "base/check.h"

namespace rota {

NodeBinding::NodeBinding(Stop stop) : stop_(stop) {}

NodeBinding::Rack& NodeBinding::rack_at(RackId rack) {
  if (racks_.size() <= rack.value) racks_.resize(rack.value + 1);
  return racks_[rack.value];
}

void NodeBinding::push(NodeId node, NodeId host) {
  Member& to = members_[host.value];
  Rack& rack = racks_[to.rack.value];
  rack.stacks.erase({to.stack.size(), host});
  to.stack.push_back(node);
  rack.stacks.emplace(to.stack.size(), host);
  members_[node.value].host = host;
}

void NodeBinding::bind(NodeId node) {
  Rack& rack = racks_[members_[node.value].rack.value];
  if (rack.stacks.empty()) {
    rack.unbound.insert(node);
    members_[node.value].host = {};
    return;
  }
  push(node, stop_ == Stop::weighted ? least_loaded_with_one_more(rack) : rack.stacks.begin()->second);
}

// From its stack, wherever in it.
void NodeBinding::remove(NodeId node) {
  const NodeId host = members_[node.value].host;
  Member& from = members_[host.value];
  Rack& rack = racks_[from.rack.value];
  rack.stacks.erase({from.stack.size(), host});
  std::erase(from.stack, node);
  rack.stacks.emplace(from.stack.size(), host);
}

void NodeBinding::move_top(NodeId from, NodeId to) {
  const NodeId node = members_[from.value].stack.back();
  remove(node);
  push(node, to);
  moves_.push_back({node, from, to});
}

std::int64_t NodeBinding::served_by(NodeId host) const {
  return static_cast<std::int64_t>(members_[host.value].stack.size()) + 1;
}

// Whether so many nodes are more for the accelerators of a than so many are for those of b.
bool NodeBinding::higher(NodeId a, std::int64_t served_by_a, NodeId b, std::int64_t served_by_b) const {
  return served_by_a * members_[b.value].weight > served_by_b * members_[a.value].weight;
}

// There is one; among equal ones that of the lowest id, as everywhere.
NodeId NodeBinding::least_loaded_with_one_more(const Rack& rack) const {
  NodeId least;
  for (const auto& [size, host] : rack.stacks) {
    const auto with = served_by(host) + 1;
    const bool lower = !least.valid() || higher(least, served_by(least) + 1, host, with);
    if (lower || (host < least && !higher(host, with, least, served_by(least) + 1))) least = host;
  }
  return least;
}

// Among the stacks besides `but` that have a node; invalid: none has.
NodeId NodeBinding::most_loaded(const Rack& rack, NodeId but) const {
  NodeId most;
  for (const auto& [size, host] : rack.stacks) {
    if (size == 0 || host == but) continue;
    const bool above = !most.valid() || higher(host, served_by(host), most, served_by(most));
    if (above || (host < most && !higher(most, served_by(most), host, served_by(host)))) most = host;
  }
  return most;
}

// The largest stack, of equal ones that of the lowest id; there is one besides `but`.
NodeId NodeBinding::largest(const Rack& rack, NodeId but) const {
  auto last = rack.stacks.rbegin();
  if (last->second == but) ++last;
  auto first = rack.stacks.lower_bound({last->first, NodeId{0}});
  if (first->second == but) ++first;
  return first->second;
}

// Whether a stack that is being filled has enough.
bool NodeBinding::full(const Rack& rack, NodeId host) const {
  const std::size_t own = members_[host.value].stack.size();
  const std::size_t most = members_[largest(rack, host).value].stack.size();
  if (stop_ == Stop::balanced) return most <= own + 1;
  const auto& first = *rack.stacks.begin();
  const auto smallest = first.second == host ? std::next(rack.stacks.begin())->first : first.first;
  return own == smallest || most == 0;
}

void NodeBinding::fill(NodeId host) {
  Rack& rack = racks_[members_[host.value].rack.value];
  if (stop_ == Stop::weighted) {
    for (NodeId from = most_loaded(rack, host);
         from.valid() && higher(from, served_by(from), host, served_by(host) + 1); from = most_loaded(rack, host)) {
      move_top(from, host);
    }
    return;
  }
  if (rack.stacks.size() < 2) return;
  while (!full(rack, host)) move_top(largest(rack, host), host);
}

// A node has left the stack of `left`.
void NodeBinding::restore_balance(Rack& rack, NodeId left) {
  if (stop_ == Stop::literal) return;
  fill(stop_ == Stop::weighted ? left : rack.stacks.begin()->second);
}

std::span<const NodeBinding::Move> NodeBinding::join(NodeId node, RackId rack_id, std::int64_t weight) {
  CHECK(node.valid() && rack_id.valid() && !present(node), "a node joins when it is not there");
  CHECK(weight >= 0, "a weight is a speed");
  if (members_.size() <= node.value) members_.resize(node.value + 1);
  members_[node.value] = {rack_id, {}, true, weight, {}};
  moves_.clear();
  Rack& rack = rack_at(rack_id);
  if (weight == 0) {
    bind(node);
    if (const NodeId host = bound_to(node); host.valid()) moves_.push_back({node, {}, host});
    return moves_;
  }
  members_[node.value].host = node;
  rack.stacks.emplace(0, node);
  for (const NodeId waiting : rack.unbound) {
    push(waiting, node);
    moves_.push_back({waiting, {}, node});
  }
  rack.unbound.clear();
  fill(node);
  return moves_;
}

void NodeBinding::put_back(NodeId node, NodeId host) {
  CHECK(!present(node) && has_accelerator(host), "a node comes back to a stack");
  if (members_.size() <= node.value) members_.resize(node.value + 1);
  members_[node.value] = {members_[host.value].rack, host, true, 0, {}};
  push(node, host);
}

std::span<const NodeBinding::Move> NodeBinding::leave(NodeId node) {
  CHECK(present(node), "a node leaves when it is there");
  moves_.clear();
  Member& member = members_[node.value];
  Rack& rack = racks_[member.rack.value];
  member.present = false;
  if (member.weight > 0) {
    rack.stacks.erase({member.stack.size(), node});
    std::vector<NodeId> orphans = std::move(member.stack);
    member.stack.clear();
    std::ranges::sort(orphans);
    for (const NodeId orphan : orphans) {
      bind(orphan);
      moves_.push_back({orphan, node, bound_to(orphan)});
    }
    return moves_;
  }
  if (!member.host.valid()) {
    rack.unbound.erase(node);
    return moves_;
  }
  moves_.push_back({node, member.host, {}});
  remove(node);
  restore_balance(rack, member.host);
  return moves_;
}

}  // namespace rota
