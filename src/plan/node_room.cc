#include "plan/node_room.h"

namespace rota {

void NodeRoom::copy(const NodeSpace& space) {
  space_ = &space;
  free_.resize(space.size());
  for (std::uint32_t i = 0; i < space.size(); ++i) copy_from_space(NodeId{i});
  licences_ = space.licences();
}

void NodeRoom::follow(const NodeSpace& space) {
  if (space_ != &space || free_.size() != space.size()) seen_ = NodeSpace::kNeverSeen;
  follows_ = true;
  const auto copy_one = [&](NodeId node) { copy_from_space(node); };
  if (space.changes_since(seen_, copy_one)) {
    for (const NodeId node : touched_) copy_from_space(node);
    if (!licences_.empty()) licences_ = space.licences();
  } else {
    copy(space);
  }
  touched_.clear();
}

void NodeRoom::copy_from_space(NodeId node) {
  const bool there = space_->available(node);
  const auto processors = static_cast<std::int32_t>(there ? space_->free_on(node) : 0);
  free_[node.value].processors = processors;
  free_[node.value].there = there;
  free_[node.value].set_per_node(space_->per_node_on(node));
}

bool NodeRoom::fits(const Placement& where) const {
  if (!has_licences(where)) return false;
  return std::all_of(where.shares.begin(), where.shares.end(), [&](const Share& s) {
    return processors_on(s.node) >= s.processors && per_node_on(s.node).covers(where.per_node);
  });
}

void NodeRoom::change(const Placement& where, std::int32_t sign) {
  change_licences(where, sign);
  for (const Share& s : where.shares) change_one(s, where.per_node, sign);
}

bool NodeRoom::list_suitable(const JobSpec& spec, Placement& where) const {
  where.shares.clear();
  where.per_node = spec.per_node();
  copy_licences(spec, where);
  if (!has_licences(spec)) return false;
  suitable_.clear();
  for (std::uint32_t i = 0; i < free_.size(); ++i) {
    if (suitable_on(NodeId{i}, spec) > 0) suitable_.push_back(i);
  }
  return true;
}

bool NodeRoom::choose(const JobSpec& spec, const NodeSpace* busy_first, Placement& where) const {
  if (!list_suitable(spec, where)) return false;
  if (space_->least_loaded_first()) {
    std::ranges::sort(suitable_, [&](std::uint32_t a, std::uint32_t b) { return is_lighter(a, b); });
  } else if (busy_first) {
    std::stable_sort(suitable_.begin(), suitable_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return busy_first->free_on(NodeId{a}) < busy_first->free_on(NodeId{b});
    });
  }
  if (const Spread asked(spec); asked.nodes > 0) {
    equal_shares(asked.larger, asked.share + 1, where);
    if (where.shares.size() == asked.larger) equal_shares(asked.nodes, asked.share, where);
    return where.shares.size() == asked.nodes;
  }
  std::int64_t missing = spec.processors;
  for (const std::uint32_t i : suitable_) {
    if (missing == 0) break;
    const std::int64_t share = std::min<std::int64_t>(missing, free_[i].processors);
    where.shares.push_back({NodeId{i}, static_cast<std::uint32_t>(share)});
    missing -= share;
  }
  return missing == 0;
}

// Whether the suitable nodes of so high a factor have.
bool NodeRoom::have_room(const JobSpec& spec, std::int32_t least_factor) const {
  const Spread asked(spec);
  Given given;
  for (const std::uint32_t i : suitable_) {
    if (space_->cpu_factor(NodeId{i}) >= least_factor) given.add(Given::by_node(free_[i].processors, asked.share), 1);
  }
  return given.suffices(asked, spec.processors);
}

// What has room on some nodes has it on more: so the highest factor is sought that leaves enough of them.
bool NodeRoom::find_as_for_a_start(const JobSpec& spec, Placement& where) const {
  if (!list_suitable(spec, where)) return false;
  const std::vector<std::int32_t>& factors = space_->cpu_factors();
  const auto found =
      std::find_if(factors.rbegin(), factors.rend(), [&](std::int32_t f) { return !have_room(spec, f); });
  if (found == factors.rbegin()) return false;
  const std::int32_t least_factor = *std::prev(found);
  std::erase_if(suitable_, [&](std::uint32_t i) { return space_->cpu_factor(NodeId{i}) < least_factor; });
  const bool lightest = space_->least_loaded_first();
  const auto idle = [&](std::uint32_t i) {
    return free_[i].processors == static_cast<std::int64_t>(space_->processors_of(NodeId{i}));
  };
  std::sort(suitable_.begin(), suitable_.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (idle(a) != idle(b)) return lightest ? idle(a) : idle(b);
    if (lightest && !idle(a)) return is_lighter(a, b);
    const std::uint32_t shape = space_->shape_of(NodeId{a});
    if (shape != space_->shape_of(NodeId{b})) return shape < space_->shape_of(NodeId{b});
    if (idle(a)) return space_->is_taken_before(NodeId{a}, NodeId{b});
    return free_[a].processors != free_[b].processors ? free_[a].processors < free_[b].processors : a < b;
  });
  if (const Spread asked(spec); asked.nodes == 0) {
    spread(spec.processors, where);
  } else {
    equal_shares(asked.larger, asked.share + 1, where);
    equal_shares(asked.nodes, asked.share, where);
  }
  return true;
}

// Over suitable nodes that have room: idle ones as long as the job fills them, what is left where it leaves the least
// over, or else on the smallest idle one, or else on the emptiest. Under least_loaded what is left goes to the smallest
// idle one first, and then to the one that is used least.
void NodeRoom::spread(std::int64_t missing, Placement& where) const {
  const auto size = [&](std::uint32_t i) { return std::int64_t{space_->processors_of(NodeId{i})}; };
  const auto give = [&](std::uint32_t i, std::int64_t share) {
    where.shares.push_back({NodeId{i}, static_cast<std::uint32_t>(share)});
    missing -= share;
  };
  const std::uint32_t* best = nullptr;   // of those used in part
  const std::uint32_t* spare = nullptr;  // of those that are idle
  for (const std::uint32_t& i : suitable_) {
    if (free_[i].processors < size(i)) continue;
    if (missing >= size(i)) {
      give(i, size(i));
    } else if (!spare || size(i) < size(*spare)) {
      spare = &i;
    }
  }
  if (missing == 0) return;
  const bool lightest = space_->least_loaded_first();
  for (const std::uint32_t& i : suitable_) {
    const bool used = free_[i].processors < size(i) && free_[i].processors >= missing;
    if (!used) continue;
    if (!best || (lightest ? is_lighter(i, *best) : free_[i].processors < free_[*best].processors)) best = &i;
  }
  if (lightest && spare) best = spare;
  if (best || spare) return give(best ? *best : *spare, missing);
  std::sort(suitable_.begin(), suitable_.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (free_[a].processors != free_[b].processors) return free_[a].processors > free_[b].processors;
    const std::uint32_t shape = space_->shape_of(NodeId{a});
    return shape != space_->shape_of(NodeId{b}) ? shape < space_->shape_of(NodeId{b}) : a < b;
  });
  for (const std::uint32_t i : suitable_) {
    if (missing > 0 && free_[i].processors < size(i)) give(i, std::min<std::int64_t>(missing, free_[i].processors));
  }
}

void NodeRoom::equal_shares(std::uint32_t count, std::uint32_t share, Placement& where) const {
  const std::size_t given = where.shares.size();  // in the same order
  std::size_t passed = 0;                         // so many of them
  for (const std::uint32_t i : suitable_) {
    if (where.shares.size() >= count) return;
    if (processors_on(NodeId{i}) < share) continue;
    if (passed < given && where.shares[passed].node.value == i) {
      ++passed;
    } else {
      where.shares.push_back({NodeId{i}, share});
    }
  }
}

FitWatch::FitWatch(const NodeRoom& room, const JobSpec& spec) : room_(room), spec_(spec), asked_(spec) {
  for (std::uint32_t i = 0; i < room.free_.size(); ++i) count(room, NodeId{i}, 1);
}

void FitWatch::count(const NodeRoom& room, NodeId node, std::int64_t sign) {
  const std::int64_t free = room.suitable_on(node, spec_);
  if (free > 0) given_.add(Given::by_node(free, asked_.share), sign);
}

void FitWatch::bring_back(NodeRoom& room, NodeId node, std::int64_t processors) {
  count(room, node, -1);
  room.bring_back(node, processors);
  count(room, node, 1);
}

void FitWatch::change(NodeRoom& room, const Placement& where, std::int32_t sign) {
  room.change_licences(where, sign);
  for (const Share& s : where.shares) {
    count(room, s.node, -1);
    room.change_one(s, where.per_node, sign);
    count(room, s.node, 1);
  }
}

}  // namespace rota
