// The dispatcher of one site in a federation (Baranov et al. 2018): looks at the global queue, bids for its site, is
// the auctioneer of the jobs that were submitted at its site, and hands what the site has won to the local controller.
// All dispatchers are equal; they meet only in the Exchange. One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "control/exchange.h"
#include "policy/auction.h"

namespace rota {

struct DispatchRules {
  AuctionRules auction;
  BidRules bid;
  Duration look{0};              // how often it looks at the global queue; 0: it hears of every auction at once
  bool second_thoughts = false;  // a job that was won and has not started stays on offer
  Duration bids_again{0};  // on such a job at most so often, and rounds are as long then; 0: whenever load changes
};

// A dispatcher's own site.
class Site {
 public:
  virtual ~Site() = default;
  virtual const View& view() const = 0;
  // What the job asks for here, where partitions differ; nullopt: it can never run here.
  virtual std::optional<JobSpec> asked_here(const Offer& offer) const = 0;
  virtual Haul haul(const Offer& offer) const = 0;
  // Jobs that it has taken and that are not in its queue yet, in the order in which they come.
  virtual std::vector<Coming> coming() const = 0;
  // Of every site of the federation, when it could start the job at best; kLongest: never.
  virtual std::vector<Duration> soonest(const Offer& offer) const = 0;
  // The site has won the job: fetch its input, then queue it.
  virtual void take(const Offer& offer) = 0;
  // A job that it has in its queue has gone to another site.
  virtual void give_up(std::int64_t job) = 0;
};

class Dispatcher final : public Alarm {
 public:
  Dispatcher(SiteId self, const DispatchRules& rules, Site& site, Exchange& exchange, Loop& loop);

  // Begins, at this instant to look.
  void open(Instant first_look);
  // A job that the site has taken is in its queue now.
  void queued(std::int64_t job);
  // It is about to start there for the first time, or others are about to give way to it: true if it may.
  bool may_start(std::int64_t job);
  // Something has started, ended or been queued at the site.
  void load_changed();
  void ring() override;

 private:
  void read_changes();
  void read(const Change& change);
  void offered(std::int64_t job);
  void claimed(const Change& change);
  void look_and_bid(Instant now);
  void send(const std::vector<Bidder::Message>& messages);
  void close_auctions(Instant now);
  Instant next_ring() const;

  SiteId self_;
  DispatchRules rules_;
  Site& site_;
  Exchange& exchange_;
  Loop& loop_;
  Bidder bidder_;
  std::map<std::int64_t, Auctioneer> auctions_;  // of jobs that were submitted here
  std::set<std::int64_t> held_;                  // jobs that wait here and are on offer
  Revision seen_ = 0;
  Instant next_look_ = kNever;
  Instant next_again_ = kEpoch;  // when bids on jobs that are held may be renewed
  bool load_changed_ = false;
  bool again_ = false;  // and when there is reason to
};

}  // namespace rota
