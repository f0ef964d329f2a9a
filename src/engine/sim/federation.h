// A federation in virtual time: several sites, each with the controller that runs live, its own queue and its own
// stream of jobs; a global stream; and the time that it takes to bring a job's input from site to site.
//
// Jobs of the global stream find their site by auction, through the dispatchers that run live, or by one of the rules
// that auctions are compared with.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/random.h"
#include "control/siting.h"
#include "engine/sim/federated_site.h"

namespace rota::sim {

using rota::Placing;

struct FederationOptions {
  std::vector<RehearsalOptions> sites;
  std::vector<std::vector<Duration>> transfer;  // of any input, [from][to]; 0 to itself
  std::vector<std::int64_t> bandwidth = {};     // of each site's link, bytes a second, of two the lesser; 0: no limit
  Placing placing = Placing::auction;
  DispatchRules rules;
  std::vector<Instant> first_looks;  // of each site's dispatcher
  Duration margin{0};       // bids by expected start: by so much sooner a job must start elsewhere than where it lies
  std::uint64_t seed = 0;   // of random placing, and of which site hears first in a race
  bool locals_too = false;  // it is over when the sites' own jobs are gone too
  bool ahead = false;       // a job that was won goes before those of its own priority in the queue
  bool early = false;       // it is handed to the queue before its input is brought, and starts once that is there
};

struct GlobalJob {
  Arrival arrival;         // its number is no other job's, a local one's neither
  SiteId data;             // where its input lies; it is submitted there
  std::int64_t bytes = 0;  // of its input
};

// What became of a job of the global stream.
struct Fate {
  SiteId site;
  Instant end = kNever;
  std::int32_t preempted_at = 0;  // sites at which others gave way to it
};

// Inputs that went over a site's link.
struct Traffic {
  std::int64_t inputs_in = 0;
  std::int64_t inputs_out = 0;
  std::int64_t bytes_in = 0;
  std::int64_t bytes_out = 0;
};

// What the jobs of a federation ask for at each site, where sites differ in more than their size.
class Terms {
 public:
  virtual ~Terms() = default;
  // nullopt: it can never run there.
  virtual std::optional<JobSpec> at(SiteId site, const JobSpec& job) const = 0;
};

// Hears of every job that leaves a site for good: it has ended or was rejected.
class SiteJobSink {
 public:
  virtual ~SiteJobSink() = default;
  virtual void job_gone(SiteId site, const Job& job, const JobDraw& drew) = 0;  // drew: where jobs are metered
};

struct FederationTotals {
  std::int64_t transfers = 0;         // inputs that were brought to another site
  Duration transferred{0};            // how long these took
  std::int64_t preemptions = 0;       // all, local jobs' too
  std::int64_t vain_preemptions = 0;  // sites at which others gave way to a job that ran elsewhere
};

class Federation final : public Alarm, private SiteEar, private Directory {
 public:
  struct Wiring {
    VirtualLoop& loop;
    Exchange& exchange;
    const Chain& chain;            // of every site
    std::vector<Source*> local;    // of each site; they must outlive the federation
    const Terms* terms = nullptr;  // nullptr: a job asks for the same everywhere
    SiteJobSink* jobs = nullptr;
  };
  Federation(const FederationOptions& options, const Wiring& wiring, std::vector<GlobalJob> jobs);
  ~Federation() override;

  // Until every job of the global stream has ended, or nothing more can happen; fails with a referee's sentence.
  Result<void> run();

  const std::vector<GlobalJob>& jobs() const { return jobs_; }
  const std::vector<Fate>& fates() const { return fates_; }  // in the order of the jobs
  const FederationTotals& totals() const { return totals_; }
  const Traffic& traffic(SiteId site) const { return traffic_[site.value]; }
  const FederatedSite& site(SiteId site) const { return *sites_[site.value]; }

 private:
  class Road;  // by which inputs come to a site

  void ring() override;
  std::uint32_t sites() const override { return static_cast<std::uint32_t>(options_.sites.size()); }
  std::optional<JobSpec> asked_at(SiteId site, const Offer& offer) const override { return asked_by(site, offer.spec); }
  std::optional<JobSpec> asked_by(SiteId site, const JobSpec& job) const;
  Duration run_time(std::int64_t job) const override { return job_of(job).arrival.run_time; }
  Duration starts(SiteId site, std::int64_t job) override;
  void preempts(SiteId site, std::int64_t beneficiary) override;
  void job_gone(SiteId site, const Job& job, const JobDraw& drew) override;

  bool races() const { return rota::races(options_.placing); }
  std::size_t index_of(std::int64_t number) const;  // in jobs_; its size: a local job
  GlobalJob& job_of(std::int64_t number) { return jobs_[index_of(number)]; }
  const GlobalJob& job_of(std::int64_t number) const { return jobs_[index_of(number)]; }
  Fate& fate_of(std::int64_t number) { return fates_[index_of(number)]; }
  Duration transfer(const GlobalJob& job, SiteId to) const { return transfer(job.data, to, job.bytes); }
  Duration transfer(SiteId from, SiteId to, std::int64_t bytes) const;
  bool on_offer(std::int64_t number) const { return claims(options_.placing) && !settled_.contains(number); }
  MemberRules member_rules() const;
  std::vector<SiteId> able(const GlobalJob& job) const;  // the sites that can run it
  bool over() const;
  bool quiet() const;
  bool jobs_left() const;
  bool all_idle() const;
  Result<void> health() const;
  void arrive(const GlobalJob& job, SiteId at);
  void place(const GlobalJob& job);
  void offer(const GlobalJob& job, const std::vector<SiteId>& sites);
  void moved(const GlobalJob& job, SiteId to, Duration took);
  void send(const GlobalJob& job, SiteId to, Duration after);  // with its input, which takes so long
  void send_copy(const GlobalJob& job, SiteId to);             // of one that is on offer, without it
  void expect(const GlobalJob& job, SiteId at, Instant when);
  void leave(std::int64_t job, SiteId at);

  FederationOptions options_;
  VirtualLoop& loop_;
  const Terms* terms_;
  SiteJobSink* sink_;
  std::vector<GlobalJob> jobs_;
  std::vector<std::pair<std::int64_t, std::size_t>> index_;  // by number
  std::vector<Fate> fates_;
  MemberRules rules_;
  std::vector<std::unique_ptr<Road>> roads_;
  std::vector<std::unique_ptr<FederatedSite>> sites_;
  struct Arriving {
    std::int64_t job;
    SiteId site;
  };
  std::multimap<Instant, Arriving> coming_;                // with their input
  std::vector<std::int64_t> coming_processors_;            // by site
  std::set<std::int64_t> settled_;                         // numbers of jobs that only one site can run
  std::map<std::int64_t, std::set<SiteId>> preempted_at_;  // by job number
  std::size_t next_ = 0;                                   // in jobs_
  std::size_t ended_ = 0;
  SiteChoice choice_;
  Random random_;  // of messages
  FederationTotals totals_;
  std::vector<Traffic> traffic_;
};

}  // namespace rota::sim
