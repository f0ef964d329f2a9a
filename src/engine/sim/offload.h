// One application whose tasks can use accelerators, on simulated nodes that come and go. Physics only: which executor
// gets which task is for policy/bind/bind_tasks.h to say.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engine/sim/pipeline.h"
#include "model/machine.h"
#include "policy/bind/bind_tasks.h"

namespace rota::sim {

struct OffloadNode {
  RackId rack;
  std::vector<std::int32_t> speeds = {};  // of its accelerators, per mille
  Instant joins = kEpoch;
  Instant leaves = kNever;  // dies then: what it has begun is lost
  Instant drains = kNever;  // is told to go then: finishes what it has begun, and that only
};

// The application and the cluster that it runs on. The CPU of a node computes one task at a time, an accelerator one
// task at a time in the middle stage of its pipeline. Every accelerator has a link of its own.
struct Offload {
  Bind bind = Bind::node;
  std::uint32_t tasks = 0;     // <= kMostTasks
  TaskTimes times;             // > 0
  std::int64_t transfer = 0;   // bytes of a task to the accelerator, and as many back
  std::int64_t bandwidth = 0;  // bytes a second; > 0 where there is a transfer
  Duration start_up{0};        // before the first task
  PipelineShape pipeline;
  std::vector<OffloadNode> nodes;  // by node id
};

struct OffloadOutcome {
  Duration makespan{0};                     // from the epoch: start-up and tasks
  std::vector<std::uint32_t> on_cpu;        // tasks that were finished there, by node id
  std::vector<std::uint32_t> in_container;  // likewise, by container id
  std::uint32_t redone = 0;                 // begun on nodes that died before the end
};

// Runs the application to its end on virtual time. Fails if all nodes are gone before.
Result<OffloadOutcome> run_offload(const Offload& offload);

// The nodes of a cluster that is described node by node, all there from the beginning.
std::vector<OffloadNode> offload_nodes(const Machine& machine);

}  // namespace rota::sim
