// One rehearsal: a workload, a policy, a simulated cluster, and the same controller that runs live.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "control/controller.h"
#include "engine/sim/engine.h"

namespace rota::sim {

struct RehearsalOptions {
  std::int64_t processors = 0;             // > 0
  const Machine* machine = nullptr;        // nodes and partitions; nullptr: counted. Must outlive the rehearsal
  const WorkHistory* past_work = nullptr;  // what is known beforehand of the jobs to come; must outlive the rehearsal
  const LimitBook* limits = nullptr;       // of the machine, for its jobs; must outlive the rehearsal
  const ShareTree* shares = nullptr;       // for policies that know of any; must outlive the rehearsal
  // Terms of the few jobs that have their own, by their place in the source; the jobs that they wait for are places as
  // well, as ids of jobs. nullptr: no job has any. Must outlive the rehearsal.
  const std::map<std::uint32_t, JobTerms>* terms = nullptr;
  EngineOptions engine;
  Durable* durable = nullptr;                 // asked to commit after each decision; it must outlive the rehearsal
  std::vector<FactObserver*> observers = {};  // hear of every fact; they must outlive the rehearsal
  std::function<void(std::int64_t jobs_arrived)> progress;  // called every few thousand events; may be empty
};

// The cluster that goes with a chain: with the indexes that its policies ask for.
ClusterOptions cluster_options(const RehearsalOptions& options, const Chain& chain);
// The options of the simulated cluster for that chain.
EngineOptions engine_options(const RehearsalOptions& options, const Chain& chain);

// Tells of what is reserved on the machine from the beginning; before any job comes, and once the engine is open, so
// that at one instant its alarm rings first. Fails with a sentence if the policy would not keep it. nullptr: nothing
// is.
Result<void> reserve(const Machine* machine, Intake& intake);

// Counts the steps of a loop from which nothing has come, in a row: nothing is left to happen by itself, or nodes are
// switched at most, and no job is to come or runs.
class StepsInVain {
 public:
  explicit StepsInVain(std::int64_t most_looks) : most_looks_(most_looks) {}

  void count(bool happens, bool jobs_left) {
    looks_ = happens ? 0 : looks_ + 1;
    switches_ = jobs_left ? 0 : switches_ + 1;
  }
  bool something_happens() const { return looks_ == 0; }
  // Nothing more will come of so many.
  bool too_many_looks() const { return looks_ > most_looks_; }
  bool too_many_switches() const { return switches_ > kMostSwitches; }

 private:
  static constexpr std::int64_t kMostSwitches = 1'000'000;
  std::int64_t most_looks_;
  std::int64_t looks_ = 0;
  std::int64_t switches_ = 0;
};
// The sentence for a cluster in which jobs wait and none ever starts.
std::unexpected<Error> waits_for_ever(const View& view);

class Rehearsal {
 public:
  Rehearsal(const RehearsalOptions& options, const Chain& chain, Source& source, JobSink& jobs);

  // Runs until no job is left to come, to wait or to run, or nothing more can happen; fails with the referee's
  // sentence.
  Result<void> run();

  const Controller& controller() const { return controller_; }
  // Before run(), an observer can set its alarm here, to look on at that instant and then at others of its own choice.
  VirtualLoop& loop() { return loop_; }
  // What the nodes drew, from the first arrival until the last job was gone; nothing where nothing was metered.
  Consumption consumption() const {
    return engine_.meter().meters() ? engine_.meter().read(loop_.now()) : Consumption{};
  }
  // What became of jobs' tasks, likewise.
  TaskUse tasks() const { return engine_.tasks() ? engine_.tasks()->use(loop_.now()) : TaskUse{}; }
  const std::vector<std::int64_t>& energy_of_jobs() const { return engine_.meter().of_jobs(); }
  std::vector<NodeTotal> node_totals() const { return engine_.meter().totals(loop_.now()); }
  NodeStates node_states() const { return engine_.meter().states(loop_.now()); }
  JobDraw drawn_by(JobId job) const { return engine_.meter().of_job(job); }

 private:
  bool all_gone() const;

  RehearsalOptions options_;
  VirtualLoop loop_;
  SimEngine engine_;
  Controller controller_;
  std::unique_ptr<Intake> terms_;  // gives them to the jobs as they come; nullptr: there are none
};

}  // namespace rota::sim
