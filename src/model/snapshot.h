// A snapshot is a compacted journal: the facts whose fold is the state as it stands, and no other serialisation of it.
// fold(facts_of(state)) == state, whatever mechanisms made it; so two states are equal if their snapshots are.
#pragma once

#include <vector>

#include "model/cluster.h"

namespace rota {

class Snapshot {
 public:
  // In the order in which they are to be folded into a fresh cluster of the same machine and options. Jobs by id.
  // O(jobs that are known + nodes). Facts carry the time and the number of the latest fact of the state.
  static std::vector<Fact> facts_of(const Cluster& cluster);

 private:
  static StateKept state_of(const Cluster& cluster);
};

}  // namespace rota
