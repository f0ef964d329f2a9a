// So much free on each node, at some other time than now or if something were different: plain figures that can be
// copied, changed and asked for a place. What is free now is in NodeSpace, which is an index. Not thread-safe.
#pragma once

#include <algorithm>
#include <vector>

#include "model/node_space.h"
#include "model/spread.h"

namespace rota {

// What is free on one node; packed, since it is kept by the thousand.
struct NodeFree {
  std::int32_t processors = 0;
  std::int16_t accelerators = 0;
  bool there = true;        // or what comes free on it is withheld
  std::int64_t memory = 0;  // as in PerNode

  bool operator==(const NodeFree&) const = default;
  PerNode per_node() const { return {memory, accelerators}; }
  void set_per_node(const PerNode& per_node) {
    memory = per_node.memory;
    accelerators = static_cast<std::int16_t>(per_node.accelerators);
  }
  // What is free after so much was given back (sign 1) or taken (sign -1).
  void change(std::uint32_t count, const PerNode& held, std::int32_t sign) {
    if (!there) return;
    processors += sign * static_cast<std::int32_t>(count);
    PerNode after = per_node();
    after.change(held, sign);
    set_per_node(after);
  }
  // All of a node that was not available.
  void bring_back(std::int64_t count) {
    processors += static_cast<std::int32_t>(count);
    there = true;
  }
};

class NodeRoom {
 public:
  NodeRoom() = default;
  explicit NodeRoom(const NodeSpace& space) { copy(space); }

  // Becomes what is free in `space` now.
  void copy(const NodeSpace& space);    // O(nodes)
  void follow(const NodeSpace& space);  // O(what changed in either since it followed last)

  // The first nodes in file order that have room. False if the job does not fit. O(nodes)
  bool find(const JobSpec& spec, Placement& where) const { return choose(spec, nullptr, where); }
  // As find(), but those nodes first on which least is free now: so that what is free now is left for others. Under
  // NodeOrder::least_loaded either takes those first that are used least.
  bool find_busy_first(const JobSpec& spec, Placement& where) const { return choose(spec, space_, where); }

  // A place as a start would be given one (NodeSpace::find) if this were free now: on nodes of which the slowest is as
  // fast as it can be, the fullest first and idle ones last, or the other way round, as NodeOrder says. O(nodes), and
  // O(nodes log nodes) if there is room
  bool find_as_for_a_start(const JobSpec& spec, Placement& where) const;

  bool empty() const { return free_.empty(); }  // of nothing yet
  std::size_t size() const { return free_.size(); }
  bool fits(const Placement& where) const;
  void occupy(const Placement& where) { change(where, -1); }
  void give(const Placement& where) { change(where, 1); }
  // All of a node that is not available now, but is then.
  void bring_back(NodeId node, std::int64_t processors) {
    free_[node.value].bring_back(processors);
    if (follows_) touched_.push_back(node);
  }

  // As if so much were free; not for a room that follows another.
  void set(NodeId node, const NodeFree& free) { free_[node.value] = free; }
  void set_licences_free(LicenceId licence, std::int64_t count) { licences_[licence.value] = count; }

  std::int64_t licences_free(LicenceId licence) const { return licences_[licence.value]; }
  template <class Holder>
  bool has_licences(const Holder& asked) const {
    return licences_suffice(licences_, asked);
  }
  std::int64_t processors_on(NodeId node) const { return free_[node.value].processors; }
  const NodeFree& on(NodeId node) const { return free_[node.value]; }
  bool admits(NodeId node, const JobSpec& spec) const { return space_->admits(node, spec); }
  // Processors that a job can have on a node that gives it what it asks for beside them; 0: none.
  std::int64_t suitable_on(NodeId node, const JobSpec& spec) const {
    const NodeFree& free = free_[node.value];
    const bool suits = free.processors > 0 && free.per_node().covers(spec.per_node()) && space_->admits(node, spec);
    return suits ? free.processors : 0;
  }
  PerNode per_node_on(NodeId node) const { return free_[node.value].per_node(); }  // beside processors

 private:
  friend class FitWatch;
  void change(const Placement& where, std::int32_t sign);
  void change_licences(const Placement& where, std::int32_t sign) {
    each_licence(where, [&](LicenceId id, std::uint32_t count) { licences_[id.value] += std::int64_t{sign} * count; });
  }
  void change_one(const Share& share, const PerNode& held, std::int32_t sign) {
    free_[share.node.value].change(share.processors, held, sign);
    if (follows_) touched_.push_back(share.node);
  }
  bool is_lighter(std::uint32_t a, std::uint32_t b) const {
    return space_->is_lighter(NodeId{a}, free_[a].processors, NodeId{b}, free_[b].processors);
  }
  void copy_from_space(NodeId node);
  bool list_suitable(const JobSpec& spec, Placement& where) const;  // false: its licences are not free
  bool choose(const JobSpec& spec, const NodeSpace* busy_first, Placement& where) const;
  bool have_room(const JobSpec& spec, std::int32_t least_factor) const;
  void spread(std::int64_t missing, Placement& where) const;
  void equal_shares(std::uint32_t count, std::uint32_t share, Placement& where) const;

  const NodeSpace* space_ = nullptr;
  bool follows_ = false;
  std::uint64_t seen_ = NodeSpace::kNeverSeen;
  std::vector<NodeFree> free_;
  std::vector<std::int64_t> licences_;
  std::vector<NodeId> touched_;                  // changed here since it followed last
  mutable std::vector<std::uint32_t> suitable_;  // scratch
};

// Whether a job fits, kept up while room is given back. O(nodes) to make, O(shares) to keep.
class FitWatch {
 public:
  FitWatch(const NodeRoom& room, const JobSpec& spec);
  void give(NodeRoom& room, const Placement& where) { change(room, where, 1); }
  void occupy(NodeRoom& room, const Placement& where) { change(room, where, -1); }
  void bring_back(NodeRoom& room, NodeId node, std::int64_t processors);
  bool fits() const { return room_.has_licences(spec_) && given_.suffices(asked_, spec_.processors); }

 private:
  void count(const NodeRoom& room, NodeId node, std::int64_t sign);
  void change(NodeRoom& room, const Placement& where, std::int32_t sign);

  const NodeRoom& room_;
  const JobSpec& spec_;
  Spread asked_;
  Given given_;  // by nodes that suit the job
};

}  // namespace rota
