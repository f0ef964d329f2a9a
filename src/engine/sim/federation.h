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
#include "engine/sim/federated_site.h"

namespace rota::sim {

enum class Placing : std::uint8_t {
  auction,
  random,        // any site that is large enough
  round_robin,   // one after the other
  least_loaded,  // where running, waiting and coming jobs ask for the least, for its size
  race,          // a copy is queued at every site at once; the first to start revokes the others, and only then fetches
                 // the input, on the processors that it holds (as in Slurm's federation)
  staged_race,   // the same, but every site fetches the input before it queues its copy
};

struct FederationOptions {
  std::vector<std::int64_t> processors;         // of each site
  std::vector<std::vector<Duration>> transfer;  // [from][to]; 0 to itself
  Placing placing = Placing::auction;
  DispatchRules rules;
  std::vector<Instant> first_looks;  // of each site's dispatcher
  std::uint64_t seed = 0;            // of random placing, and of who hears first in a race
};

struct GlobalJob {
  Arrival arrival;  // its number is its place in the stream, from 1; local jobs have negative numbers
  SiteId data;      // where its input lies; it is submitted there
};

// What became of a job of the global stream.
struct Fate {
  SiteId site;
  Instant end = kNever;
  std::int32_t preempted_at = 0;  // sites at which others gave way to it
};

struct FederationTotals {
  std::int64_t transfers = 0;         // inputs that were brought to another site
  Duration transferred{0};            // how long these took
  std::int64_t preemptions = 0;       // all, local jobs' too
  std::int64_t vain_preemptions = 0;  // sites at which others gave way to a job that ran elsewhere
};

class Federation final : public Alarm, private SiteEar {
 public:
  struct Wiring {
    VirtualLoop& loop;
    Exchange& exchange;
    const Chain& chain;          // of every site
    std::vector<Source*> local;  // of each site; they must outlive the federation
  };
  Federation(const FederationOptions& options, const Wiring& wiring, std::vector<GlobalJob> jobs);
  ~Federation() override;

  // Until every job of the global stream has ended; fails with a referee's sentence.
  Result<void> run();

  const std::vector<GlobalJob>& jobs() const { return jobs_; }
  const std::vector<Fate>& fates() const { return fates_; }  // in the order of the jobs
  const FederationTotals& totals() const { return totals_; }

 private:
  class Face;  // of a site towards its dispatcher

  void ring() override;
  void load_changed(SiteId site) override;
  std::optional<Duration> may_start(SiteId site, std::int64_t job) override;
  void preempts(SiteId site, std::int64_t beneficiary) override;
  void left(SiteId site, const Job& job) override;

  bool races() const { return options_.placing == Placing::race || options_.placing == Placing::staged_race; }
  GlobalJob& job_of(std::int64_t number) { return jobs_[static_cast<std::size_t>(number - 1)]; }
  Fate& fate_of(std::int64_t number) { return fates_[static_cast<std::size_t>(number - 1)]; }
  Duration transfer(const GlobalJob& job, SiteId to) const { return options_.transfer[job.data.value][to.value]; }
  Result<void> place(const GlobalJob& job);
  void send(const GlobalJob& job, SiteId to, Duration after);  // with its input, which takes so long
  void expect(const GlobalJob& job, SiteId at, Instant when);
  SiteId least_loaded(const GlobalJob& job) const;
  SiteId next_large_enough(const GlobalJob& job);

  FederationOptions options_;
  VirtualLoop& loop_;
  Exchange& exchange_;
  std::vector<GlobalJob> jobs_;
  std::vector<Fate> fates_;
  std::vector<std::unique_ptr<FederatedSite>> sites_;
  std::vector<std::unique_ptr<Face>> faces_;
  std::vector<std::unique_ptr<Dispatcher>> dispatchers_;  // empty unless by auction
  struct Coming {
    std::int64_t job;
    SiteId site;
  };
  std::multimap<Instant, Coming> coming_;                  // with their input
  std::vector<std::int64_t> coming_processors_;            // by site
  std::map<std::int64_t, std::set<SiteId>> preempted_at_;  // by job number
  std::size_t next_ = 0;                                   // in jobs_
  std::size_t ended_ = 0;
  std::uint32_t turn_ = 0;  // round robin
  Random random_;
  FederationTotals totals_;
  Result<void> failure_;
};

}  // namespace rota::sim
