// Which node's accelerators serve a node that has none: Li, Zhu, Liu and Qian, "Accelerator support in YARN cluster"
// (Journal of Computer Research and Development, 2016). A state machine: nodes come and go, bindings follow.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"

namespace rota {

// How tasks of an application come to accelerators.
enum class Bind : std::uint8_t {
  none,           // they do not: CPUs compute everything
  node,           // a node's tasks go to the accelerator node that it is bound to; stacks in balance
  node_literal,   // the same with the published stop test, which overshoots
  container,      // straight to the accelerators of the rack, evenly
  weighted,       // the same, each task to where it ends first by the accelerators' relative speeds
  late,           // accelerators take the next task when they have room; idle CPUs take those that they finish in time
  node_weighted,  // as `node`, with stacks in proportion to the speeds of their nodes' accelerators
  slot,           // the tasks of a processor go to the accelerator node that this is bound to as long as its job runs
};

std::string_view name_of(Bind bind);

// Each accelerator node has a stack of the nodes bound to it. Nodes without accelerators join the smallest stack of
// their rack, and stay unbound as long as their rack has none. Ties go to the lowest id. A node with accelerators
// serves itself and is in no stack.
//
// Promises, under Stop::balanced: the sizes of two stacks of a rack never differ by more than one, and every event
// moves as few nodes as that allows. Under Stop::weighted, which a table of weights of accelerators is for (the paper's
// work to come): let an accelerator node of weight w serve s + 1 nodes, those of its stack and itself. No node of a
// stack could be bound elsewhere so that the larger of both (s + 1) / w became smaller, hence no assignment has a
// smaller largest one; a node joins where (s + 1) / w is least with it, and every event moves as few nodes as that
// allows. With equal weights that is Stop::balanced. Always: no binding crosses racks; a node is unbound only if no
// node of its rack has an accelerator.
class NodeBinding {
 public:
  enum class Stop : std::uint8_t {
    balanced,  // a new stack is filled from the largest until that has at most one more; likewise when a node leaves
    literal,   // as printed: filled until its size equals that of the smallest other stack, and nothing is moved when a
               // node leaves. The test can be passed by: then all others are emptied.
    weighted,  // as balanced, by (size + 1) / weight
  };

  // A node whose binding changed. An invalid `from` or `to`: was or is bound to none.
  struct Move {
    NodeId node;
    NodeId from;
    NodeId to;
    bool operator==(const Move&) const = default;
  };

  explicit NodeBinding(Stop stop = Stop::balanced);

  // A node that is not there comes, with the speeds of its accelerators together as weight; 0: it has none. What
  // changed holds until the next event.
  std::span<const Move> join(NodeId node, RackId rack, std::int64_t weight);
  // A node without accelerators comes back to the stack that it was in before all was taken over from elsewhere,
  // whatever the rule would say of it. `host` is there, in its rack.
  void put_back(NodeId node, NodeId host);
  // A node that is there goes; whether it was told to or died makes no difference. Nodes of its stack are bound anew in
  // order of their ids.
  std::span<const Move> leave(NodeId node);

  bool present(NodeId node) const { return node.value < members_.size() && members_[node.value].present; }
  RackId rack_of(NodeId node) const { return members_[node.value].rack; }
  std::int64_t weight_of(NodeId node) const { return members_[node.value].weight; }
  bool has_accelerator(NodeId node) const { return weight_of(node) > 0; }
  // Which node serves a node that is there: itself if it has an accelerator; invalid: none.
  NodeId bound_to(NodeId node) const { return members_[node.value].host; }
  // The nodes bound to an accelerator node, bottom first.
  std::span<const NodeId> stack(NodeId accelerator_node) const { return members_[accelerator_node.value].stack; }

 private:
  struct Member {
    RackId rack;
    NodeId host;
    bool present = false;
    std::int64_t weight = 0;
    std::vector<NodeId> stack;
  };
  struct Rack {
    std::set<std::pair<std::size_t, NodeId>> stacks;  // by size: accelerator nodes
    std::set<NodeId> unbound;
  };

  void push(NodeId node, NodeId host);
  void bind(NodeId node);  // to the smallest stack, if there is one
  void remove(NodeId node);
  void move_top(NodeId from, NodeId to);
  void fill(NodeId host);
  void restore_balance(Rack& rack, NodeId left);
  NodeId largest(const Rack& rack, NodeId but) const;
  NodeId most_loaded(const Rack& rack, NodeId but) const;
  NodeId least_loaded_with_one_more(const Rack& rack) const;
  bool higher(NodeId a, std::int64_t served_by_a, NodeId b, std::int64_t served_by_b) const;
  std::int64_t served_by(NodeId host) const;
  bool full(const Rack& rack, NodeId host) const;
  Rack& rack_at(RackId rack);

  Stop stop_;
  std::vector<Member> members_;  // by node id
  std::vector<Rack> racks_;      // by rack id
  std::vector<Move> moves_;      // of the last event
};

}  // namespace rota
