#include "engine/sim/rehearsal.h"

namespace rota::sim {
ClusterOptions cluster_options(const RehearsalOptions& options, const Chain& chain) {
  ClusterOptions cluster;
  cluster.processors = options.processors;
  cluster.waiting = chain.waiting();
  cluster.presume_ended = options.engine.ties == Ties::submit_first;
  cluster.user_history = chain.knobs().estimator != Estimator::limit;
  cluster.machine = options.machine;
  cluster.list_processors = chain.lists_processors();
  cluster.by_priority = chain.ranks_running();
  return cluster;
}

namespace {

EngineOptions engine_options(const RehearsalOptions& options, const Chain& chain) {
  EngineOptions engine = options.engine;
  engine.checkpoint = chain.knobs().checkpoint;
  return engine;
}

}  // namespace

Rehearsal::Rehearsal(const RehearsalOptions& options, const Chain& chain, Source& source, JobSink& jobs)
    : options_(options),
      engine_(engine_options(options, chain), source, loop_),
      controller_(cluster_options(options, chain), chain, {loop_, engine_, jobs}) {}

// A policy may go on asking to be woken.
bool Rehearsal::is_over() const {
  return engine_.no_more_to_come() && controller_.view().waiting().empty() && controller_.view().running().empty();
}

Result<void> Rehearsal::run() {
  engine_.open(controller_);
  for (std::int64_t steps = 0; !is_over() && loop_.step(); ++steps) {
    if (!engine_.failure()) return engine_.failure();
    if (!controller_.failure()) return controller_.failure();
    if (options_.progress && steps % 8192 == 0) options_.progress(engine_.arrived());
  }
  controller_.close();
  return {};
}

}  // namespace rota::sim
