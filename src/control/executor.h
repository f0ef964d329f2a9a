// The port to where tasks of jobs are computed: accelerators, each a container that takes tasks from the nodes bound to
// it and passes them through a pipeline, and the CPUs that a job holds. The simulated ones are
// engine/sim/sim_executor.h. One thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/id.h"
#include "base/time.h"
#include "policy/bind/bind_jobs.h"

namespace rota {

// One try at a task. No two tries have the same: an answer that comes late or twice is not taken for that of another,
// nor one to a desk before this one, which a container that has outlived it gives.
struct TaskKey {
  std::uint32_t epoch = 0;           // of the controller that wrote it, as in Command
  std::uint32_t place = UINT32_MAX;  // among those that are not answered yet; given again
  std::uint32_t attempt = 0;         // there
  bool operator==(const TaskKey&) const = default;
};

// What is to be computed, and where.
struct ComputeTask {
  TaskKey key;
  JobId job;
  NodeId home;                // where its input lies and its result goes
  NodeId on;                  // the node that computes it,
  ContainerId container;      // with this accelerator; invalid: on its CPU
  Duration takes{0};          // expected, on an accelerator of kUnitSpeed or a CPU of factor 1; > 0
  Duration limit{0};          // end it then, as over_limit; 0: let it run
  std::int64_t transfer = 0;  // bytes there, and as many back
};

// An accelerator, as its container tells of it.
struct Card {
  NodeId node;
  std::int32_t speed = kUnitSpeed;
  bool room = true;  // takes another task now
};

// Takes tasks. Nothing comes back from its methods, which never block: what becomes of a task is an answer.
class Executor {
 public:
  virtual ~Executor() = default;
  // To a card that has room, or to a CPU that is free.
  virtual void submit(const ComputeTask& task) = 0;
  // The result is not wanted any more. The task is answered all the same, once its place is free: soon, or when an
  // accelerator that does not give up what it has begun is through with it.
  virtual void cancel(const TaskKey& key) = 0;
  // By container id, as JobBinding numbers them; those of nodes that are away too.
  virtual std::span<const Card> cards() const = 0;
};

// What an executor says. Each task that it was given gets one of the first three answers; further ones, and any about
// a key that it never got, change nothing.
class TaskAnswers {
 public:
  virtual ~TaskAnswers() = default;
  virtual void done(const TaskKey& key) = 0;
  virtual void over_limit(const TaskKey& key) = 0;  // a CPU has not finished it in time
  virtual void lost(const TaskKey& key) = 0;        // with its container: it is to be done again
  virtual void room(ContainerId container) = 0;     // a card has room again
  // A node comes with its cards, or goes: these are given nothing more, and their tasks are answered as lost.
  virtual void came(NodeId node) = 0;
  virtual void went(NodeId node) = 0;
  // The processes of this run of a job (TaskDesk::start) are up: its tasks can be had.
  virtual void ready(JobId job, std::uint32_t run) = 0;
  // So many bindings of slots, in the order in which they were made, can be used.
  virtual void settled(std::uint64_t slot_bindings) = 0;
  // That is all for this instant: what there is room for is submitted.
  virtual void hand_out() = 0;
};

}  // namespace rota
