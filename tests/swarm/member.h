// A site of a federation in the swarm: the member that runs live beside its controller, in every life of it, and what
// can go wrong between them. What the member has in memory dies with the controller: a new life knows what its journal
// says, and the copies of a race of which the site was told and that its journal does not say yet. Taken for granted:
// no site dies for good, users cancel no job that several sites may have while it waits, and the dispatcher goes by the
// loop's clock, which does not jump as a controller's clock does.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <variant>

#include "control/member.h"
#include "swarm/account.h"
#include "swarm/world.h"

namespace rota::swarm {

class Member final : public Companion,
                     private LocalQueue,
                     private Carrier,
                     private Directory,
                     private Exchange,
                     private Watcher,
                     private Durable,
                     private Loop,
                     private Alarm {
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
  // Rings what the member has set, so that a crash ends it.
  class Guarded final : public Alarm {
   public:
    Guarded(World& world, Alarm& alarm) : world_(world), alarm_(alarm) {}
    void ring() override {
      world_.site().guard([&] { alarm_.ring(); });
    }

   private:
    World& world_;
    Alarm& alarm_;
  };
  struct Submission {
    JobSpec spec;
    bool ahead;
  };

  // What the controller's lives need of it.
  Engine& outlet() override { return member_->gate(); }
  Durable& durable() override { return member_->durable(); }
  void rises() override;
  void acts() override;
  void falls() override;
  void decided() override { member_->load_changed(); }
  void job_gone(JobId id, const Job& job) override {
    member_->job_gone(id, job.spec.number, report_for(job.spec.number));
  }
  void endured(const Fact& fact) override;

  // The site's own queue.
  const View& view() const override { return parts_.world.site().controller().view(); }
  void submit(const Offer& offer, const JobSpec& spec, Instant input, bool ahead) override;
  void tell(const Observed& fact) override;
  void take_back(std::int64_t job, JobId id) override;
  void not_started(const Command& give_way) override;
  std::string report_on(const Trades::Guest& guest) override { return report_for(guest.offer.spec.number); }
  void reported(std::int64_t job, SiteId site, const std::string& report) override;
  std::string report_for(std::int64_t number) const;  // empty: the job is at home here, or no job of the federation

  Result<void> commit() override { return parts_.world.site().keep(); }

  // Roads: each as long as any other.
  Duration haul(const Offer& offer, SiteId to) const override {
    return offer.data == to ? Duration{0} : parts_.drawn.transfer;
  }
  Duration longest_haul(const Offer& /*offer*/) const override { return parts_.drawn.transfer; }
  void bring(const Offer& offer) override;
  void leave(std::int64_t job) override;
  std::vector<Coming> coming() const override;

  std::uint32_t sites() const override { return static_cast<std::uint32_t>(parts_.drawn.sites.size()); }
  std::optional<JobSpec> asked_at(SiteId site, const Offer& offer) const override;

  // Between the member and the exchange.
  void send(const Request& request) override;
  void watch(SiteId site, Watcher& watcher, Revision seen) override;
  void stop(Watcher& watcher) override;
  void hear(const Change& change) override;

  Instant now() const override { return parts_.loop.now(); }
  void set(Alarm& alarm, Instant at) override;

  void ring() override;
  void set_alarm();
  JobId find(std::int64_t number) const;  // invalid: it is not in the queue here
  void carry_out(const Submission& submission, Controller& controller);
  void carry_out(const Observed& fact, Controller& controller);
  void say(const Observed& fact);

  SiteId self_;
  Parts parts_;
  std::optional<rota::Member> member_;  // at one address, so that its alarms are known again
  std::map<Alarm*, Guarded> alarms_;
  Watcher* hears_ = nullptr;
  std::multimap<Instant, std::int64_t> coming_;
  std::deque<std::variant<Submission, Observed>> posted_;  // to the controller, for a turn of their own
  std::deque<std::int64_t> reports_;                       // that came, to be noted in a turn of their own
  std::map<std::int64_t, Offer> copies_;                   // that its journal does not say yet
  std::int64_t lives_ = 0;
  bool was_there_ = false;
};

}  // namespace rota::swarm
