// What operators have reserved, from what they were told and what is durable, and which jobs start beside that:
// reckoned from what really runs and how long the engine was told that it would.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/sim/run_ledger.h"
#include "model/cluster.h"
#include "swarm/case.h"

namespace rota::swarm {

class Bookings {
 public:
  explicit Bookings(const Case& drawn) : drawn_(drawn) {}

  // One of the case's reservations is asked for, and gets this id if it is made.
  void asks(ReservationId id, std::size_t which) { asked_[id] = which; }
  bool made(std::size_t which) const { return ids_.contains(which); }  // for good, whatever became of it
  ReservationId id_of(std::size_t which) const { return ids_.at(which); }
  // A reservation that stands; nullptr: it is over, or was taken back.
  const Reservation* find(ReservationId id, Instant now) const;
  // Whether there is room for one beside all others.
  bool has_room(const Reservation& wanted, Instant now) const;

  // Facts that are durable.
  void endured(const Reserved& fact);
  void endured(const Unreserved& fact) { rows_.erase(fact.id); }

  // A start was decided. It may be sent again later, when all is different.
  void decided(JobId job, Instant now, const JobSpec& spec) {
    starts_[job] = {now, now, spec.processors, spec.node_wish ? spec.node_wish->reservation : ReservationId{}};
  }
  // A job is told to give way, and expected to be gone by then.
  void leaves(JobId job, Instant until) { starts_[job].until = std::min(starts_[job].until, until); }
  // How long a job is expected to run, as the engine is told.
  void expects(const Command& command);
  // A start goes out for the first time. Empty, or what it takes that is reserved.
  std::string taken_by(const Command& start, Instant now, const sim::RunLedger& world) const;
  bool within_any(const Command& start, Instant now) const;
  bool beside_any(const Command& start, Instant now) const;

  // Empty, or how what the controller knows differs from what is durable.
  std::string difference(const View& view) const;
  // When the next one begins or ends.
  Instant next_change(Instant now) const;

 private:
  struct Start {
    Instant at = kNever;
    Instant until = kNever;
    std::uint32_t processors = 0;
    ReservationId within = {};  // that it asks for
  };

  std::int64_t processors_at(Instant at) const;

  const Case& drawn_;
  std::map<ReservationId, std::size_t> asked_;
  std::map<std::size_t, ReservationId> ids_;
  std::map<ReservationId, Reservation> rows_;
  std::map<JobId, Start> starts_;  // the latest of each job
};

}  // namespace rota::swarm
