// Who computes which task of an application that can use accelerators: after Li, Zhu, Liu and Qian (2016), and better.
// A state machine that knows no time: executors ask when they have room, and are told.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "policy/bind/bind.h"

namespace rota {

using TaskId = Id<struct TaskTag>;            // of one application: 0, 1, ...
using ContainerId = Id<struct ContainerTag>;  // one accelerator of a node, in order of joining; never used again

inline constexpr std::uint32_t kMostTasks = 10'000'000;
inline constexpr std::int32_t kUnitSpeed = 1000;     // of an accelerator, per mille of that for which times are told
inline constexpr std::int32_t kMostSpeed = 100'000;  // 100 times as fast

// What a task is expected to take: measured on earlier ones, or said by the user. Only Bind::late looks at it.
struct TaskTimes {
  Duration cpu{0};          // on the CPU of a node, all of it; > 0
  Duration accelerator{0};  // on an accelerator of kUnitSpeed; > 0
};

// Deals tasks one by one, each to whom it would be done first: least (tasks + 1) / speed, ties to the one added first.
class Dealer {
 public:
  void add(std::int64_t tasks, std::int32_t speed);
  std::size_t deal();  // index of the taker, which has one more task now
  bool empty() const { return takers_.empty(); }

 private:
  struct Taker {
    std::int64_t tasks;
    std::int32_t speed;
    std::uint32_t index;
  };
  static bool later(const Taker& a, const Taker& b);
  std::vector<Taker> takers_;  // a heap
};

// Input lies on the nodes in equal parts: tasks are dealt to nodes evenly, and whatever the rule, no task leaves the
// rack of its node while that node is there. Tasks that nobody has begun are dealt anew whenever a node comes or goes;
// tasks begun on a node that is gone count as not begun. In a rack without accelerators CPUs compute.
//
// Bind::late keeps one queue for each rack. An accelerator takes the first task if it would be done with it no later
// than all of them could be through with everything, give or take one task of the fastest; a CPU if it is done with it
// before the accelerators could be through with what is waiting.
class TaskBinding {
 public:
  TaskBinding(Bind bind, std::uint32_t tasks, const TaskTimes& expected);

  // A node that is not there comes, with an accelerator for each speed (per mille, 1 .. kMostSpeed). Its containers get
  // the next ids.
  void join(NodeId node, RackId rack, std::span<const std::int32_t> speeds);
  // A node that is there is told to go: it and its containers finish what they have begun and get nothing more.
  void drain(NodeId node);
  // A node dies, or goes when it has drained: what it and its containers have begun counts as not begun.
  void leave(NodeId node);

  // The next task for a container or a node's CPU that has room; nothing: not now. Ask again after every event.
  std::optional<TaskId> take(ContainerId container);
  std::optional<TaskId> take_for_cpu(NodeId node);
  void finish(TaskId task);

  std::uint32_t unfinished() const { return unfinished_; }
  const NodeBinding& nodes() const { return binding_; }

 private:
  enum class State : std::uint8_t { waiting, begun, finished };
  struct Task {
    State state = State::waiting;
    NodeId home;            // where its input lies
    ContainerId container;  // begun: who has it; invalid: the CPU of `on`
    NodeId on;
  };
  struct Container {
    NodeId node;
    std::int32_t speed = kUnitSpeed;
    bool present = true;         // and not draining
    std::int64_t begun = 0;      // and not finished
    std::deque<TaskId> waiting;  // dealt to it
  };
  struct NodeState {
    std::vector<ContainerId> containers;
    std::int64_t begun = 0;      // tasks whose home it is, and not finished
    std::deque<TaskId> waiting;  // dealt to its CPU
  };
  struct RackState {
    std::vector<ContainerId> containers;  // that are there, ascending
    std::deque<TaskId> waiting;           // Bind::late
    Dealer dealer;                        // over its containers, while tasks are being dealt
  };

  void deal_all();
  void deal_homes();
  void deal(TaskId task);
  bool even() const { return bind_ != Bind::weighted; }
  Dealer dealer_of(std::span<const ContainerId> containers) const;
  RackState& rack_of(NodeId node) { return racks_[binding_.rack_of(node).value]; }
  bool worth_taking(const RackState& rack, const Container& container) const;
  bool in_time(const RackState& rack) const;
  std::optional<TaskId> begin(std::deque<TaskId>& from, ContainerId container, NodeId on);

  Bind bind_;
  TaskTimes expected_;
  NodeBinding binding_;
  std::vector<Task> tasks_;
  std::vector<Container> containers_;  // by container id
  std::vector<NodeState> nodes_;       // by node id
  std::vector<RackState> racks_;       // by rack id
  std::vector<Dealer> host_dealers_;   // by node id, while tasks are being dealt under node binding
  std::uint32_t unfinished_;
  bool dealt_ = false;  // since the last node came or went
};

}  // namespace rota
