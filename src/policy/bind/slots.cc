#include "policy/bind/slots.h"

#include <algorithm>

#include "base/check.h"

namespace rota {

SlotBinding::Rack& SlotBinding::rack_at(RackId rack) {
  if (racks_.size() <= rack.value) racks_.resize(rack.value + 1);
  return racks_[rack.value];
}

bool SlotBinding::has_smallest(const Rack& rack, NodeId host) const {
  if (host.value >= hosts_.size() || !hosts_[host.value].present) return false;
  return hosts_[host.value].stack.size() == rack.stacks.begin()->first;
}

void SlotBinding::push(SlotId slot, NodeId host) {
  Host& to = hosts_[host.value];
  auto& stacks = racks_[to.rack.value].stacks;
  stacks.erase({to.stack.size(), host});
  to.stack.push_back(slot);
  stacks.emplace(to.stack.size(), host);
  Slot& bound = slots_[slot.value];
  moved_ += bound.binding > 0 ? 1 : 0;
  moves_.push_back({slot, bound.home, bound.host, host});
  bound.host = host;
  bound.binding = ++bindings_;
}

void SlotBinding::bind(SlotId slot) {
  Slot& bound = slots_[slot.value];
  Rack& rack = racks_[bound.rack.value];
  if (rack.stacks.empty()) {
    if (bound.host.valid()) moves_.push_back({slot, bound.home, bound.host, {}});
    bound.host = {};
    bound.binding = 0;
    rack.unbound.insert(slot);
    return;
  }
  push(slot, has_smallest(rack, bound.home) ? bound.home : rack.stacks.begin()->second);
}

// From its stack, wherever in it.
void SlotBinding::remove(SlotId slot) {
  const NodeId host = slots_[slot.value].host;
  Host& from = hosts_[host.value];
  auto& stacks = racks_[from.rack.value].stacks;
  stacks.erase({from.stack.size(), host});
  std::erase(from.stack, slot);
  stacks.emplace(from.stack.size(), host);
}

// While the largest stack has at least two slots more than the smallest, its top moves over.
void SlotBinding::balance(RackId rack_id) {
  const auto& stacks = racks_[rack_id.value].stacks;
  while (!stacks.empty() && stacks.rbegin()->first > stacks.begin()->first + 1) {
    const NodeId largest = stacks.lower_bound({stacks.rbegin()->first, NodeId{0}})->second;
    const SlotId top = hosts_[largest.value].stack.back();
    remove(top);
    push(top, stacks.begin()->second);
  }
}

void SlotBinding::join(NodeId host, RackId rack_id) {
  if (hosts_.size() <= host.value) hosts_.resize(host.value + 1);
  CHECK(!hosts_[host.value].present, "a node joins when it is not there");
  hosts_[host.value] = {rack_id, true, {}};
  Rack& rack = rack_at(rack_id);
  rack.stacks.emplace(0, host);
  for (const SlotId waiting : std::exchange(rack.unbound, {})) push(waiting, host);
  balance(rack_id);
}

void SlotBinding::leave(NodeId host) {
  Host& left = hosts_[host.value];
  CHECK(left.present, "a node leaves when it is there");
  left.present = false;
  racks_[left.rack.value].stacks.erase({left.stack.size(), host});
  std::vector<SlotId> orphans = std::exchange(left.stack, {});
  std::ranges::sort(orphans);
  for (const SlotId orphan : orphans) bind(orphan);
}

void SlotBinding::open(SlotId slot, NodeId home, RackId rack) {
  if (slots_.size() <= slot.value) slots_.resize(slot.value + 1);
  CHECK(!slots_[slot.value].rack.valid(), "a slot opens when it is closed");
  slots_[slot.value] = {home, rack, {}, 0};
  rack_at(rack);
  bind(slot);
}

void SlotBinding::put_back(SlotId slot, NodeId home, NodeId host) {
  if (slots_.size() <= slot.value) slots_.resize(slot.value + 1);
  CHECK(!slots_[slot.value].rack.valid() && hosts_[host.value].present, "a slot opens when it is closed");
  slots_[slot.value] = {home, hosts_[host.value].rack, {}, 0};
  push(slot, host);
}

void SlotBinding::close(std::span<const SlotId> slots) {
  std::set<RackId> racks;
  for (const SlotId slot : slots) {
    const Slot& closed = slots_[slot.value];
    CHECK(closed.rack.valid(), "a slot closes when it is open");
    racks.insert(closed.rack);
    if (closed.host.valid()) {
      remove(slot);
    } else {
      racks_[closed.rack.value].unbound.erase(slot);
    }
    slots_[slot.value] = {};
  }
  for (const RackId rack : racks) balance(rack);
}

}  // namespace rota
