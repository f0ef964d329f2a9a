#include "model/node_space.h"

#include <algorithm>
#include <functional>

#include "base/check.h"

namespace rota {

NodeSpace::NodeSpace(const Machine* machine, IdleOrder order, NodeOrder nodes)
    : machine_(machine), order_(order), node_order_(nodes), idle_(machine ? machine->nodes.size() : 0) {
  if (!machine) return;
  for (const Node& node : machine->nodes) add_node(node);
  for (const Licence& licence : machine->licences) licences_.push_back(licence.count);
  const auto there = [](const Kind& k) { return k.processors > 0; };  // those of others have gone
  const auto first = std::ranges::find_if(kinds_, there);
  const auto same_shape = [&](const Kind& k) {
    return !there(k) || (k.processors == first->processors && k.memory == first->memory);
  };
  if (first != kinds_.end() && std::ranges::all_of(kinds_, same_shape)) uniform_ = first->processors;
  for (const Kind& kind : kinds_) {
    if (there(kind)) factors_.push_back(kind.cpu_factor);
  }
  std::sort(factors_.begin(), factors_.end(), std::greater<>());
  factors_.erase(std::unique(factors_.begin(), factors_.end()), factors_.end());
  for (Kind& kind : kinds_) {
    kind.idle = IdSet(kind.members.size());
    kind.part.assign(std::min(kind.processors, kLevels), IdSet(kind.members.size()));
    for (Group& group : kind.groups) group.members = IdSet(kind.members.size());
    for (const std::uint32_t node : kind.members) {
      kind.groups[nodes_[node].group].members.insert(nodes_[node].place);
    }
  }
  idle_clock_ = nodes_.size();
  for (auto i = static_cast<std::uint32_t>(nodes_.size()); i-- > 0;) {
    nodes_[i].fell_idle = idle_clock_ - i;
    enter(i);
  }
}

void NodeSpace::add_node(const Node& node) {
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  NodeState& state = nodes_.emplace_back();
  state.free = static_cast<std::int32_t>(node.processors);
  state.per_node = {node.memory > 0 ? node.memory : PerNode::kUnlimited, static_cast<std::int32_t>(node.accelerators)};
  state.kind = kind_of(node, state.per_node.memory);
  state.place = static_cast<std::uint32_t>(kinds_[state.kind].members.size());
  Kind& kind = kinds_[state.kind];
  kind.members.push_back(id);
  state.group = group_of(kind, node);
  if (state.group == kind.groups.size()) kind.groups.push_back({.first = id, .mixed = state.group + 1 == kMostGroups});
  memory_matters_ = memory_matters_ || node.memory > 0;
  for (const PartitionId p : node.partitions) {
    if (p.value < 64) state.partitions |= std::uint64_t{1} << p.value;
  }
}

std::uint32_t NodeSpace::kind_of(const Node& node, std::int64_t memory) {
  const auto alike = [&](const Kind& k) {
    return k.processors == node.processors && k.memory == memory && k.cpu_factor == node.cpu_factor;
  };
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), alike);
  const auto index = static_cast<std::uint32_t>(found - kinds_.begin());
  if (found != kinds_.end()) return index;
  Kind& kind = kinds_.emplace_back();
  kind.processors = node.processors;
  kind.memory = memory;
  kind.cpu_factor = node.cpu_factor;
  return index;
}

std::uint8_t NodeSpace::group_of(const Kind& kind, const Node& node) const {
  const auto same = [&](const Group& g) {
    const Node& first = machine_->nodes[g.first];
    return g.mixed || (first.partitions == node.partitions && first.accelerators == node.accelerators &&
                       first.accelerator_type == node.accelerator_type && first.features == node.features);
  };
  return static_cast<std::uint8_t>(std::ranges::find_if(kind.groups, same) - kind.groups.begin());
}

bool NodeSpace::in_partition(NodeId node, PartitionId partition) const {
  if (!partition.valid()) return true;
  if (partition.value < 64) return (nodes_[node.value].partitions >> partition.value & 1U) != 0;
  const auto& in = machine_->nodes[node.value].partitions;
  return std::binary_search(in.begin(), in.end(), partition);
}

bool NodeSpace::has_type(NodeId node, const JobSpec& spec) const {
  return machine_->nodes[node.value].accelerator_type == spec.accelerator_type;
}

bool NodeSpace::admits_like(NodeId node, const JobSpec& spec) const {
  return in_partition(node, spec.partition) && (!spec.accelerator_type.valid() || has_type(node, spec)) &&
         (!spec.node_wish || spec.node_wish->suits(machine_->nodes[node.value].features));
}

NodeSpace::Demand NodeSpace::demand_of(const JobSpec& spec) const {
  const bool some = spec.partition.valid() && machine_->partitions[spec.partition.value].nodes.size() < size();
  return {Spread(spec), spec,
          some || (spec.memory > 0 && memory_matters_) || spec.accelerators > 0 || spec.node_wish != nullptr};
}

Needs NodeSpace::needs_of(const JobSpec& spec) const {
  const Demand d = demand_of(spec);
  if (spec.licence.valid() || spec.accelerators > 0 || spec.node_wish) return Needs::places;
  if (d.nodes == 0 && !d.selective) return Needs::processors;
  const bool some = spec.partition.valid() && machine_->partitions[spec.partition.value].nodes.size() < size();
  const bool whole = d.nodes > 0 && uniform() > 0 && d.share == uniform() && d.larger == 0;  // and so their memory too
  return whole && !some ? Needs::whole_nodes : Needs::places;
}

bool NodeSpace::fits(const Placement& placement) const {
  if (!has_licences(placement)) return false;
  return std::all_of(placement.shares.begin(), placement.shares.end(), [&](const Share& s) {
    const NodeState& node = nodes_[s.node.value];
    return node.available && node.free >= std::int64_t{s.processors} && node.per_node.covers(placement.per_node);
  });
}

void NodeSpace::enter(std::uint32_t node) {
  NodeState& state = nodes_[node];
  Kind& kind = kinds_[state.kind];
  const bool idle = state.free == kind.size();
  if (!idle) ++busy_;
  state.found = state.available && !state.overdrawn();
  if (!state.found) {
    overdrawn_ += state.overdrawn() ? 1U : 0U;
    withheld_ += state.free;
    return;
  }
  free_ += state.free;
  kind.unused += state.free;
  if (idle) {
    idle_.insert(node);
    kind.idle.insert(state.place);
    if (order_ == IdleOrder::latest_first) link_idle(node);
  } else if (state.free > 0) {
    const std::uint32_t level = kind.level(static_cast<std::uint32_t>(state.free)) - 1;
    kind.part[level].insert(state.place);
    kind.levels |= std::uint64_t{1} << level;
  }
}

void NodeSpace::leave(std::uint32_t node) {
  NodeState& state = nodes_[node];
  Kind& kind = kinds_[state.kind];
  const bool idle = state.free == kind.size();
  if (!idle) --busy_;
  if (!state.found) {
    overdrawn_ -= state.overdrawn() ? 1U : 0U;
    withheld_ -= state.free;
    return;
  }
  free_ -= state.free;
  kind.unused -= state.free;
  if (idle) {
    idle_.erase(node);
    kind.idle.erase(state.place);
    if (order_ == IdleOrder::latest_first) unlink_idle(node);
  } else if (state.free > 0) {
    const std::uint32_t level = kind.level(static_cast<std::uint32_t>(state.free)) - 1;
    kind.part[level].erase(state.place);
    if (kind.part[level].empty()) kind.levels &= ~(std::uint64_t{1} << level);
  }
}

void NodeSpace::link_idle(std::uint32_t node) {
  NodeState& state = nodes_[node];
  Group& group = kinds_[state.kind].groups[state.group];
  state.newer = kNone;
  state.older = group.newest;
  while (state.older != kNone && nodes_[state.older].fell_idle > state.fell_idle) {
    state.newer = state.older;
    state.older = nodes_[state.older].older;
  }
  if (state.older != kNone) nodes_[state.older].newer = node;
  (state.newer == kNone ? group.newest : nodes_[state.newer].older) = node;
  if (state.older == kNone) group.oldest = node;
}

void NodeSpace::unlink_idle(std::uint32_t node) {
  const NodeState& state = nodes_[node];
  Group& group = kinds_[state.kind].groups[state.group];
  (state.older == kNone ? group.oldest : nodes_[state.older].newer) = state.newer;
  (state.newer == kNone ? group.newest : nodes_[state.newer].older) = state.older;
}

// Takes (sign -1) or gives back (sign 1).
void NodeSpace::change(std::uint32_t node, std::int64_t processors, const PerNode& held, std::int32_t sign) {
  leave(node);
  NodeState& state = nodes_[node];
  state.free = static_cast<std::int32_t>(state.free + sign * processors);
  state.per_node.change(held, sign);
  enter(node);
  note(node);
}

inline void NodeSpace::hold(const Share& share, const PerNode& per_node) {
  if (share.processors != kinds_[nodes_[share.node.value].kind].processors) ++parts_held_;
  change(share.node.value, share.processors, per_node, -1);
}

void NodeSpace::occupy(const Placement& placement) {
  each_licence(placement, [&](LicenceId id, std::uint32_t count) { licences_[id.value] -= count; });
  for (const Share& s : placement.shares) {
    const NodeState& node = nodes_[s.node.value];
    const bool has_room = node.free >= std::int64_t{s.processors} && node.per_node.covers(placement.per_node);
    CHECK(has_room, "a job goes where there is room for it");
    hold(s, placement.per_node);
  }
}

void NodeSpace::take_unasked(const Placement& placement) {
  each_licence(placement, [&](LicenceId id, std::uint32_t count) { licences_[id.value] -= count; });
  for (const Share& s : placement.shares) hold(s, placement.per_node);
}

void NodeSpace::give(const Placement& placement, Instant now) {
  each_licence(placement, [&](LicenceId id, std::uint32_t count) { licences_[id.value] += count; });
  for (const Share& s : placement.shares) {
    NodeState& state = nodes_[s.node.value];
    if (state.free + std::int64_t{s.processors} == kinds_[state.kind].size()) {
      state.fell_idle = ++idle_clock_;
      state.idle_since = now;
    }
    if (s.processors != kinds_[state.kind].processors) --parts_held_;
    change(s.node.value, s.processors, placement.per_node, 1);
  }
}

void NodeSpace::set_available(NodeId node, bool available) {
  leave(node.value);
  nodes_[node.value].available = available;
  enter(node.value);
  note(node.value);
}

void NodeSpace::wake(NodeId node, Instant now) {
  nodes_[node.value].fell_idle = ++idle_clock_;
  nodes_[node.value].idle_since = now;
  set_available(node, true);
}

void NodeSpace::put_back(NodeId node, std::uint64_t fell_idle, Instant idle_since) {
  leave(node.value);
  nodes_[node.value].fell_idle = fell_idle;
  nodes_[node.value].idle_since = idle_since;
  idle_clock_ = std::max(idle_clock_, fell_idle);
  enter(node.value);
  note(node.value);
}

void NodeSpace::note(std::uint32_t node) {
  if (changed_.size() >= 2 * nodes_.size() + 64) {  // a space that lags so far behind copies the whole
    forgotten_ += changed_.size();
    changed_.clear();
  }
  changed_.push_back(node);
}

void NodeSpace::copy_node(std::uint32_t node, const NodeSpace& other) {
  NodeState& state = nodes_[node];
  const NodeState& from = other.nodes_[node];
  const bool same = state.free == from.free && state.per_node == from.per_node && state.fell_idle == from.fell_idle &&
                    state.available == from.available;
  if (same) return;  // a start that was drafted here and carried out there, mostly
  leave(node);
  state.free = from.free;
  state.per_node = from.per_node;
  state.available = from.available;
  state.fell_idle = from.fell_idle;
  state.idle_since = from.idle_since;
  enter(node);
  note(node);
}

void NodeSpace::follow(const NodeSpace& other) {
  std::uint64_t own = followed_ == &other && machine_ == other.machine_ ? own_ : kNeverSeen;
  std::vector<std::uint32_t>& mine = scratch_;
  mine.clear();
  const auto collect = [&](NodeId node) { mine.push_back(node.value); };
  const bool known = changes_since(own, collect) && other.changes_since(seen_, collect);
  if (known) {
    for (const std::uint32_t node : mine) copy_node(node, other);
    idle_clock_ = other.idle_clock_;
    if (!licences_.empty()) licences_ = other.licences_;
  } else {
    const std::uint64_t forgotten = forgotten_ + changed_.size() + 1;  // a space that follows this must copy the whole
    *this = other;
    changed_.clear();
    forgotten_ = forgotten;
    seen_ = kNeverSeen;
    other.changes_since(seen_, [](NodeId) {});
  }
  followed_ = &other;
  own_ = forgotten_ + changed_.size();
}

void NodeSpace::describe_anew(NodeSpace fresh) {
  fresh.descriptions_ = descriptions_ + 1;
  fresh.forgotten_ = forgotten_ + changed_.size() + 1;
  fresh.changed_.clear();
  *this = std::move(fresh);
}

void NodeSpace::set_free(NodeId node, std::int64_t processors, const PerNode& per_node) {
  NodeState& state = nodes_[node.value];
  if (processors == state.free && per_node == state.per_node) return;
  leave(node.value);
  state.free = static_cast<std::int32_t>(processors);
  state.per_node = per_node;
  enter(node.value);
  note(node.value);
}

}  // namespace rota
