// The global queue between the sites of a federation, as every site sees it. The port is what a store with
// compare-and-swap, leases and watches (etcd) can keep: one record for each site that has joined, one for each job on
// offer, one a claim, one a bid, one for each job that a site has settled and that has not ended, one for each that has
// ended away from home until its home has noted how, and for each site, for good, its latest epoch and the highest
// serial number that it has offered.
//
// A request returns nothing, and every one names what its sender has seen: revisions of records, epochs of sites, the
// last serial number. It is applied if all that still holds, and then what it has done comes to every watcher as a
// Change with its token; else its sender is told `refused`. What has once failed to hold never holds again, so a
// request may be sent again, or arrive twice or late or after others: it is applied once at most. An answer may be
// late, doubled or lost; a site that has not seen what became of a request sends the same one, with the same token,
// again.
//
// Laws for every implementation:
// * A site is alive from when it has joined until its lease runs out or it joins again; that is one epoch, and the
//   revision at which it began is its name. Whatever an epoch has bid, claimed or held is void when the epoch is over.
// * A home offers each serial number once, in rising order, however long ago the job's record went.
// * At most one claim on a job stands. It is for a site in an epoch; a void one may be replaced, no other.
// * A job is settled by the site that a standing claim is for, and then it is on offer no more until that site, in
//   whatever epoch, puts it back, and then holds it. So a site loses only what it has not settled, unless an operator
//   forfeits what a dead site has: that is outside of this port (exchange/etcd/dead_site.h), and the site obeys.
// * Watchers are told all changes in one order, that of their revisions; each of them misses none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "model/trades.h"
#include "policy/auction/bid.h"

namespace rota {

using Revision = std::int64_t;  // rises with every change; 0: before all, or of a record that there is not
using Epoch = Revision;         // of a site: the revision at which it joined; 0: it has not

// Names a request for good: no other has it, whichever site sends that one, in whatever life of the site.
struct Token {
  SiteId site;                // the sender
  std::uint32_t life = 0;     // of the sender; rises whenever its process starts anew
  std::uint64_t request = 0;  // within that life
  bool operator==(const Token&) const = default;
};

struct Request {
  enum class Kind : std::uint8_t {
    join,      // the site is alive for ttl, in a new epoch; `epoch` is its latest one, which is over with that
    renew,     // for ttl from now; no change comes of it
    offer,     // the home's next jobs, all or none; `last` is the serial number of the one before, 0: none
    bid,       // in place of its earlier bid, `own_seen`, on an open job
    withdraw,  // its bid on a job that is not on offer any more
    claim,     // for the winner, in the winner's epoch; in place of `claim_seen`, which is void
    settle,    // by the site that the claim is for: it takes the job over
    put_back,  // what it has settled, as `own_seen`, and not started: on offer again, and it holds it
    end,       // what it has settled, as `own_seen`, has ended; with a report for its home, or none
    cancel,    // the home of a job wants it ended, which another site has settled, as `own_seen`
    note,      // the home of a job that has ended elsewhere has its report, which goes
  };
  Kind kind = Kind::join;
  Token token;
  SiteId site;              // the sender
  Epoch epoch = 0;          // of the sender: refused in any other
  std::int64_t job = 0;     // its number; offer: of the first; not: join, renew
  Revision job_seen = 0;    // bid, claim, settle: of the record of the job
  Revision claim_seen = 0;  // bid, claim, settle: of the claim; 0: there was none
  Revision own_seen = 0;    // bid: of its earlier bid; put_back, end, cancel: of what is settled
  SiteId winner = {};       // claim
  Epoch winner_epoch = 0;   // claim
  Bid bid = {};             // bid
  Duration ttl{0};          // join, renew
  std::int64_t last = 0;    // offer
  std::vector<std::shared_ptr<const Offer>> offers = {};  // offer; at least one, serial numbers rise
  std::string auction = {};  // claim: how it went (control/auction_record.h); empty: there was none
  std::string report = {};   // end: how it ended, in words of the sites; empty: its home needs none
};

struct Change {
  enum class Kind : std::uint8_t {
    joined,     // site, in this epoch; one that it had before is over
    gone,       // site, whose lease has run out in this epoch
    offered,    // job; site and epoch: of its holder, none if the site is invalid
    bid,        // on job, of site in this epoch
    withdrawn,  // the bid of site on job
    claimed,    // job, for site in this epoch
    settled,    // job, by site
    put_back,   // job, by site in this epoch, which holds it now
    ended,      // job, that site had settled; a report stays until its home has noted it
    forfeited,  // job, that site had settled: it is on offer, and no site holds it
    cancelled,  // site, its home, wants job ended; that stands until site notes its end, or has ended it itself
    noted,      // the report on job is gone; site: its home
    refused,    // to its sender alone: the request of this token; at this revision one thing that it names was over
    resync,     // the watcher has missed too much. What it knows is void; the state follows, as if it came about now
    counted,    // within a resync: the last serial number that site has offered, and its latest epoch, over or not
    resynced,   // that was the state at this revision; what has changed since follows
  };
  Kind kind = Kind::joined;
  Revision revision = 0;  // in a resync that of the record
  Token token = {};       // of the request; refused: of the request that was refused
  SiteId site = {};
  Epoch epoch = 0;
  std::int64_t job = 0;                     // number
  std::int64_t last = 0;                    // counted
  Bid bid = {};                             // bid
  std::shared_ptr<const Offer> offer = {};  // offered, put_back, forfeited, settled
  std::string report = {};                  // ended
  std::string auction = {};                 // claimed
  SiteId home = {};                         // ended, with a report: of the job
  Request::Kind refused = {};               // refused
  Token record = {};  // refused: of the request that made the record what it is now. If that is the sender's own
                      // request, it was applied before
};

// Hears of changes. What it does in return may be requests; it must not watch or stop watching meanwhile.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void hear(const Change& change) = 0;
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  // Never waits, never fails. The answer may come before it returns, or at any later time, or not at all.
  virtual void send(const Request& request) = 0;

  // Tells the watcher every change after `seen`, at once and from now on; if these are not all kept any more, or seen
  // is 0, `resync` first, and before `resynced` it must ask for nothing. Refusals go to the watcher of the site that
  // sent the request; a watcher of no site (an invalid id) gets none. A site watches once: another watcher takes the
  // place of the one before.
  virtual void watch(SiteId site, Watcher& watcher, Revision seen) = 0;
  virtual void stop(Watcher& watcher) = 0;
};

}  // namespace rota
