// A rehearsal that is looked at after each delivery of events: what every waiting job was promised, and which job held
// the first place in the queue. Each plan is drafted from nothing too, and must be the same: what a Plan keeps from
// cycle to cycle spares work and decides nothing.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "control/controller.h"
#include "engine/sim/engine.h"
#include "scenario/scenario.h"
#include "scenario/watching_intake.h"

namespace rota {

class WatchedRehearsal final : public WatchingIntake, private JobSink, private FactObserver {
 public:
  using Look = std::function<void(const View&)>;

  WatchedRehearsal(const std::vector<scenario::Row>& rows, const std::string& policy, const RehearseOptions& options)
      : WatchedRehearsal(scenario::workload_of(rows), policy, options) {}
  WatchedRehearsal(log::Workload workload, const std::string& policy, const RehearseOptions& options)
      : options_(options),
        workload_(std::move(workload)),
        chain_(scenario::chain_of(policy)),
        source_(workload_, options_),
        engine_({.ties = options.ties, .checkpoint = chain_.knobs().checkpoint}, source_, loop_),
        controller_(cluster_options(), chain_, {loop_, engine_, *this}) {
    controller_.add_observer(*this);
  }

  void append(std::unique_ptr<Policy> link) { chain_.append(std::move(link)); }

  // Throws the referee's sentence if it refuses a plan.
  void run(const Look& look) {
    look_ = look;
    engine_.open(*this);
    while (loop_.step()) {
      if (!engine_.health()) throw std::runtime_error(engine_.health().error().message);
      if (!controller_.health()) throw std::runtime_error(controller_.health().error().message);
    }
  }

  const std::map<std::int64_t, Job>& ended() const { return ended_; }  // by number; the rejected too

 private:
  Controller& watched() override { return controller_; }
  void decided(const View& view) override { look_(view); }
  void job_gone(JobId, const Job& job) override { ended_[job.spec.number] = job; }
  std::uint64_t wants() const override { return FactKinds::bit<CycleClosed>(); }
  void fact_recorded(const View& before, const FactRef& fact) override {
    Plan plan;
    plan.open(before);
    chain_.decide(before, plan);
    const std::uint64_t hash = plan.decides() ? plan.hash() : 0;
    if (hash != std::get<const CycleClosed*>(fact.what)->plan) {
      throw std::runtime_error("a plan that is drafted from nothing is another one");
    }
  }
  ClusterOptions cluster_options() const {
    ClusterOptions cluster;
    cluster.processors = options_.processors;
    cluster.machine = options_.machine.get();
    cluster.presume_ended = options_.ties == sim::Ties::submit_first;
    chain_.ask(cluster);
    return cluster;
  }

  RehearseOptions options_;
  log::Workload workload_;
  Chain chain_;
  WorkloadSource source_;
  sim::VirtualLoop loop_;
  sim::SimEngine engine_;
  Controller controller_;
  Look look_;
  std::map<std::int64_t, Job> ended_;
};

}  // namespace rota
