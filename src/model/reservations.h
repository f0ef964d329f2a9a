// Nodes, or processors where these are only counted, that no job may use for a time: promises without a job, and they
// stand before every job's. Those that are not over, by id. A fold over Reserved and Unreserved, kept up by Cluster.
// There are few: each question costs O(reservations). Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace rota {

struct Reservation {
  ReservationId id;
  Instant from = kNever;           // from here on nothing is used that no running job still holds,
  Instant until = kNever;          // up to, but not at, this instant
  std::vector<NodeId> nodes = {};  // all of each of them; none where processors are counted
  std::int64_t processors = 0;     // so many, where they are counted

  bool holds_at(Instant at) const { return from <= at && at < until; }
  bool overlaps(Instant begin, Instant end) const { return from < end && begin < until; }
};

class Reservations {
 public:
  bool empty() const { return rows_.empty(); }
  const std::vector<Reservation>& all() const { return rows_; }
  const Reservation* find(ReservationId id) const;  // nullptr: there is none, or it is over
  // The id that the next one will have; none is given twice.
  ReservationId next_id() const { return next_id_; }

  // Counted processors that are reserved at an instant.
  std::int64_t processors_at(Instant at) const;
  Instant first_begin() const;  // kNever: there is none
  // When the next one begins or ends after `now`; kNever: none does.
  Instant next_change(Instant now) const;

  void add(Reservation reservation);  // its id is next_id() or, in a snapshot, lower than that
  void remove(ReservationId id);
  void forget_over(Instant now);
  void put_back_next_id(ReservationId id) { next_id_ = id; }

 private:
  std::vector<Reservation> rows_;
  ReservationId next_id_{0};
};

}  // namespace rota
