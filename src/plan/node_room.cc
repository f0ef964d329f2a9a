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
  free_[node.value].set_rest(space_->rest_on(node));
}

bool NodeRoom::fits(const Placement& where) const {
  if (where.licence.valid() && licences_free(where.licence) < where.licences) return false;
  return std::all_of(where.shares.begin(), where.shares.end(), [&](const Share& s) {
    return processors_on(s.node) >= s.processors && rest_on(s.node).covers(where.per_node);
  });
}

void NodeRoom::change(const Placement& where, std::int32_t sign) {
  if (where.licence.valid()) licences_[where.licence.value] += std::int64_t{sign} * where.licences;
  for (const Share& s : where.shares) change_one(s, where.per_node, sign);
}

void NodeRoom::shrink_to(const NodeRoom& other) {
  for (std::size_t i = 0; i < free_.size(); ++i) {
    free_[i].processors = std::min(free_[i].processors, other.free_[i].processors);
    free_[i].set_rest(free_[i].rest().least(other.free_[i].rest()));
  }
  for (std::size_t i = 0; i < licences_.size(); ++i) licences_[i] = std::min(licences_[i], other.licences_[i]);
}

bool NodeRoom::choose(const JobSpec& spec, const NodeSpace* busy_first, Placement& where) const {
  where.shares.clear();
  where.per_node = spec.per_node();
  where.licence = spec.licence;
  where.licences = spec.licences;
  if (spec.licence.valid() && licences_free(spec.licence) < spec.licences) return false;
  suitable_.clear();
  for (std::uint32_t i = 0; i < free_.size(); ++i) {
    const bool suits = free_[i].processors > 0 && free_[i].rest().covers(where.per_node);
    if (suits && space_->admits(NodeId{i}, spec)) suitable_.push_back(i);
  }
  if (busy_first) {
    std::stable_sort(suitable_.begin(), suitable_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return busy_first->free_on(NodeId{a}) < busy_first->free_on(NodeId{b});
    });
  }
  if (const std::uint32_t nodes = std::min(spec.nodes, spec.processors); nodes > 0) {
    const std::uint32_t larger = spec.processors % nodes;
    equal_shares(larger, spec.processors / nodes + 1, where);
    if (where.shares.size() == larger) equal_shares(nodes, spec.processors / nodes, where);
    return where.shares.size() == nodes;
  }
  std::int64_t left = spec.processors;
  for (const std::uint32_t i : suitable_) {
    if (left == 0) break;
    const std::int64_t share = std::min<std::int64_t>(left, free_[i].processors);
    where.shares.push_back({NodeId{i}, static_cast<std::uint32_t>(share)});
    left -= share;
  }
  return left == 0;
}

void NodeRoom::equal_shares(std::uint32_t count, std::uint32_t share, Placement& where) const {
  const auto given = static_cast<std::ptrdiff_t>(where.shares.size());
  for (const std::uint32_t i : suitable_) {
    if (where.shares.size() >= count) return;
    if (processors_on(NodeId{i}) < share) continue;
    const auto here = [&](const Share& s) { return s.node.value == i; };
    if (std::any_of(where.shares.begin(), where.shares.begin() + given, here)) continue;
    where.shares.push_back({NodeId{i}, share});
  }
}

FitWatch::FitWatch(const NodeRoom& room, const JobSpec& spec)
    : room_(room),
      spec_(spec),
      nodes_(std::min(spec.nodes, spec.processors)),
      share_(nodes_ == 0 ? 1 : spec.processors / nodes_) {
  for (std::uint32_t i = 0; i < room.free_.size(); ++i) count(room, NodeId{i}, 1);
}

void FitWatch::count(const NodeRoom& room, NodeId node, std::int64_t sign) {
  const NodeRoom::Free& free = room.free_[node.value];
  if (free.processors <= 0 || !free.rest().covers(spec_.per_node()) || !room.space_->admits(node, spec_)) return;
  processors_ += sign * free.processors;
  wide_ += free.processors >= share_ ? sign : 0;
  wider_ += free.processors > share_ ? sign : 0;
}

void FitWatch::bring_back(NodeRoom& room, NodeId node, std::int64_t processors) {
  count(room, node, -1);
  room.bring_back(node, processors);
  count(room, node, 1);
}

void FitWatch::change(NodeRoom& room, const Placement& where, std::int32_t sign) {
  if (where.licence.valid()) room.licences_[where.licence.value] += std::int64_t{sign} * where.licences;
  for (const Share& s : where.shares) {
    count(room, s.node, -1);
    room.change_one(s, where.per_node, sign);
    count(room, s.node, 1);
  }
}

}  // namespace rota
