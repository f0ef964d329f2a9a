// What a site does at the exchange about the jobs that were submitted there for all sites: offers them, one after the
// other, takes them back where that is asked, and notes how those have ended that other sites ran. Part of the
// dispatcher (control/dispatcher.h), whose knowledge and whose open requests it shares. One thread.
#pragma once

#include <deque>
#include <set>

#include "control/global_queue.h"
#include "control/open_requests.h"

namespace rota {

class Site;

class HomeJobs {
 public:
  // All of these must outlive it.
  HomeJobs(SiteId self, Site& site, const GlobalQueue& queue, OpenRequests& requests)
      : self_(self), site_(site), queue_(queue), requests_(requests) {}

  // A job was submitted here, for all sites. In the order of their serial numbers; those that the exchange has had are
  // passed over.
  void offer(const Offer& offer);
  // A job is not for sale any more: this site takes it itself, or, where another one has settled it, asks that one to
  // end it.
  void recall(std::int64_t job);
  // What was reported of a job is recorded.
  void noted(std::int64_t job);
  // The site that has settled a job and is another one; invalid: there is none.
  SiteId away(std::int64_t job) const {
    const GlobalQueue::Away* const there = queue_.away(job);
    return there ? there->site : SiteId{};
  }
  const GlobalQueue& queue() const { return queue_; }

  // A change is known, all of it is known anew, or an epoch has begun or is over: what that is to the site, and what is
  // to be asked for now.
  void changed(const Change& change);
  void all_changed();
  void follow_up(std::int64_t job);
  void follow_up_all();

  bool idle() const { return offers_.empty() && noting_.empty(); }

 private:
  void offer_next();
  void send_note(std::int64_t job);
  void take_back(std::int64_t job);

  SiteId self_;
  Site& site_;
  const GlobalQueue& queue_;
  OpenRequests& requests_;
  std::deque<Offer> offers_;         // not known to be in the queue yet
  std::set<std::int64_t> noting_;    // whose reports are recorded here, and may stand
  std::set<std::int64_t> recalled_;  // that the site takes from sale, or that are to end elsewhere
};

}  // namespace rota
