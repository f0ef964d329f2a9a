// What a job asks of nodes, and whether those that are looked at have enough. The referee reckons it again on purpose;
// NodeSpace and the search of NodeTimeline count by kinds and by changes, in steps of their own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/job.h"

namespace rota {

// Over how many nodes a job goes, and what each gives.
struct Spread {
  std::uint32_t nodes;   // 0: any spread will do
  std::uint32_t share;   // processors on each; 1 where any spread will do
  std::uint32_t larger;  // so many nodes give one more

  explicit Spread(const JobSpec& spec)
      : nodes(std::min(spec.nodes, spec.processors)),
        share(nodes == 0 ? 1 : spec.processors / nodes),
        larger(nodes == 0 ? 0 : spec.processors % nodes) {}
};

// What some nodes give together.
struct Given {
  std::int64_t processors = 0;
  std::int64_t with_share = 0;   // nodes that can give a share
  std::int64_t with_larger = 0;  // nodes that can give one more

  static Given by_node(std::int64_t free, std::int64_t share) {
    return {free, free >= share ? 1 : 0, free > share ? 1 : 0};
  }
  void add(const Given& one, std::int64_t count) {
    processors += count * one.processors;
    with_share += count * one.with_share;
    with_larger += count * one.with_larger;
  }
  bool suffices(const Spread& asked, std::int64_t asked_in_all) const {
    return asked.nodes == 0 ? processors >= asked_in_all : with_share >= asked.nodes && with_larger >= asked.larger;
  }
};

}  // namespace rota
