// What is free on each node from now on, if all jobs end as expected: the Profile of clusters that are described node
// by node. Steps are made only where something has been set aside or is asked about.
#pragma once

#include <optional>
#include <vector>

#include "model/cluster.h"

namespace rota {

class NodeTimeline {
 public:
  // Running jobs only.
  explicit NodeTimeline(const View& view);

  struct Opening {
    Instant at = kNever;
    Placement where;
  };
  // The earliest start for a job, on nodes that stay free all through. Every job that never_fits() let through has one.
  Opening earliest(const JobSpec& spec, Duration duration) const;

  // Where it can start now, on nodes that stay free all through.
  std::optional<Placement> now_for(const JobSpec& spec, Duration duration) const { return at_step(0, spec, duration); }

  void take(Instant from, Duration duration, const Placement& where);

 private:
  struct Step {
    Instant at;  // holds from here to the next step, the last one for ever
    NodeSpace free;
  };
  std::optional<Placement> at_step(std::size_t step, const JobSpec& spec, Duration duration) const;
  std::size_t cut(Instant at);

  std::vector<Step> steps_;
};

}  // namespace rota
