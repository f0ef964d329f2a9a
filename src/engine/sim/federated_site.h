// One site of a rehearsed federation: the controller that runs live and the simulated cluster, and between them the
// gate that claims jobs before they start.
#pragma once

#include <map>
#include <memory>

#include "control/claim_gate.h"
#include "control/controller.h"
#include "engine/sim/rehearsal.h"

namespace rota::sim {

// What a site tells its federation. Jobs by number.
class SiteEar {
 public:
  virtual ~SiteEar() = default;
  virtual void load_changed(SiteId site) = 0;
  // Before it starts, or others give way to it. pending: FederatedSite::answered() follows.
  virtual StartAnswer claim(SiteId site, std::int64_t job, bool to_start) = 0;
  // It starts. How much longer it runs because of what it has to fetch first.
  virtual Duration starts(SiteId site, std::int64_t job) = 0;
  virtual void preempts(SiteId site, std::int64_t beneficiary) = 0;
  virtual void job_gone(SiteId site, const Job& job, const JobDraw& drew) = 0;  // drew: where jobs are metered
};

class FederatedSite final : private GateKeeper, private Intake, private JobSink {
 public:
  struct Parts {
    const RehearsalOptions& options;
    const Chain& chain;
    Source& local;  // its own jobs
    VirtualLoop& loop;
    SiteEar& ear;
  };
  FederatedSite(SiteId self, const Parts& parts);

  void open() { engine_.open(*this); }
  // Decides at this instant whether anything has happened or not: a site without jobs, too, has nodes to put to sleep.
  void wake(Instant at) { loop_.set(controller_, at); }
  void close() { controller_.close(); }  // after the last event
  // No job is left to come from its own stream, to wait or to run.
  bool all_gone() const { return !engine_.expects_jobs() && view().waiting().empty() && view().running().empty(); }
  // A job is to come or runs.
  bool jobs_left() const { return engine_.expects_jobs() || !view().running().empty(); }
  bool quiet() const { return engine_.quiet(); }  // nothing will happen here by itself
  const Controller& controller() const { return controller_; }
  // What its nodes drew until now; nothing where nothing is metered.
  Consumption consumption(Instant now) const {
    return engine_.meter().meters() ? engine_.meter().read(now) : Consumption{};
  }
  std::vector<NodeTotal> node_totals(Instant now) const { return engine_.meter().totals(now); }
  NodeStates node_states(Instant now) const { return engine_.meter().states(now); }
  // What became of the tasks of jobs that ran here.
  TaskUse tasks(Instant now) const { return engine_.tasks() ? engine_.tasks()->use(now) : TaskUse{}; }
  const View& view() const { return controller_.view(); }
  const Result<void>& health() const { return controller_.health() ? engine_.health() : controller_.health(); }

  // How a job from elsewhere comes to the queue.
  struct Handed {
    Instant input = kEpoch;  // it cannot start before, when its input is there
    bool ahead = false;      // it goes before others of its priority
  };
  // Hands over a job from elsewhere, now.
  void queue(const Arrival& arrival, const Handed& handed);
  // Takes back a job that it was brought and that has not ended, if it has it.
  void take_back(std::int64_t job);
  bool has(std::int64_t job) const { return brought_.contains(job); }
  // To a claim that was pending.
  void answered(std::int64_t job, bool ours) { gate_.answered(job, ours); }

 private:
  JobId submit(const JobSpec& spec, Bars bars) override;
  JobId submit(const JobSpec& spec, const Handed& handed);
  Result<void> record(const Observed& fact, Instant happened) override { return controller_.record(fact, happened); }
  Result<void> decide() override;
  void job_gone(JobId id, const Job& job) override;
  StartAnswer claim_to_start(std::int64_t job) override { return ear_.claim(self_, job, true); }
  StartAnswer claim_to_make_room(std::int64_t job) override { return ear_.claim(self_, job, false); }
  void starts(JobId id, std::int64_t job) override;
  void makes_room(JobId beneficiary) override;
  void not_started(const Command& give_way) override { engine_.not_started(give_way.job); }
  void lost(JobId id) override;

  SiteId self_;
  SiteEar& ear_;
  VirtualLoop& loop_;
  SimEngine engine_;
  ClaimGate gate_;
  Controller controller_;
  std::map<std::int64_t, JobId> brought_;  // by number: jobs from elsewhere that are here; invalid: not quite yet
  std::map<std::int64_t, Handed> handed_;  // how these come, where not at the end of the queue with their input
};

}  // namespace rota::sim
