// The global queue between the sites of a federation, as every site sees it. The port is what a store with
// compare-and-swap, leases and watches (etcd) can keep: one record a job, one a bid, one a claim.
//
// Laws, whoever implements it: a job number is offered once; at most one claim on a job stands at any time; a claim
// stands until it is settled, or until the lease of the site that it is for has run out, and then the job is open
// again; a settled job is claimed again only after the site that settled it has put it back on offer. A bid stands as
// long as its site's lease.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "control/ports.h"
#include "policy/bid.h"

namespace rota {

using Revision = std::int64_t;  // rises with every change

// A job in the global queue: what every site may know of it.
struct Offer {
  JobSpec spec;        // the number is unique in the federation
  SiteId home;         // where it was submitted; the dispatcher there is its auctioneer
  SiteId data;         // where its input lies
  Instant submitted;   // to the global queue
  SiteId holder = {};  // has it in its local queue, and its input; to start it there it must claim it. Invalid: nobody
};

struct Change {
  enum class Kind : std::uint8_t { offered, bid, claimed, settled, reopened, gone };
  Kind kind = Kind::offered;
  Revision revision = 0;
  std::int64_t job = 0;  // number; gone: none
  SiteId site;           // bid, claimed, settled: whose; gone: the site whose lease has run out
  Bid bid;               // bid
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  // Fails if the number was ever offered.
  virtual Result<void> offer(const Offer& offer) = 0;
  virtual const Offer* find(std::int64_t job) const = 0;  // nullptr: never offered, or settled

  // The site is alive until now + ttl; to be renewed in time, by calling again.
  virtual void lease(SiteId site, Duration ttl) = 0;

  // Puts the bid in place of the site's last one. False if the job is not open or the site has no lease.
  virtual bool bid(std::int64_t job, const Bid& bid) = 0;
  // Compare-and-swap: true if the job was open, the site has a lease, and the claim is now the site's.
  virtual bool claim(std::int64_t job, SiteId site) = 0;
  // The site has taken the job over. False if the claim is not, or no longer, the site's: then it must not run it.
  virtual bool settle(std::int64_t job, SiteId site) = 0;

  // The site that has settled a job, and has not started it, puts it back on offer and holds it. False if it is not
  // its.
  virtual bool put_back(std::int64_t job, SiteId site) = 0;

  // What has happened after `seen`, in order, until the next call; and an alarm to ring when more does.
  virtual std::span<const Change> changes(Revision seen) const = 0;
  virtual void watch(Alarm& alarm) = 0;
};

}  // namespace rota
