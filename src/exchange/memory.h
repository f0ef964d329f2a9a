// The exchange of a rehearsal, and the yardstick for every other: the same laws, in memory, with every answer in the
// instant of the request. What it keeps is what is alive: sites, jobs that are on offer, claims, bids, jobs that are
// settled and have not ended, and those changes that a site which has stopped watching has not been told. One thread.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "control/exchange.h"
#include "control/ports.h"

namespace rota {

struct MemoryExchangeOptions {
  std::size_t kept = 4096;  // changes, for watchers that have stopped; one that comes back later must resync
  // What a test leaves out, to show that it would be noticed.
  bool compares_epochs = true;
  bool compares_claims = true;
};

class MemoryExchange final : public Exchange, public Alarm {
 public:
  explicit MemoryExchange(Loop& loop, const MemoryExchangeOptions& options = {}) : loop_(loop), options_(options) {}
  MemoryExchange(const MemoryExchange&) = delete;
  MemoryExchange& operator=(const MemoryExchange&) = delete;
  ~MemoryExchange() override { loop_.set(*this, kNever); }

  void send(const Request& request) override;
  void watch(SiteId site, Watcher& watcher, Revision seen) override;
  void stop(Watcher& watcher) override;

  void ring() override;  // a lease may have run out
  // An operator does so: what a site that is dead has settled of other homes' jobs is on offer again. How many.
  std::size_t forfeit(SiteId dead);

  // How much there is of everything: for tests that nothing is left behind.
  struct Sizes {
    std::size_t sites, jobs, claims, bids, wins, log, reports = 0, cancels = 0;
    bool operator==(const Sizes&) const = default;
  };
  Sizes sizes() const;

 private:
  struct Member {
    Epoch epoch;
    Instant until;
    Token token;
  };
  struct Past {             // of a site, for good
    Epoch epoch = 0;        // its latest
    std::int64_t last = 0;  // serial number
  };
  struct Claim {
    SiteId site;
    Epoch epoch = 0;
    Token token;
    Revision revision = 0;  // 0: none
  };
  struct Lot {
    std::shared_ptr<const Offer> offer;
    SiteId holder;
    Epoch holder_epoch;
    Token token;
    Revision revision;
    Claim claim = {};
  };
  struct StandingBid {
    Bid bid;
    Epoch epoch;
    Token token;
    Revision revision;
  };
  struct Win {
    SiteId site;
    std::shared_ptr<const Offer> offer;
    Token token;
    Revision revision;
  };
  struct Report {
    SiteId site;  // where the job ended
    SiteId home;
    std::string text;
    Token token;
    Revision revision;
  };
  struct Listener {
    SiteId site;
    Watcher* watcher;  // nullptr: it has stopped and may come back
    Revision delivered;
  };
  using BidKey = std::pair<std::int64_t, SiteId>;

  bool apply(const Request& request);  // false: refused
  bool join(const Request& request);
  bool renew(const Request& request);
  bool offer(const Request& request);
  bool bid(const Request& request);
  bool withdraw(const Request& request);
  bool claim(const Request& request);
  bool settle(const Request& request);
  bool put_back(const Request& request);
  bool end(const Request& request);
  bool cancel(const Request& request);
  bool note(const Request& request);

  bool current(SiteId site, Epoch epoch) const;
  Lot* seen_lot(const Request& request);  // nullptr: the record or the claim is not what the sender has seen
  Win* own_win(const Request& request);
  Token record_of(const Request& request) const;
  void set_alarm();
  void happened(Change change);
  void tell();
  void trim();
  void retell(Listener& listener);

  Loop& loop_;
  MemoryExchangeOptions options_;
  Revision revision_ = 0;
  std::map<SiteId, Member> sites_;
  std::map<SiteId, Past> pasts_;
  std::map<std::int64_t, Lot> lots_;  // by job number
  std::map<BidKey, StandingBid> bids_;
  std::map<std::int64_t, Win> wins_;
  std::map<std::int64_t, Report> reports_;  // by job number
  std::map<std::int64_t, Token> cancels_;   // likewise
  std::deque<Change> log_;                  // the latest changes; log_.back() has revision_
  std::deque<Change> refusals_;             // not yet told
  std::vector<Listener> listeners_;
  bool telling_ = false;
};

}  // namespace rota
