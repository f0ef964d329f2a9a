// What is free on each node from now on, if all jobs end as expected: the Profile of clusters that are described node
// by node. Steps are made only where something has been set aside or is asked about.
#pragma once

#include <vector>

#include "model/cluster.h"
#include "plan/node_room.h"

namespace rota {

class NodeTimeline {
 public:
  // Running jobs, nodes that are away and come back, and reservations.
  explicit NodeTimeline(const View& view);

  // The earliest start for a job, on nodes that stay free all through; kNever: nowhere as long as nodes are away.
  Instant earliest(const JobSpec& spec, Duration duration, Placement& where);

  // Where it can start at an instant, on nodes that stay free all through; false: nowhere.
  bool place_at(Instant at, const JobSpec& spec, Duration duration, Placement& where) {
    return at_step(cut(at), spec, duration, where);
  }

  // Whether a place is free all through.
  bool fits(Instant from, Duration duration, const Placement& where);
  void take(Instant from, Duration duration, const Placement& where);
  void give(Instant from, Duration duration, const Placement& where);

 private:
  struct Step {
    Instant at;  // holds from here to the next step, the last one for ever
    NodeRoom free;
  };
  bool at_step(std::size_t step, const JobSpec& spec, Duration duration, Placement& where);
  std::size_t cut(Instant at);
  [[gnu::cold]] void withhold(const Reservation& reservation);

  std::vector<Step> steps_;
  NodeRoom all_through_;  // scratch
};

}  // namespace rota
