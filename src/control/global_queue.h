// What one site knows of the global queue: a fold over the changes that the exchange has told it. Never ahead of the
// exchange, maybe behind; what it shows as over is over for good. Not thread-safe.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "control/exchange.h"

namespace rota {

class GlobalQueue {
 public:
  struct Claim {
    SiteId site;
    Epoch epoch = 0;
    Token token = {};
    Revision revision = 0;  // 0: it is not claimed
  };
  struct Lot {  // a job on offer
    std::shared_ptr<const Offer> offer;
    Revision revision = 0;
    SiteId holder = {};  // as the record says; whether that still counts is said below
    Epoch holder_epoch = 0;
    Claim claim = {};
    // The round in which it is sold: bids from before are of an earlier one. It begins when the job is offered or put
    // back, and again when a claim on it is void.
    Revision round() const { return std::max(revision, claim.revision); }
  };
  struct StandingBid {
    Bid bid;
    Epoch epoch = 0;
    Revision revision = 0;
  };
  struct Win {  // a job that this site has settled and that has not ended
    std::shared_ptr<const Offer> offer;
    Revision revision = 0;
  };

  struct Away {  // a job of this home that another site has settled
    SiteId site;
    Revision revision = 0;
  };
  struct Report {  // how a job of this home ended at another site
    SiteId site;
    std::string text;
  };

  explicit GlobalQueue(SiteId self) : self_(self) {}

  // False if that was known already.
  bool fold(const Change& change);
  Revision revision() const { return revision_; }
  bool complete() const { return complete_; }  // not in the middle of a resync

  Epoch epoch_of(SiteId site) const;         // 0: it is not alive
  Epoch latest_epoch_of(SiteId site) const;  // maybe over; 0: it has never joined
  bool lives(SiteId site, Epoch epoch) const { return epoch != 0 && epoch_of(site) == epoch; }
  Token joined_by(SiteId site) const;            // of the request that began its epoch, or its latest one
  std::int64_t last_offered(SiteId home) const;  // serial number; 0: none

  const std::map<std::int64_t, Lot>& lots() const { return lots_; }  // by job number
  const Lot* find(std::int64_t job) const;                           // nullptr: it is not on offer
  bool claimed(const Lot& lot) const { return lives(lot.claim.site, lot.claim.epoch); }
  SiteId holder(const Lot& lot) const { return lives(lot.holder, lot.holder_epoch) ? lot.holder : SiteId{}; }
  // The site that sells it: its home while that lives, else the living site with the highest hash of job and site, so
  // that all come to the same without a word. Invalid: no site lives.
  SiteId seller(const Lot& lot) const;

  const std::map<std::int64_t, std::map<SiteId, StandingBid>>& bids() const { return bids_; }
  const StandingBid* bid(std::int64_t job, SiteId site) const;  // nullptr: none, or a void one from before its epoch
  Revision own_bid(std::int64_t job) const;                     // the revision of its record, void or not; 0: none
  bool counts(const Lot& lot, const StandingBid& bid, SiteId site) const;

  const std::map<std::int64_t, Win>& wins() const { return wins_; }
  const Win* won(std::int64_t job) const;

  const std::map<std::int64_t, Report>& reports() const { return reports_; }  // that this home has not noted yet
  const Away* away(std::int64_t job) const;  // nullptr: no other site has it, or it is none of this home's
  bool cancelled(std::int64_t job, SiteId home) const { return cancelled_.contains({job, home}); }  // by its home

  // Whether the exchange would still apply a request of this site, for all that is known. Once it would not, it never
  // will again: it was applied, or something else came first.
  bool possible(const Request& request) const;

 private:
  struct Member {
    bool alive = false;
    Epoch epoch = 0;  // its latest
    Token token = {};
  };

  void fold_known(const Change& change);
  void forget_all();

  SiteId self_;
  Revision revision_ = 0;
  bool complete_ = true;
  std::map<SiteId, Member> sites_;
  std::map<SiteId, std::int64_t> last_;
  std::map<std::int64_t, Lot> lots_;
  std::map<std::int64_t, std::map<SiteId, StandingBid>> bids_;
  std::map<std::int64_t, Win> wins_;
  std::map<std::int64_t, Away> away_;
  std::map<std::int64_t, Report> reports_;
  std::set<std::pair<std::int64_t, SiteId>> cancelled_;  // jobs, and the sites that say so
};

}  // namespace rota
