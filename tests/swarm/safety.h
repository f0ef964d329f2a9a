// What must hold of a run whatever goes wrong, reckoned from what the engine really does and what users were told, not
// from what the controller believes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "engine/sim/run_ledger.h"
#include "swarm/bookings.h"

namespace rota::swarm {

class Safety {
 public:
  explicit Safety(const Case& drawn);

  // Users: what is asked for, and what they know to hold from now on.
  void submits(std::int64_t number, JobId id, std::vector<Dependency> after);
  void amends(std::int64_t number, Instant begin) { least_begin_[number] = std::min(least_begin_[number], begin); }
  void amended(std::int64_t number, Instant begin) { least_begin_[number] = begin; }
  void amends_throttle(std::int64_t array, std::uint32_t to) { most_[array] = std::max(most_[array], to); }
  void held(std::int64_t number) { held_.insert(number); }
  void may_run(std::int64_t number) { held_.erase(number); }

  // A job that is not the site's own may be submitted there. It must outlive this.
  void expects(const CaseJob& guest) { jobs_[guest.spec.number] = &guest; }
  // It is cancelled because it has gone to another site: that is not its end, and it may come again.
  void goes(JobId guest) { going_.insert(guest); }
  bool is_going(JobId guest) const { return going_.contains(guest); }
  void recovered() { going_.clear(); }  // the controller that had wanted that is gone

  // Facts that are durable.
  void endured(const Fact& fact);
  // A start goes out for the first time, or again.
  void issued(const Command& start, Instant now, const sim::RunLedger& world);
  // What runs now.
  void look(const sim::RunLedger& world, std::int64_t processors);

  Bookings& bookings() { return bookings_; }
  JobId id_of(std::int64_t number) const;  // invalid: its submission is not durable
  bool ended(JobId id) const { return ends_.contains(id); }
  bool all_ended() const;
  std::int64_t number_of(JobId id) const;  // as last submitted
  std::string missing() const;
  const std::map<std::int64_t, JobId>& ids() const { return ids_; }
  const std::optional<std::string>& breach() const { return breach_; }
  void expect(bool holds, const std::string& what) {
    if (!holds && !breach_) breach_ = what;
  }

 private:
  const CaseJob& job(std::int64_t number) const { return *jobs_.at(number); }
  void ends(JobId id);
  void look_at_nodes(const sim::RunLedger& world);

  const Case& drawn_;
  std::map<std::int64_t, const CaseJob*> jobs_;  // by number
  std::map<std::int64_t, JobId> ids_;            // durable
  std::map<JobId, std::int64_t> numbers_;        // as last submitted
  std::map<std::int64_t, std::vector<Dependency>> after_;
  std::map<std::int64_t, Instant> least_begin_;
  std::set<std::int64_t> held_;
  std::map<JobId, int> ends_;
  std::map<std::int64_t, std::uint32_t> most_;  // throttles of arrays, ever
  std::set<JobId> going_;
  std::set<std::uint64_t> keys_;
  Bookings bookings_;
  std::optional<std::string> breach_;
};

}  // namespace rota::swarm
