// One site of a rehearsed federation: the simulated cluster, the controller that runs live, and the member that runs
// live between them.
#pragma once

#include <map>
#include <memory>

#include "control/controller.h"
#include "control/member.h"
#include "engine/sim/rehearsal.h"

namespace rota::sim {

// What a site tells its federation, and asks it. Jobs by number.
class SiteEar {
 public:
  virtual ~SiteEar() = default;
  // How long a job of the federation runs on a node of CPU factor 1.
  virtual Duration run_time(std::int64_t job) const = 0;
  // A job that was claimed starts. How much longer it runs because of what it has to fetch first.
  virtual Duration starts(SiteId site, std::int64_t job) = 0;
  virtual void preempts(SiteId site, std::int64_t beneficiary) = 0;
  virtual void job_gone(SiteId site, const Job& job, const JobDraw& drew) = 0;  // drew: where jobs are metered
};

class FederatedSite final : private LocalQueue, private Intake, private JobSink, private Alarm {
 public:
  struct Parts {
    const RehearsalOptions& options;
    const Chain& chain;
    Source& local;  // its own jobs
    VirtualLoop& loop;
    SiteEar& ear;
    const MemberRules& rules;
    Carrier& carrier;
    const Directory& directory;
    Exchange& exchange;
  };
  FederatedSite(SiteId self, const Parts& parts);
  FederatedSite(const FederatedSite&) = delete;
  FederatedSite& operator=(const FederatedSite&) = delete;
  ~FederatedSite() override;

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
  const View& view() const override { return controller_.view(); }
  const Result<void>& health() const { return controller_.health() ? engine_.health() : controller_.health(); }

  Member& member() { return member_; }
  const Member& member() const { return member_; }
  // A job that was submitted here for all sites, now: what was offered.
  Offer offer(const JobSpec& spec, SiteId data);
  // A job that no other site has, now.
  void queue(const Arrival& arrival) { engine_.submit(arrival); }

 private:
  struct Handed {
    Instant input = kEpoch;  // it cannot start before, when its input is there
    bool ahead = false;      // it goes before others of its priority
  };

  void submit(const Offer& offer, const JobSpec& spec, Instant input, bool ahead) override;
  void tell(const Observed& fact) override;
  void take_back(std::int64_t job, JobId id) override;
  void not_started(const Command& give_way) override { engine_.not_started(give_way.job); }
  void starts(JobId id, std::int64_t job) override;
  void makes_room(JobId beneficiary) override { ear_.preempts(self_, view().job(beneficiary).spec.number); }

  JobId submit(const JobSpec& spec, Bars bars) override;
  Result<void> record(const Observed& fact, Instant happened) override { return controller_.record(fact, happened); }
  Result<void> decide() override;
  void job_gone(JobId id, const Job& job) override;
  void ring() override;

  SiteId self_;
  SiteEar& ear_;
  VirtualLoop& loop_;
  SimEngine engine_;
  Member member_;
  Controller controller_;
  std::map<std::int64_t, Handed> handed_;  // by number: jobs of the federation on their way from engine to controller
  std::vector<Observed> told_;             // to be recorded in a turn of its own
};

}  // namespace rota::sim
