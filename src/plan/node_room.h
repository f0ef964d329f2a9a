// So much free on each node, at some other time than now or if something were different: plain figures that can be
// copied, changed and asked for a place. What is free now is in NodeSpace, which is an index.
#pragma once

#include <algorithm>
#include <vector>

#include "model/node_space.h"

namespace rota {

class NodeRoom {
 public:
  explicit NodeRoom(const NodeSpace& space) : space_(&space) {
    for (std::uint32_t i = 0; i < space.size(); ++i) {
      const NodeId node{i};
      free_.push_back(space.available(node) ? Free{space.free_on(node), space.memory_on(node)} : Free{});
    }
  }

  // The first nodes in file order that have room. False if the job does not fit. O(nodes)
  bool find(const JobSpec& spec, Placement& where) const;

  bool fits(const Placement& where) const {
    return std::all_of(where.shares.begin(), where.shares.end(), [&](const Share& s) {
      return free_[s.node.value].processors >= s.processors && free_[s.node.value].memory >= where.memory;
    });
  }
  void take(const Placement& where) { change(where, -1); }
  void give(const Placement& where) { change(where, 1); }

  // Node by node the lesser of both.
  void shrink_to(const NodeRoom& other) {
    for (std::size_t i = 0; i < free_.size(); ++i) {
      free_[i].processors = std::min(free_[i].processors, other.free_[i].processors);
      free_[i].memory = std::min(free_[i].memory, other.free_[i].memory);
    }
  }

 private:
  struct Free {
    std::int64_t processors = 0;
    std::int64_t memory = 0;  // INT64_MAX: not looked at
  };

  void change(const Placement& where, std::int64_t sign) {
    for (const Share& s : where.shares) {
      Free& free = free_[s.node.value];
      free.processors += sign * s.processors;
      if (space_->memory_on(s.node) != INT64_MAX) free.memory += sign * where.memory;
    }
  }
  void equal_shares(std::uint32_t count, std::uint32_t share, const JobSpec& spec, Placement& where) const;

  const NodeSpace* space_;
  std::vector<Free> free_;
};

}  // namespace rota
