// The reservations that are not over, by id, and the jobs that wait to run in them. A fold over Reserved and Unreserved
// and over what becomes of such jobs, kept up by Cluster. There are few reservations: each question about them costs
// O(reservations); a change of the queue O(log of the jobs in it). Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/reservation.h"
#include "model/waiting.h"

namespace rota {

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

  // The one of nodes that a job asks to run in, begun or to come; nullptr: it asks for none, or that is over.
  const Reservation* of(const JobSpec& spec, Instant now) const;
  // Whether a job that ends then must not start within it: one that may outlast it still ends before its nodes are
  // reserved anew.
  bool ends_too_late(const Reservation& within, Instant end, bool may_outlast) const;
  bool was_never(const JobSpec& spec) const {  // the one that it asks for
    return spec.node_wish && spec.node_wish->reservation.valid() && !(spec.node_wish->reservation < next_id_);
  }
  // Those that wait for theirs, in which alone they run: by priority, then by arrival.
  struct Waits {
    JobId job;
    ReservationId within;
  };
  const std::map<WaitingEntry::Key, Waits>& waiting() const { return waiting_; }
  bool join(const Job& job, JobId id, Instant now);  // false: it waits like all others, and not here
  bool leave(const Job& job);                        // false: it does not wait here
  // Takes those out of the queue whose reservation is over; in its order.
  std::vector<JobId> take_over(Instant now);

 private:
  std::vector<Reservation> rows_;
  ReservationId next_id_{0};
  std::map<WaitingEntry::Key, Waits> waiting_;
};

}  // namespace rota
