// What must hold of jobs that are for all sites of a federation, reckoned from what the engines really do and what
// users were told: none is lost, none runs at two sites at once, none runs to its end twice.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "swarm/federation_case.h"
#include "swarm/outcome.h"
#include "swarm/safety.h"

namespace rota::swarm {

class Account {
 public:
  explicit Account(const FederationCase& drawn);

  const GlobalJob* find(std::int64_t number) const;  // nullptr: it is a site's own
  // Its home has taken it in, for good, as an offer to all sites.
  void takes_in(const Offer& offer);
  const Offer* offer(std::int64_t number) const;  // nullptr: it was not submitted yet
  // That it has ended is durable at this site.
  void ended(std::int64_t number, SiteId at);
  // Its site lets go of it because it has gone to another.
  void given_up(std::int64_t number, const sim::RunLedger& world, JobId id);

  // What runs now: of every site in turn, then settled up.
  void look(SiteId site, const Safety& safety, const sim::RunLedger& world);
  void settle_up() { runs_.clear(); }

  bool all_ended() const { return ended_.size() == jobs_.size(); }
  std::string missing() const;
  const std::optional<std::string>& breach() const { return breach_; }
  void expect(bool holds, const std::string& what) {
    if (!holds && !breach_) breach_ = what;
  }
  Travels& travels() { return travels_; }

 private:
  std::map<std::int64_t, const GlobalJob*> jobs_;
  std::map<std::int64_t, Offer> offers_;
  std::map<std::int64_t, SiteId> runs_;       // in this look
  std::map<std::int64_t, SiteId> completed_;  // really
  std::map<std::int64_t, SiteId> ended_;      // as its site knows for good
  Travels travels_;
  std::optional<std::string> breach_;
};

}  // namespace rota::swarm
