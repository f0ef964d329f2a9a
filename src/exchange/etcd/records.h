// How the global queue lies in etcd, and what a site knows of it from there: a fold over records. Keys under one
// prefix:
//
//   number/K          a site's name, in the order in which sites came: K is its number, its SiteId at all of them
//   site/NAME         token; under the site's lease. Its revision is the site's epoch
//   epoch/NAME        token; the same revision, and stays: the latest epoch
//   card/NAME         what the site is, in JSON and without a token (serve/site_card.h); stays
//   last/NAME         token, serial: the highest serial number that the site has offered; stays
//   job/N             token, holder and its epoch, offer: present while it is on offer or claimed
//   claim/N           token, site, its epoch; how the auction went
//   bid/NAME/N        token, price, start, epoch, transfer, what the price is made of, fact
//   won/NAME/N        token, offer: settled by NAME, and not ended
//   ended/N           token, the site where it ended, its home: until that has noted it
//   cancel/NAME/N     token: NAME, its home, wants it ended; until that has noted its end
//
//   ~payload/NAME/N   what the job runs, until NAME, its home, knows that it has ended. Not watched: the site that has
//                     won it reads it
//
// What stands under a NAME only that site may write, where etcd has rights for each (`rota sites init`). N is a job's
// number in the federation. Other values are one line of words, behind which an offer has its request, a claim its
// auction, and an end its report. Records that cannot be read are as good as not there: a site that may write them can
// disturb sales, and no more.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/exchange.h"
#include "exchange/etcd/client.h"

namespace rota::etcd {

class Keys {
 public:
  explicit Keys(std::string prefix) : prefix_(std::move(prefix)) {}
  const std::string& prefix() const { return prefix_; }
  std::string number(std::uint32_t site) const;
  std::string of_site(const char* kind, const std::string& name) const;  // site, epoch, card, last
  std::string of_job(const char* kind, std::int64_t job) const;          // job, claim, ended
  std::string end() const { return prefix_ + '~'; }                      // behind the keys that are watched
  // bid, won, cancel, ~payload
  std::string of_both(const char* kind, const std::string& name, std::int64_t job) const;

 private:
  std::string prefix_;
};

std::string token_text(const Token& token);
Token token_of(const std::string& value);  // with which every value but a name begins; else Token{}

// The instants of a site count from its own beginning, those in etcd from 1970.
std::string value_text(const Token& token, const Offer& offer, std::int64_t unix_start);
std::string value_text(const Token& token, SiteId holder, Epoch epoch, const Offer& offer, std::int64_t unix_start);

class RecordFold {
 public:
  struct Claim {
    SiteId site;
    Epoch epoch = 0;
    Token token;
    Revision revision = 0;  // 0: none
    std::string auction = {};
  };
  struct Last {
    std::int64_t serial = 0;
    Revision revision = 0;
  };

  RecordFold(std::string prefix, std::int64_t unix_start) : keys_(std::move(prefix)), unix_start_(unix_start) {}

  // All that there is, in place of what was known.
  void state(const std::vector<Record>& records);
  // What the changes of one revision are to those that watch, in an order that makes sense. Tokens are missing where a
  // record has gone.
  std::vector<Change> fold(Revision revision, const std::vector<Record>& records);
  // As if it all came about now, between `resync` and `resynced`.
  std::vector<Change> all_changes(Revision revision) const;

  const Keys& keys() const { return keys_; }
  const std::vector<std::string>& names() const { return names_; }  // by SiteId
  std::optional<SiteId> number_of(const std::string& name) const;   // the lowest that it has
  const std::string* name_of(SiteId site) const;
  Epoch epoch_of(SiteId site) const;                     // 0: it is not alive
  Token joined_by(SiteId site) const;                    // began its latest epoch that is known
  Revision bid_of(SiteId site, std::int64_t job) const;  // 0: none
  // The token of the request that made the job's offer what it is; Token{}: it is not on offer.
  Token offer_token(std::int64_t job) const;
  Claim claim_on(std::int64_t job) const;
  Last last_of(SiteId site) const;
  const std::string& card_of(SiteId site) const;  // empty: none is known
  std::int64_t offered_by(SiteId home) const;
  std::int64_t settled_by(SiteId site) const;
  bool has_report_on(std::int64_t job, SiteId home) const;
  bool has_report_on(std::int64_t job) const { return reports_.contains(job); }
  std::shared_ptr<const Offer> offer_of(std::int64_t job) const;  // on offer, or settled; nullptr: neither
  SiteId settler_of(std::int64_t job) const;                      // invalid: no site has settled it
  Token cancelled_by(SiteId home, std::int64_t job) const;        // Token{}: it is not cancelled
  std::vector<std::int64_t> jobs_of(SiteId home) const;           // on offer or settled; O(jobs)
  // Jobs that a site has settled, by their revisions; O(jobs).
  std::map<std::int64_t, Revision> settled_jobs(SiteId site) const;

 private:
  struct Site {
    Epoch epoch = 0;  // while it is alive
    Token token = {};
    Epoch latest = 0;
    Last last = {};
    std::string card = {};
  };
  struct Lot {
    std::shared_ptr<const Offer> offer;
    SiteId holder = {};
    Epoch holder_epoch = 0;
    Token token = {};
    Revision revision = 0;
  };
  struct StandingBid {
    Bid bid;
    Epoch epoch = 0;
    Token token = {};
    Revision revision = 0;
  };
  struct Win {
    SiteId site;
    std::shared_ptr<const Offer> offer;
    Token token = {};
    Revision revision = 0;
  };
  struct Report {
    SiteId site, home;
    std::string text;
    Token token = {};
    Revision revision = 0;
  };
  struct Key {  // what stands behind the prefix
    std::string kind;
    std::string name;
    SiteId site = {};       // the one of that name; invalid: none is known
    std::int64_t job = -1;  // -1: none
  };

  Key key_of(const std::string& text) const;
  std::optional<Change> read(const Record& record);
  void read_name(const Key& key, const Record& record);
  std::optional<Change> read_site(SiteId id, const Record& record);
  std::optional<Change> read_job(std::int64_t job, const Record& record);
  std::optional<Change> read_claim(std::int64_t job, const Record& record);
  std::optional<Change> read_bid(SiteId site, std::int64_t job, const Record& record);
  static Change change_of(std::int64_t job, const Report& report);
  static Change change_of(std::int64_t job, const Claim& claim);
  std::optional<Change> read_report(std::int64_t job, const Record& record);
  std::optional<Change> read_win(SiteId site, std::int64_t job, const Record& record);
  std::optional<Change> read_cancel(SiteId home, std::int64_t job, const Record& record);

  Keys keys_;
  std::int64_t unix_start_;  // seconds
  std::vector<std::string> names_;
  std::map<SiteId, Site> sites_;
  std::map<std::int64_t, Lot> lots_;
  std::map<std::int64_t, Claim> claims_;
  std::map<std::pair<std::int64_t, SiteId>, StandingBid> bids_;
  std::map<std::pair<std::int64_t, SiteId>, Win> wins_;  // one of a job, if no site means harm
  std::map<std::int64_t, Report> reports_;
  std::map<std::pair<std::int64_t, SiteId>, Token> cancels_;  // jobs, and the sites that say so
};

}  // namespace rota::etcd
