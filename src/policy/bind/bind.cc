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
  push(node, rack.stacks.begin()->second);
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
  if (rack.stacks.size() < 2) return;
  while (!full(rack, host)) move_top(largest(rack, host), host);
}

void NodeBinding::restore_balance(Rack& rack) {
  if (stop_ == Stop::literal || rack.stacks.empty()) return;
  fill(rack.stacks.begin()->second);
}

std::span<const NodeBinding::Move> NodeBinding::join(NodeId node, RackId rack_id, bool has_accelerator) {
  CHECK(node.valid() && rack_id.valid() && !present(node), "a node joins when it is not there");
  if (members_.size() <= node.value) members_.resize(node.value + 1);
  members_[node.value] = {rack_id, {}, true, has_accelerator, {}};
  moves_.clear();
  Rack& rack = rack_at(rack_id);
  if (!has_accelerator) {
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

std::span<const NodeBinding::Move> NodeBinding::leave(NodeId node) {
  CHECK(present(node), "a node leaves when it is there");
  moves_.clear();
  Member& member = members_[node.value];
  Rack& rack = racks_[member.rack.value];
  member.present = false;
  if (member.accelerator) {
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
  restore_balance(rack);
  return moves_;
}

}  // namespace rota
