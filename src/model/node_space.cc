#include "model/node_space.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/check.h"

namespace rota {

NodeSpace::NodeSpace(const Machine* machine, IdleOrder order)
    : machine_(machine), order_(order), idle_(machine ? machine->nodes.size() : 0) {
  if (!machine) return;
  for (const Node& node : machine->nodes) add_node(node);
  for (const Licence& licence : machine->licences) licences_.push_back(licence.count);
  const auto same_shape = [&](const Kind& k) {
    return k.processors == kinds_[0].processors && k.memory == kinds_[0].memory;
  };
  if (!kinds_.empty() && std::all_of(kinds_.begin(), kinds_.end(), same_shape)) uniform_ = kinds_[0].processors;
  for (const Kind& kind : kinds_) factors_.push_back(kind.cpu_factor);
  std::sort(factors_.begin(), factors_.end(), std::greater<>());
  factors_.erase(std::unique(factors_.begin(), factors_.end()), factors_.end());
  for (Kind& kind : kinds_) {
    kind.idle = IdSet(kind.members.size());
    kind.part.assign(std::min(kind.processors, kLevels), IdSet(kind.members.size()));
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
  state.free = node.processors;
  state.rest = {node.memory > 0 ? node.memory : PerNode::kUnlimited, static_cast<std::int32_t>(node.accelerators)};
  state.kind = kind_of(node, state.rest.memory);
  state.place = static_cast<std::uint32_t>(kinds_[state.kind].members.size());
  kinds_[state.kind].members.push_back(id);
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

bool NodeSpace::in_partition(NodeId node, PartitionId partition) const {
  if (!partition.valid()) return true;
  if (partition.value < 64) return (nodes_[node.value].partitions >> partition.value & 1U) != 0;
  const auto& in = machine_->nodes[node.value].partitions;
  return std::binary_search(in.begin(), in.end(), partition);
}

bool NodeSpace::has_type(NodeId node, const JobSpec& spec) const {
  return machine_->nodes[node.value].accelerator_type == spec.accelerator_type;
}

NodeSpace::Demand NodeSpace::demand_of(const JobSpec& spec) const {
  const std::uint32_t nodes = std::min(spec.nodes, spec.processors);
  const bool some = spec.partition.valid() && machine_->partitions[spec.partition.value].nodes.size() < size();
  return {nodes, nodes == 0 ? 0 : spec.processors / nodes, nodes == 0 ? 0 : spec.processors % nodes, spec,
          some || (spec.memory > 0 && memory_matters_) || spec.accelerators > 0};
}

Needs NodeSpace::needs_of(const JobSpec& spec) const {
  const Demand d = demand_of(spec);
  if (spec.licence.valid() || spec.accelerators > 0) return Needs::places;
  if (d.nodes == 0 && !d.selective) return Needs::processors;
  const bool some = spec.partition.valid() && machine_->partitions[spec.partition.value].nodes.size() < size();
  const bool whole = uniform() > 0 && d.share == uniform() && d.larger == 0;  // and so their memory too
  return whole && !some ? Needs::whole_nodes : Needs::places;
}

bool NodeSpace::find(const JobSpec& spec, Placement& where, std::int32_t least_factor) const {
  if (spec.licence.valid() && licences_free(spec.licence) < spec.licences) return false;
  Demand d = demand_of(spec);
  const bool all_slower = !factors_.empty() && factors_[0] < least_factor;
  if (!factors_differ()) return !all_slower && find_at_once(spec, d, where);
  d.selective = true;
  std::int64_t free = 0;
  for (const std::int32_t factor : factors_) {
    if (factor < least_factor) return false;
    for (const Kind& kind : kinds_) free += kind.cpu_factor == factor ? kind.unused : 0;
    d.least_factor = factor;
    if (free >= spec.processors && find_at_once(spec, d, where)) return true;
  }
  return false;
}

std::int32_t NodeSpace::cpu_factor(const Placement& placement) const {
  std::int32_t slowest = INT32_MAX;
  for (const Share& s : placement.shares) slowest = std::min(slowest, cpu_factor(s.node));
  return slowest;
}

NodeId NodeSpace::fastest_with_room() const {
  std::uint32_t best = kNone;
  for (const std::int32_t factor : factors_) {
    for (const Kind& kind : kinds_) {
      if (kind.cpu_factor != factor || kind.unused == 0) continue;
      if (const std::uint32_t idle = kind.idle.first(); idle != kNone) best = std::min(best, kind.members[idle]);
      for (std::uint64_t rest = kind.levels; rest != 0; rest &= rest - 1) {
        const IdSet& level = kind.part[static_cast<std::size_t>(std::countr_zero(rest))];
        best = std::min(best, kind.members[level.first()]);
      }
    }
    if (best != kNone) return NodeId{best};
  }
  return {};
}

bool NodeSpace::find_at_once(const JobSpec& spec, const Demand& d, Placement& where) const {
  where.shares.clear();
  where.per_node = spec.per_node();
  where.licence = spec.licence;
  where.licences = spec.licences;
  if (d.nodes == 0) return spread(spec.processors, d, where.shares);
  equal_shares(d.larger, d.share + 1, d, where.shares);
  if (where.shares.size() == d.larger) equal_shares(d.nodes, d.share, d, where.shares);
  return where.shares.size() == d.nodes;
}

std::uint32_t NodeSpace::first_idle(const Kind& kind) const {
  if (order_ == IdleOrder::latest_first) return kind.newest;
  const std::uint32_t place = kind.idle.first();
  return place == kNone ? kNone : kind.members[place];
}

std::uint32_t NodeSpace::next_idle(const Kind& kind, std::uint32_t node) const {
  if (order_ == IdleOrder::latest_first) return nodes_[node].older;
  const std::uint32_t place = kind.idle.next(nodes_[node].place + 1);
  return place == kNone ? kNone : kind.members[place];
}

bool NodeSpace::spread(std::uint32_t processors, const Demand& d, std::vector<Share>& out) const {
  if (free_ < processors) return false;
  std::uint32_t left = processors;
  const std::uint32_t spare = take_whole_nodes(left, d, out);
  if (left == 0) return true;
  std::uint32_t last = best_fit(left, d);
  if (last == kNone) last = spare;
  if (last == kNone) return gather_scraps(left, d, out);
  out.push_back({NodeId{last}, left});
  return true;
}

// Takes idle nodes as long as the job fills them. What comes back is the smallest of those left over; kNone: none.
std::uint32_t NodeSpace::take_whole_nodes(std::uint32_t& left, const Demand& d, std::vector<Share>& out) const {
  std::uint32_t spare = kNone;
  for (const Kind& kind : kinds_) {
    if (left == 0) break;
    if (kind.cpu_factor < d.least_factor) continue;
    for (std::uint32_t node = first_idle(kind); node != kNone; node = next_idle(kind, node)) {
      if (!suits(node, d)) continue;
      if (left < kind.processors) {
        if (spare == kNone || kind.processors < kinds_[nodes_[spare].kind].processors) spare = node;
        break;
      }
      out.push_back({NodeId{node}, kind.processors});
      left -= kind.processors;
    }
  }
  return spare;
}

// The node used in part that would have the least left over; kNone: none has room.
std::uint32_t NodeSpace::best_fit(std::uint32_t processors, const Demand& d) const {
  std::uint32_t best = kNone;
  for (const Kind& kind : kinds_) {
    if (processors >= kind.processors) continue;
    const std::uint32_t lowest = kind.level(processors);
    for (std::uint64_t rest = kind.levels >> (lowest - 1) << (lowest - 1); rest != 0; rest &= rest - 1) {
      const IdSet& level = kind.part[static_cast<std::size_t>(std::countr_zero(rest))];
      const std::uint32_t before = best;
      for (std::uint32_t place = level.first(); place != kNone && best == before; place = level.next(place + 1)) {
        const std::uint32_t node = kind.members[place];
        if (nodes_[node].free < processors || !suits(node, d)) continue;
        if (best == kNone || nodes_[node].free < nodes_[best].free) best = node;
      }
      if (best != before) break;
    }
  }
  return best;
}

// The emptiest first, so that the job is spread over few nodes; no node is idle.
bool NodeSpace::gather_scraps(std::uint32_t left, const Demand& d, std::vector<Share>& out) const {
  for (std::uint32_t l = kLevels; l > 0; --l) {
    for (const Kind& kind : kinds_) {
      if ((kind.levels >> (l - 1) & 1U) == 0) continue;
      const IdSet& level = kind.part[l - 1];
      for (std::uint32_t place = level.first(); place != kNone; place = level.next(place + 1)) {
        const std::uint32_t node = kind.members[place];
        if (!suits(node, d)) continue;
        const std::uint32_t share = std::min(left, nodes_[node].free);
        out.push_back({NodeId{node}, share});
        left -= share;
        if (left == 0) return true;
      }
    }
  }
  return false;
}

// Adds shares until there are `count` of them: of the fullest nodes that have room, then of idle ones.
void NodeSpace::equal_shares(std::uint32_t count, std::uint32_t share, const Demand& d, std::vector<Share>& out) const {
  const std::size_t larger = out.size();  // nodes that have a share already
  const auto add = [&](std::uint32_t node) {
    if (nodes_[node].free < share || !suits(node, d)) return;
    const auto same = [&](const Share& s) { return s.node.value == node; };
    if (larger > 0 && std::any_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(larger), same)) return;
    out.push_back({NodeId{node}, share});
  };
  for (const Kind& kind : kinds_) {
    if (share >= kind.processors) continue;
    const std::uint32_t lowest = kind.level(share);
    for (std::uint64_t rest = kind.levels >> (lowest - 1) << (lowest - 1); rest != 0; rest &= rest - 1) {
      const IdSet& level = kind.part[static_cast<std::size_t>(std::countr_zero(rest))];
      for (std::uint32_t p = level.first(); p != kNone && out.size() < count; p = level.next(p + 1))
        add(kind.members[p]);
    }
  }
  for (const Kind& kind : kinds_) {
    if (share > kind.processors) continue;
    for (std::uint32_t n = first_idle(kind); n != kNone && out.size() < count; n = next_idle(kind, n)) add(n);
  }
}

bool NodeSpace::fits(const Placement& placement) const {
  if (placement.licence.valid() && licences_free(placement.licence) < placement.licences) return false;
  return std::all_of(placement.shares.begin(), placement.shares.end(), [&](const Share& s) {
    const NodeState& node = nodes_[s.node.value];
    return node.available && node.free >= s.processors && node.rest.covers(placement.per_node);
  });
}

void NodeSpace::enter(std::uint32_t node) {
  NodeState& state = nodes_[node];
  Kind& kind = kinds_[state.kind];
  const bool idle = state.free == kind.processors;
  if (!idle) ++busy_;
  (state.available ? free_ : withheld_) += state.free;
  if (!state.available) return;
  kind.unused += state.free;
  if (idle) {
    idle_.insert(node);
    kind.idle.insert(state.place);
    if (order_ == IdleOrder::latest_first) link_idle(node);
  } else if (state.free > 0) {
    const std::uint32_t level = kind.level(state.free) - 1;
    kind.part[level].insert(state.place);
    kind.levels |= std::uint64_t{1} << level;
  }
}

void NodeSpace::leave(std::uint32_t node) {
  NodeState& state = nodes_[node];
  Kind& kind = kinds_[state.kind];
  const bool idle = state.free == kind.processors;
  if (!idle) --busy_;
  (state.available ? free_ : withheld_) -= state.free;
  if (!state.available) return;
  kind.unused -= state.free;
  if (idle) {
    idle_.erase(node);
    kind.idle.erase(state.place);
    if (order_ == IdleOrder::latest_first) unlink_idle(node);
  } else if (state.free > 0) {
    const std::uint32_t level = kind.level(state.free) - 1;
    kind.part[level].erase(state.place);
    if (kind.part[level].empty()) kind.levels &= ~(std::uint64_t{1} << level);
  }
}

void NodeSpace::link_idle(std::uint32_t node) {
  NodeState& state = nodes_[node];
  Kind& kind = kinds_[state.kind];
  state.newer = kNone;
  state.older = kind.newest;
  while (state.older != kNone && nodes_[state.older].fell_idle > state.fell_idle) {
    state.newer = state.older;
    state.older = nodes_[state.older].older;
  }
  if (state.older != kNone) nodes_[state.older].newer = node;
  (state.newer == kNone ? kind.newest : nodes_[state.newer].older) = node;
  if (state.older == kNone) kind.oldest = node;
}

void NodeSpace::unlink_idle(std::uint32_t node) {
  const NodeState& state = nodes_[node];
  (state.older == kNone ? kinds_[state.kind].oldest : nodes_[state.older].newer) = state.newer;
  (state.newer == kNone ? kinds_[state.kind].newest : nodes_[state.newer].older) = state.older;
}

// Takes (sign -1) or gives back (sign 1).
void NodeSpace::change(std::uint32_t node, std::int64_t processors, const PerNode& held, std::int32_t sign) {
  leave(node);
  NodeState& state = nodes_[node];
  state.free = static_cast<std::uint32_t>(state.free + sign * processors);
  state.rest.change(held, sign);
  enter(node);
  note(node);
}

void NodeSpace::take(const Placement& placement) {
  if (placement.licence.valid()) licences_[placement.licence.value] -= placement.licences;
  for (const Share& s : placement.shares) {
    const NodeState& node = nodes_[s.node.value];
    const bool has_room = node.free >= s.processors && node.rest.covers(placement.per_node);
    CHECK(has_room, "a job goes where there is room for it");
    if (s.processors != kinds_[node.kind].processors) ++parts_held_;
    change(s.node.value, s.processors, placement.per_node, -1);
  }
}

void NodeSpace::give(const Placement& placement, Instant now) {
  if (placement.licence.valid()) licences_[placement.licence.value] += placement.licences;
  for (const Share& s : placement.shares) {
    NodeState& state = nodes_[s.node.value];
    if (state.free + s.processors == kinds_[state.kind].processors) {
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
  if (changed_.size() >= 2 * nodes_.size() + 64) {  // whoever lags so far behind copies the whole
    forgotten_ += changed_.size();
    changed_.clear();
  }
  changed_.push_back(node);
}

void NodeSpace::copy_node(std::uint32_t node, const NodeSpace& other) {
  NodeState& state = nodes_[node];
  const NodeState& from = other.nodes_[node];
  const bool same = state.free == from.free && state.rest == from.rest && state.fell_idle == from.fell_idle &&
                    state.available == from.available;
  if (same) return;  // a start that was drafted here and carried out there, mostly
  leave(node);
  state.free = from.free;
  state.rest = from.rest;
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
    const std::uint64_t forgotten = forgotten_ + changed_.size() + 1;  // whoever follows this must copy the whole too
    *this = other;
    changed_.clear();
    forgotten_ = forgotten;
    seen_ = kNeverSeen;
    other.changes_since(seen_, [](NodeId) {});
  }
  followed_ = &other;
  own_ = forgotten_ + changed_.size();
}

void NodeSpace::set_free(NodeId node, std::int64_t processors, const PerNode& rest) {
  NodeState& state = nodes_[node.value];
  if (processors == state.free && rest == state.rest) return;
  change(node.value, processors - state.free, {}, 1);
  state.rest = rest;
}

}  // namespace rota
