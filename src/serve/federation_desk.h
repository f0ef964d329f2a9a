// The desk for jobs that sites share: the service as a member of a federation (control/member.h) over etcd. A job that
// is submitted here for all sites waits as one that is not ours, and its offer goes to the global queue; where this
// site wins it, it is released into the site's own queue, and where another one does, its end is recorded here when
// that reports it. A job of another home is submitted here as its user, under a number of this site. What travels with
// jobs is brought by the desk's StageDesk. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/member.h"
#include "exchange/etcd/exchange.h"
#include "serve/job_desk.h"
#include "serve/job_records.h"
#include "serve/sealed.h"
#include "serve/stage_desk.h"
#include "serve/time_share.h"

namespace rota::serve {

using Json = nlohmann::json;

// A site of the federation, as this one sees it.
struct SiteShown {
  std::string name;
  bool self = false;
  bool alive = false;
  std::int64_t offered = 0;  // jobs of its own that are on offer
  std::int64_t taken = 0;    // jobs of all homes that it has settled and that have not ended
  std::optional<SiteCard> card = {};
};

class FederationDesk final : public JobSink, private LocalQueue, private Directory {
 public:
  struct Uses {
    boost::asio::io_context& io;
    Desk& desk;
    JobBook& book;
    const JobLookup& jobs;
    JobRecords& records;
    JobDesk& job_desk;
    const site::FederationSettings& settings;
  };
  // May take seconds, and fails with a sentence: see federation_join.h.
  static Result<std::unique_ptr<FederationDesk>> open(const Uses& uses, LiveEngine& engine, const Chain& chain);
  FederationDesk(const FederationDesk&) = delete;
  FederationDesk& operator=(const FederationDesk&) = delete;
  ~FederationDesk() override;

  // What the desk is wired to.
  Engine& gate() { return member_->gate(); }
  Durable& outbox() { return member_->durable(); }
  FactObserver& observer() { return member_->observer(); }

  // Before the controller resumes, and after that.
  void take_over() { member_->take_over(); }
  void begin();
  void stop();
  // A turn is over: bids follow what has changed at the site.
  void follow_load();

  // A job that was just submitted here, for all sites.
  Result<void> offer(JobId job, const Caller& caller, const JobRequest& request);
  // Whether another site that the request may go to can run it, for all that its card says.
  bool runs_elsewhere(const JobRequest& request) const;
  // Why such a request cannot be offered, as a sentence.
  Result<void> can_be_offered(const JobRequest& request) const;
  // It comes home from sale, to be cancelled there; a site that has it is asked to cancel it.
  Result<void> cancel(JobId job);

  void job_gone(JobId id, const Job& job) override;

  std::vector<SiteShown> all_sites() const;
  // The site that has a job of this home which waits and is not ours; empty: it is on offer.
  std::string site_of(JobId job) const;
  // When it started there, as that site's card says; kNever: it has not, or the card does not say.
  Instant started_at(JobId job) const;
  // Such a job has ended there, and what it left is on its way.
  bool comes_home(JobId job) const { return coming_home_.contains(job); }
  // How the sale of such a job goes, as sentences.
  std::string sale_of(JobId job) const;
  // The bids that stand on it, in JSON as in the text `auction` of jobs (docs/sites.md); null: it is not on offer.
  Json open_auction(JobId job) const;
  const std::string& trouble() const { return exchange_->trouble(); }
  const std::string& name() const { return uses_.settings.name; }

 private:
  FederationDesk(const Uses& uses, SiteId self);

  // The member's queue. What it asks for is done in a turn of its own, in the order in which it asks.
  const View& view() const override { return uses_.desk.view(); }
  void submit(const Offer& offer, const JobSpec& spec, Instant input, bool ahead) override;
  void tell(const Observed& fact) override;
  void take_back(std::int64_t job, JobId id) override;
  void cancel_guest(std::int64_t job, JobId id) override;
  void not_started(const Command& give_way) override;
  std::string report_on(const Trades::Guest& guest) override;
  void reported(std::int64_t job, SiteId site, const std::string& report) override;
  void all_known() override;

  void auctioned(const Offer& offer, SiteId winner, const std::string& auction) override;
  std::size_t bytes_of(const Offer& offer) const override;

  std::uint32_t sites() const override { return static_cast<std::uint32_t>(exchange_->names().size()); }
  std::optional<JobSpec> asked_at(SiteId site, const Offer& offer) const override;

  void later(std::function<void()> call);
  std::string payload_of(const Offer& offer) const;
  std::string only_elsewhere(JobId job) const;  // why a job of this home cannot run here; empty: it can
  bool has_share_for(const JobSpec& spec, std::int64_t number) const;
  bool is_away(std::int64_t serial) const;  // a job of this home waits for other sites, or is at one
  StageDesk::Guest where_is(std::int64_t number) const;
  Json auction_json(const AuctionRecord& auction) const;
  void refresh_card();
  SiteCard own_card() const;
  void go_on_with_own_jobs();
  void record_end(std::int64_t number, SiteId site, const std::string& report);
  JobId bring_home(const Offer& offer);
  void come_home(JobId job);
  void leave_home(JobId job);
  Result<JobId> take_in(const Offer& offer, bool ahead);
  void note_site(JobId job, const std::string& what, const std::string& text);
  std::string name_of(SiteId site) const { return exchange_->name_of(site); }
  std::int64_t number_of(JobId job) const;  // in the federation

  Uses uses_;
  SiteId self_;
  Seal seal_;
  mutable OfferBook offers_;
  std::map<std::int64_t, std::string>
      auctions_;  // how jobs were sold that this site has won and does not know yet, by number
  mutable std::set<std::int64_t> beyond_share_;  // offers that could run here if others did not
  std::map<JobId, SiteId> coming_home_;          // jobs of this home whose files are being brought, and where from
  bool looks_soon_ = false;                      // at the load, since it has changed
  TimeShare card_time_{0, 1.0 / 50};             // to reckon it takes a look at all that waits
  std::unique_ptr<EtcdExchange> exchange_;
  std::unique_ptr<SiteCards> cards_;
  std::unique_ptr<StageDesk> stage_;
  std::unique_ptr<Member> member_;
  std::vector<std::function<void()>> asked_;
  std::shared_ptr<bool> stands_ = std::make_shared<bool>(true);
};

}  // namespace rota::serve
