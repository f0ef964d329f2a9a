// Where each task of each job is computed, on a cluster whose jobs share its accelerators: the rules of Li, Zhu, Liu
// and Qian (policy/bind/bind.h), and better ones, for many jobs at once. A state machine that knows no time: executors
// ask when they have room.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/fact.h"
#include "model/machine.h"
#include "model/node_space.h"
#include "policy/bind/bind.h"
#include "policy/bind/dealer.h"
#include "policy/bind/slots.h"

namespace rota {

using ContainerId = Id<struct ContainerTag>;  // one accelerator of a node

// What a task is expected to take: measured on earlier ones, or told by the user. Only Bind::late looks at it.
struct TaskTimes {
  Duration cpu{0};          // on the CPU of a node, all of it; > 0
  Duration accelerator{0};  // on an accelerator of kUnitSpeed; > 0
};

// A job's tasks are alike, and lie on its nodes in equal parts: they are counted, not named. No task leaves the rack of
// its node. An accelerator that several jobs may use takes their tasks in turn, one of each, in order of their ids:
// a job that comes later is not kept waiting until those before it are through.
//
// Nodes are bound once for all jobs, as they come and go. Under `container` and `weighted` the tasks of a job are dealt
// when it comes, on top of what others have there, and all that are not begun are dealt anew when a node of the rack
// comes or goes. Under `slot` each processor that a job holds has an equal part of what lies on its node, and is bound
// from when the job comes until it goes. In a rack without accelerators, and under `none`, the CPUs of the job's nodes
// compute.
//
// Under `late` nothing is dealt. An accelerator takes a task if it would be done with it no later than the rack's
// accelerators together could be through with all tasks of all jobs, give or take one task of the fastest; a CPU if it
// is done with it before they could be through with what its own job has waiting and, taking turns, as much of others.
class JobBinding {
 public:
  struct Task {
    JobId job;
    NodeId home;  // where its input lies
  };

  // All nodes are there. Containers are numbered in order of the nodes.
  // kept: what was bound before a restart. Under rules that bind nodes these stay as they are, where they can.
  JobBinding(Bind bind, const Machine& machine, std::span<const Bound> kept = {});

  // Whether nodes are bound for all jobs; whether nodes or slots are bound before they have tasks.
  bool binds_nodes() const {
    return bind_ == Bind::node || bind_ == Bind::node_literal || bind_ == Bind::node_weighted;
  }
  bool binds() const { return binds_nodes() || bind_ == Bind::slot; }

  ContainerId container(NodeId node, std::uint32_t which) const {
    return ContainerId{first_container_[node.value] + which};
  }
  std::size_t containers() const { return containers_.size(); }
  NodeId node_of(ContainerId container) const { return containers_[container.value].node; }

  // A node that is there goes: its accelerators get nothing more, and what they have begun is to be lost. One that is
  // gone comes back.
  void leave(NodeId id);
  void join(NodeId id);
  bool present(NodeId node) const { return binding_.present(node); }

  // A job comes with so many tasks to some nodes (each once); they can be had once it is ready. And it goes.
  void begin(JobId job, std::span<const Share> nodes, std::uint32_t tasks, const TaskTimes& times);
  void ready(JobId job);
  void end(JobId job);

  // The next task for a container that has room, or for the CPU that a job has on one of its nodes; nothing: not now.
  std::optional<Task> next_task(ContainerId container);
  std::optional<Task> take_for_cpu(JobId job, NodeId node);
  // What was begun there (invalid: on a CPU) is done, or counts as not begun. The job must have come.
  void finish(const Task& task, ContainerId container);
  void lose(const Task& task, ContainerId container);
  // A container is through with a task, or has lost it, whose job is gone.
  void abandon(ContainerId container);

  // For a job that has come.
  std::uint32_t unfinished(JobId job) const { return jobs_.at(job).unfinished; }
  // Whether a job on another node may use this node's accelerators; and the nodes of which that has changed since this
  // was last asked.
  bool serves(NodeId node) const { return serves_[node.value]; }
  bool serving_changed() const { return !serving_changes_.empty(); }
  std::vector<NodeId> take_serving_changes() { return std::exchange(serving_changes_, {}); }
  const NodeBinding& nodes() const { return binding_; }

  // A node, or so many of the slots that a job has there, whose binding changed. An invalid `from` or `to`: was or is
  // bound to none. What a job that goes had bound is not told.
  struct Change {
    JobId job;  // invalid: the node, for all jobs
    NodeId node;
    NodeId from;
    NodeId to;
    std::uint32_t slots = 0;
  };
  bool bindings_changed() const { return !changes_.empty(); }
  // Since this was last asked, in order; those of nodes that were bound at the beginning too. Under the rules that
  // bind nothing beforehand there are none.
  std::vector<Change> take_changes() { return std::exchange(changes_, {}); }

  // Nodes or slots that have been bound to an accelerator node so far, and how often one was bound to another.
  struct Bindings {
    std::int64_t made = 0;
    std::int64_t moved = 0;
  };
  Bindings bindings() const;
  // Bindings of slots are counted as they are made. Tasks can be had through those that are settled.
  std::uint64_t slot_bindings() const { return slots_.bindings(); }
  void settle(std::uint64_t slot_bindings) { settled_ = slot_bindings; }

 private:
  struct Home {
    NodeId node;
    SlotId slot;  // invalid: all of the node
    std::uint32_t waiting = 0;
  };
  struct Part {  // of a job, in one rack
    RackId rack;
    std::vector<Home> homes;
    std::uint32_t waiting = 0;  // at all of them
    std::map<ContainerId, std::uint32_t> dealt;
  };
  struct Job {
    std::vector<Part> parts;
    TaskTimes times;
    std::uint32_t unfinished = 0;
    std::uint32_t nodes = 0;
  };
  struct Container {
    NodeId node;
    std::int32_t speed = kUnitSpeed;
    std::int64_t begun = 0;  // and not finished
    std::int64_t load = 0;   // begun, or dealt to it
    JobId last;              // whose turn it was
  };

  bool deals() const { return bind_ == Bind::container || bind_ == Bind::weighted; }
  bool accelerated(RackId rack) const { return bind_ != Bind::none && !racks_[rack.value].empty(); }
  NodeId host_of(const Home& home) const {
    return home.slot.valid() ? slots_.bound_to(home.slot) : binding_.bound_to(home.node);
  }
  bool settled(const Home& home) const { return !home.slot.valid() || slots_.binding_of(home.slot) <= settled_; }
  void add_homes(JobId id, Part& part, const Share& share);
  void note_slots();
  static void give(std::span<Home> of_node, std::uint32_t tasks);
  void count(std::span<const NodeBinding::Move> moves);
  Part& part_of(Job& job, NodeId node);
  void deal(Part& part);
  void deal_rack(RackId rack);
  void undeal(Part& part);
  Home* home_for(Part& part, const Container& container);
  std::optional<Task> take_of(JobId id, Job& job, ContainerId container);
  bool worth_taking(RackId rack, const Container& container) const;
  bool in_time(RackId rack, const Job& job, std::uint32_t waiting) const;
  void recount(RackId rack);
  void came_or_went(NodeId node);
  void bind_node(NodeId node);

  Bind bind_;
  const Machine& machine_;
  NodeBinding binding_;
  SlotBinding slots_;
  std::vector<JobId> slot_jobs_;  // by slot id
  std::vector<Change> changes_;
  std::vector<SlotId> unused_slots_;
  std::uint64_t settled_ = 0;
  Bindings of_nodes_;
  std::vector<Container> containers_;            // by container id
  std::vector<std::uint32_t> first_container_;   // by node id
  std::vector<std::vector<ContainerId>> racks_;  // containers that are there, ascending, by rack id
  std::vector<std::vector<JobId>> clients_;      // jobs with nodes there, ascending, by rack id
  std::map<JobId, Job> jobs_;
  std::vector<bool> serves_;  // by node id
  std::vector<NodeId> serving_changes_;
};

}  // namespace rota
