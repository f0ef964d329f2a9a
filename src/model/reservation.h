// Nodes, or processors where these are only counted, that are kept free for a time: for no job, or for those that ask
// for it (NodeWish::reservation). It stands before every promise to a job.
#pragma once

#include <cstdint>
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

}  // namespace rota
