// Which node's accelerators serve a slot, a processor of a node that a job holds: what Li, Zhu, Liu and Qian (2016)
// leave for later as binding at the level of containers, which come and go more often than nodes. The rule is Rota's.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/id.h"

namespace rota {

using SlotId = Id<struct SlotTag>;

// Each accelerator node has a stack of the slots bound to it, those of its own processors among them: it serves no node
// beforehand. A slot that opens joins the smallest stack of its rack; among equal ones that of its own node, else of
// the lowest id. As long as its rack has no accelerator it stays unbound.
//
// Promises: the sizes of two stacks of a rack never differ by more than one; every event, also that all slots of a job
// close, moves as few slots as that allows; no binding crosses racks; a slot is unbound only if no node of its rack has
// an accelerator.
class SlotBinding {
 public:
  // A node with accelerators that is not there comes; one that is there goes, and the slots of its stack are bound anew
  // in order of their ids.
  void join(NodeId host, RackId rack);
  void leave(NodeId host);
  // The caller names the slots, by small numbers: one that is closed may be opened again.
  void open(SlotId slot, NodeId home, RackId rack);
  // One that comes back to the stack that it was in before all was taken over from elsewhere, whatever the rule would
  // say of it. `host` is there. Once all are back, balance() has stacks keep the promises again.
  void put_back(SlotId slot, NodeId home, NodeId host);
  void balance(RackId rack);
  void close(std::span<const SlotId> slots);

  // For a slot that is open: which node serves it, invalid if none does; and which binding of all that is, counted
  // from 1; 0: none.
  NodeId bound_to(SlotId slot) const { return slots_[slot.value].host; }
  std::uint64_t binding_of(SlotId slot) const { return slots_[slot.value].binding; }
  // The slots bound to an accelerator node that is there, bottom first.
  std::span<const SlotId> stack(NodeId host) const { return hosts_[host.value].stack; }

  // A slot whose binding changed while it was open. An invalid `from` or `to`: was or is bound to none.
  struct Move {
    SlotId slot;
    NodeId home;
    NodeId from;
    NodeId to;
  };
  // Since this was last asked, in order.
  std::vector<Move> take_moves() { return std::exchange(moves_, {}); }

  // Bindings so far: all, and those from one accelerator node to another.
  std::uint64_t bindings() const { return bindings_; }
  std::uint64_t moved() const { return moved_; }

 private:
  struct Slot {
    NodeId home;
    RackId rack;
    NodeId host;
    std::uint64_t binding = 0;
  };
  struct Host {
    RackId rack;
    bool present = false;
    std::vector<SlotId> stack;
  };
  struct Rack {
    std::set<std::pair<std::size_t, NodeId>> stacks;  // by size
    std::set<SlotId> unbound;
  };

  Rack& rack_at(RackId rack);
  bool has_smallest(const Rack& rack, NodeId host) const;
  void push(SlotId slot, NodeId host);
  void bind(SlotId slot);
  void remove(SlotId slot);

  std::vector<Slot> slots_;  // by slot id
  std::vector<Host> hosts_;  // by node id
  std::vector<Rack> racks_;  // by rack id
  std::vector<Move> moves_;
  std::uint64_t bindings_ = 0;
  std::uint64_t moved_ = 0;
};

}  // namespace rota
