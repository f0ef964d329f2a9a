// One rehearsal: a workload, a policy, a simulated cluster, and the same controller that runs live.
#pragma once

#include <functional>
#include <memory>

#include "control/controller.h"
#include "engine/sim/engine.h"

namespace rota::sim {

struct RehearsalOptions {
  std::int64_t processors = 0;       // > 0
  const Machine* machine = nullptr;  // nodes and partitions; nullptr: counted. Must outlive the rehearsal
  EngineOptions engine;
  std::function<void(std::int64_t jobs_arrived)> progress;  // called every few thousand events; may be empty
};

// The cluster that goes with a chain: with the indexes that its policies ask for.
ClusterOptions cluster_options(const RehearsalOptions& options, const Chain& chain);

class Rehearsal {
 public:
  Rehearsal(const RehearsalOptions& options, const Chain& chain, Source& source, JobSink& jobs);

  // Runs until nothing is left to happen; fails with the referee's sentence.
  Result<void> run();

  const Controller& controller() const { return controller_; }

 private:
  bool is_over() const;

  RehearsalOptions options_;
  VirtualLoop loop_;
  SimEngine engine_;
  Controller controller_;
};

}  // namespace rota::sim
