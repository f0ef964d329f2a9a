// What a member of a federation (control/member.h) is wired to beside engine, exchange and clock: its site's own queue,
// what brings the inputs of jobs, and what is known of the other sites. Nothing that is asked here comes about before
// the call returns: the member may be told of it at any time after that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/dispatcher.h"
#include "control/ports.h"

namespace rota {

// The queue of the member's site, into which jobs of the federation come beside its own. What is asked for is done in
// the order in which it is asked for, and what is asked for at one instant becomes durable together. Jobs by number.
class LocalQueue {
 public:
  virtual ~LocalQueue() = default;
  virtual const View& view() const = 0;
  // Submits the job, which asks for `spec` here. It does not start before `input`; ahead: it goes before others of its
  // priority. Member::queued() follows, before anything is decided about it.
  virtual void submit(const Offer& offer, const JobSpec& spec, Instant input, bool ahead) = 0;
  // To be recorded.
  virtual void tell(const Observed& fact) = 0;
  // It is another site's: Cancelled, whatever the engine and the controller think of it. Invalid id: it has none yet.
  virtual void take_back(std::int64_t job, JobId id) = 0;
  // It is to end as a job that is cancelled, whether it waits or runs: its home wants that, or an operator has taken it
  // from this site. Invalid id: its input was still on the way; Member::queued() follows, with a report for its home.
  virtual void cancel_guest(std::int64_t /*job*/, JobId /*id*/) {}
  // A job whose start was kept back gives way: Vacated, with nothing done.
  virtual void not_started(const Command& give_way) = 0;
  // The engine is told next that it starts here, or that another job gives way to this one.
  virtual void starts(JobId /*id*/, std::int64_t /*job*/) {}
  virtual void makes_room(JobId /*beneficiary*/) {}
  // How a job that has left the site ended, for its home; empty: the home needs no report.
  virtual std::string report_on(const Trades::Guest& /*guest*/) { return {}; }
  // A job that was submitted here for all sites, or that this site is to have, was sold: control/auction_record.h.
  virtual void auctioned(const Offer& /*offer*/, SiteId /*winner*/, const std::string& /*auction*/) {}
  // Bytes that the job needs in the global queue.
  virtual std::size_t bytes_of(const Offer& offer) const { return offer.request.size(); }
  // A job that was submitted here for all sites has ended at another one. That is to be recorded, and then
  // Member::noted() follows.
  virtual void reported(std::int64_t /*job*/, SiteId /*site*/, const std::string& /*report*/) {}
  // All that the exchange has is known, at the beginning or anew: what it does not know is not on sale, nor anywhere.
  virtual void all_known() {}
};

// Brings a job's data from site to site.
class Carrier {
 public:
  virtual ~Carrier() = default;
  // How long the job's input takes to a site from where it lies, and to the site that it takes longest to.
  virtual Duration haul(const Offer& offer, SiteId to) const = 0;
  virtual Duration longest_haul(const Offer& offer) const = 0;
  // Brings it to the member's site: Member::arrived() once it is there.
  virtual void bring(const Offer& offer) = 0;
  // It need not come any more.
  virtual void leave(std::int64_t job) = 0;
  // What it is bringing, in the order in which it comes.
  virtual std::vector<Coming> coming() const = 0;
};

// What sites there are, and what each can run.
class Directory {
 public:
  virtual ~Directory() = default;
  virtual std::uint32_t sites() const = 0;
  // What the job asks for at a site, where partitions differ; nullopt: it can never run there.
  virtual std::optional<JobSpec> asked_at(SiteId site, const Offer& offer) const = 0;
};

}  // namespace rota
