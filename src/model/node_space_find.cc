// Where a job would go among the nodes that are free.
#include <algorithm>
#include <bit>

#include "model/node_space.h"

namespace rota {

NodeSpace::Groups NodeSpace::groups_for(const Kind& kind, const Demand& d) const {
  if (!d.selective) return ~Groups{0};
  Groups groups = 0;
  if (kind.cpu_factor < d.least_factor || (d.spec.memory > 0 && kind.memory < d.spec.memory)) return groups;
  for (std::size_t g = 0; g < kind.groups.size(); ++g) {
    const Group& group = kind.groups[g];
    const auto there = static_cast<std::int32_t>(machine_->nodes[group.first].accelerators);
    const bool suits = there >= d.spec.accelerators && admits_like(NodeId{group.first}, d.spec);
    if (group.mixed || suits) groups |= Groups{1} << g;
  }
  const bool all = groups == static_cast<Groups>((std::uint64_t{1} << kind.groups.size()) - 1);
  return all ? ~Groups{0} : groups;
}

std::uint32_t NodeSpace::next_of(const Kind& kind, const IdSet& set, Groups groups, std::uint32_t from) {
  if (groups == ~Groups{0}) return set.next(from);
  std::uint32_t next = kNone;
  for (; groups != 0; groups &= groups - 1) {
    next = std::min(next, set.next_in(kind.groups[static_cast<std::size_t>(std::countr_zero(groups))].members, from));
  }
  return next;
}

NodeSpace::IdleWalk::IdleWalk(const NodeSpace& space, const Kind& kind, Groups groups)
    : space_(space), kind_(kind), groups_(groups) {
  if (space.order_ == IdleOrder::file) return;
  for (std::size_t g = 0; g < kind.groups.size(); ++g) {
    newest_[g] = (groups >> g & 1U) != 0 ? kind.groups[g].newest : kNone;
  }
}

std::uint32_t NodeSpace::IdleWalk::next() {
  if (space_.order_ == IdleOrder::file) {
    const std::uint32_t place = next_of(kind_, kind_.idle, groups_, place_);
    if (place == kNone) return kNone;
    place_ = place + 1;
    return kind_.members[place];
  }
  std::uint32_t* newest = newest_.data();
  for (std::size_t g = 1; g < kind_.groups.size(); ++g) {
    if (newest_[g] == kNone) continue;
    const bool newer = *newest == kNone || space_.fell_idle(NodeId{newest_[g]}) > space_.fell_idle(NodeId{*newest});
    if (newer) newest = &newest_[g];
  }
  const std::uint32_t node = *newest;
  if (node != kNone) *newest = space_.nodes_[node].older;
  return node;
}

bool NodeSpace::find(const JobSpec& spec, Placement& where, std::int32_t least_factor) const {
  if (!has_licences(spec)) return false;
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
      for (std::uint64_t levels = kind.levels; levels != 0; levels &= levels - 1) {
        const IdSet& level = kind.part[static_cast<std::size_t>(std::countr_zero(levels))];
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
  copy_licences(spec, where);
  if (spec.node_wish && !spec.node_wish->among.empty() && !named_have_room(d)) return false;
  if (d.nodes == 0) return spread(spec.processors, d, where.shares);
  equal_shares(d.larger, d.share + 1, d, where.shares);
  if (where.shares.size() == d.larger) equal_shares(d.nodes, d.share, d, where.shares);
  return where.shares.size() == d.nodes;
}

// All nodes that the job names: it is over quickly for many that name others than are free.
bool NodeSpace::named_have_room(const Demand& d) const {
  std::uint32_t larger = 0;
  for (const NodeId node : d.spec.node_wish->among) {
    const NodeState& state = nodes_[node.value];
    if (!state.found || state.free < std::int64_t{d.share} || !suits(node.value, d)) return false;
    if (state.free > std::int64_t{d.share}) ++larger;
  }
  return larger >= d.larger;
}

bool NodeSpace::spread(std::uint32_t processors, const Demand& d, std::vector<Share>& out) const {
  if (free_ < processors) return false;
  std::uint32_t missing = processors;
  const std::uint32_t spare = take_whole_nodes(missing, d, out);
  if (missing == 0) return true;
  const bool lightest = least_loaded_first();
  std::uint32_t last = lightest ? spare : best_fit(missing, d);
  if (last == kNone) last = lightest ? lightest_with_room(missing, d) : spare;
  if (last == kNone) return gather_scraps(missing, d, out);
  out.push_back({NodeId{last}, missing});
  return true;
}

// Takes idle nodes as long as the job fills them. What comes back is the smallest of those left over; kNone: none.
std::uint32_t NodeSpace::take_whole_nodes(std::uint32_t& missing, const Demand& d, std::vector<Share>& out) const {
  std::uint32_t spare = kNone;
  for (const Kind& kind : kinds_) {
    if (missing == 0) break;
    IdleWalk idle(*this, kind, groups_for(kind, d));
    for (std::uint32_t node = idle.next(); node != kNone; node = idle.next()) {
      if (!suits(node, d)) continue;
      if (missing < kind.processors) {
        if (spare == kNone || kind.processors < kinds_[nodes_[spare].kind].processors) spare = node;
        break;
      }
      out.push_back({NodeId{node}, kind.processors});
      missing -= kind.processors;
    }
  }
  return spare;
}

// The node used in part that would have the least left over; kNone: none has room.
std::uint32_t NodeSpace::best_fit(std::uint32_t processors, const Demand& d) const {
  std::uint32_t best = kNone;
  for (const Kind& kind : kinds_) {
    if (processors >= kind.processors) continue;
    const Groups groups = groups_for(kind, d);
    const std::uint32_t lowest = kind.level(processors);
    for (std::uint64_t levels = kind.levels >> (lowest - 1) << (lowest - 1); levels != 0; levels &= levels - 1) {
      const auto level = static_cast<std::uint32_t>(std::countr_zero(levels));
      if (best != kNone && std::int64_t{kind.least_free(level)} >= nodes_[best].free) break;  // and more from here on
      const std::uint32_t better = first_better(kind, level, {processors, best, groups}, d);
      if (better == kNone) continue;
      best = better;
      break;
    }
  }
  return best;
}

// The first in a level that has room, and less left over than the best so far; kNone: none has.
std::uint32_t NodeSpace::first_better(const Kind& kind, std::uint32_t level, const Wanted& wanted,
                                      const Demand& d) const {
  const IdSet& members = kind.part[level];
  std::uint32_t place = next_of(kind, members, wanted.groups, 0);
  for (; place != kNone; place = next_of(kind, members, wanted.groups, place + 1)) {
    const std::uint32_t node = kind.members[place];
    if (nodes_[node].free < std::int64_t{wanted.processors} || !suits(node, d)) continue;
    if (wanted.best == kNone || nodes_[node].free < nodes_[wanted.best].free) return node;
  }
  return kNone;
}

// The emptiest first, so that the job is spread over few nodes; no node is idle.
bool NodeSpace::gather_scraps(std::uint32_t missing, const Demand& d, std::vector<Share>& out) const {
  for (std::uint32_t l = kLevels; l > 0; --l) {
    for (const Kind& kind : kinds_) {
      if ((kind.levels >> (l - 1) & 1U) == 0) continue;
      const IdSet& level = kind.part[l - 1];
      const Groups groups = groups_for(kind, d);
      std::uint32_t place = next_of(kind, level, groups, 0);
      for (; place != kNone; place = next_of(kind, level, groups, place + 1)) {
        const std::uint32_t node = kind.members[place];
        if (!suits(node, d)) continue;
        const std::uint32_t share = std::min(missing, static_cast<std::uint32_t>(nodes_[node].free));
        out.push_back({NodeId{node}, share});
        missing -= share;
        if (missing == 0) return true;
      }
    }
  }
  return false;
}

// The node used in part of which the least share is in use; kNone: none has room.
std::uint32_t NodeSpace::lightest_with_room(std::uint32_t processors, const Demand& d) const {
  std::uint32_t best = kNone;
  for_each_part(processors, d, [&](std::uint32_t node) {
    const bool has_room = nodes_[node].free >= std::int64_t{processors} && suits(node, d);
    if (has_room && (best == kNone || is_lighter(NodeId{node}, nodes_[node].free, NodeId{best}, nodes_[best].free)))
      best = node;
    return true;
  });
  return best;
}

// Nodes used in part on which there may be so much, of each kind the fullest first, until visit(node) returns false.
template <class Visit>
void NodeSpace::for_each_part(std::uint32_t share, const Demand& d, const Visit& visit) const {
  for (const Kind& kind : kinds_) {
    if (share >= kind.processors) continue;
    const Groups groups = groups_for(kind, d);
    const std::uint32_t lowest = kind.level(share);
    for (std::uint64_t levels = kind.levels >> (lowest - 1) << (lowest - 1); levels != 0; levels &= levels - 1) {
      const IdSet& level = kind.part[static_cast<std::size_t>(std::countr_zero(levels))];
      std::uint32_t place = next_of(kind, level, groups, 0);
      for (; place != kNone; place = next_of(kind, level, groups, place + 1)) {
        if (!visit(kind.members[place])) return;
      }
    }
  }
}

// Idle nodes that have so much, until visit(node) returns false.
template <class Visit>
void NodeSpace::for_each_idle_for(std::uint32_t share, const Demand& d, const Visit& visit) const {
  for (const Kind& kind : kinds_) {
    if (share > kind.processors) continue;
    IdleWalk idle(*this, kind, groups_for(kind, d));
    for (std::uint32_t n = idle.next(); n != kNone; n = idle.next()) {
      if (!visit(n)) return;
    }
  }
}

// Adds shares until there are `count` of them: of the fullest nodes that have room, then of idle ones; or of these
// first, and then of those that are used least.
void NodeSpace::equal_shares(std::uint32_t count, std::uint32_t share, const Demand& d, std::vector<Share>& out) const {
  if (out.size() >= count) return;
  const std::size_t larger = out.size();  // nodes that have a share already, and come in the same order here
  std::size_t passed = 0;                 // so many of them
  const auto add = [&](std::uint32_t node) {
    if (nodes_[node].free < std::int64_t{share} || !suits(node, d)) return true;
    if (passed < larger && out[passed].node.value == node) {
      ++passed;
    } else {
      out.push_back({NodeId{node}, share});
    }
    return out.size() < count;
  };
  if (!least_loaded_first()) {
    for_each_part(share, d, add);
    if (out.size() < count) for_each_idle_for(share, d, add);
    return;
  }
  for_each_idle_for(share, d, add);
  if (out.size() >= count) return;
  std::vector<std::uint32_t> part;
  for_each_part(share, d, [&](std::uint32_t node) {
    part.push_back(node);
    return true;
  });
  std::ranges::sort(part, [&](std::uint32_t a, std::uint32_t b) {
    return is_lighter(NodeId{a}, nodes_[a].free, NodeId{b}, nodes_[b].free);
  });
  for (const std::uint32_t node : part) {
    if (!add(node)) return;
  }
}

}  // namespace rota
