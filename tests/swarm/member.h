// A site of a federation: beside its controller, in every life of it, a dispatcher and a claim gate. What they have in
// memory dies with the controller. A new life knows what its journal says (which jobs of the federation it has, and
// the epoch that names the life); that of a job of the federation its home and serial number are known for good; and
// three lists that no crash touches: jobs that were submitted here for all sites, jobs that have ended here (a site has
// them in its job history), and in a race those of which it was told.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "control/claim_gate.h"
#include "swarm/account.h"
#include "swarm/world.h"

namespace rota::swarm {

class Member final : public Companion, private rota::Site, private GateKeeper, private Exchange, private Alarm {
 public:
  struct Parts {
    const FederationCase& drawn;
    World& world;
    Exchange& exchange;
    sim::VirtualLoop& loop;
    Account& account;
  };
  Member(SiteId self, const Parts& parts);

  // A job for all sites; false: the site is away, and has not heard of it.
  bool submit(const GlobalJob& job);
  void cancel(std::int64_t number);  // if it really runs here
  // A copy of it is to stand here, in a race.
  void expect_copy(const Offer& offer);
  bool at_rest() const;
  bool was_there() const { return was_there_; }  // the exchange has heard of it

 private:
  // Of the controller's lives.
  Engine& outlet() override { return *gate_; }
  void rises() override;
  void acts() override;
  void falls() override;
  void decided() override { dispatcher_->load_changed(); }
  void job_gone(JobId id) override { gate_->job_gone(id); }
  void endured(const Fact& fact) override;

  // The dispatcher's site.
  const View& view() const override { return parts_.world.site().controller().view(); }
  std::optional<JobSpec> asked_here(const Offer& offer) const override;
  Haul haul(const Offer& offer) const override;
  std::vector<Coming> coming() const override;
  std::vector<Duration> soonest(const Offer& offer) const override;
  bool has(std::int64_t job) const override;
  void take(const Offer& offer) override;
  void give_up(std::int64_t job) override;
  void answered(std::int64_t job, bool ours) override { gate_->answered(job, ours); }

  // The gate's keeper.
  StartAnswer claim_to_start(std::int64_t job) override;
  StartAnswer claim_to_make_room(std::int64_t job) override;
  void starts(JobId /*id*/, std::int64_t /*job*/) override {}
  void makes_room(JobId /*beneficiary*/) override {}
  void not_started(const Command& give_way) override;
  void lost(JobId id) override;

  // Between its dispatcher and the exchange: counts what is asked for.
  void send(const Request& request) override;
  void watch(SiteId site, Watcher& watcher, Revision seen) override { parts_.exchange.watch(site, watcher, seen); }
  void stop(Watcher& watcher) override { parts_.exchange.stop(watcher); }

  void ring() override;
  void set_alarm();
  JobId find(std::int64_t number) const;  // invalid: it is not in the queue here
  void queue(std::int64_t number);
  void let_go(std::int64_t number);
  void say(const Observed& fact);

  SiteId self_;
  Parts parts_;
  std::optional<ClaimGate> gate_;
  std::optional<Dispatcher> dispatcher_;  // at one address, so that loops know it again
  std::multimap<Instant, std::int64_t> coming_;
  std::set<std::int64_t> lost_;  // to be taken back from the controller
  std::vector<Offer> submitted_;
  std::vector<Offer> copies_;
  std::set<std::int64_t> ended_;
  std::set<std::int64_t> gone_;  // copies
  std::int64_t lives_ = 0;
  std::int64_t requests_ = 0;
  std::optional<std::int64_t> falls_for_;  // at once
  bool was_there_ = false;
};

}  // namespace rota::swarm
