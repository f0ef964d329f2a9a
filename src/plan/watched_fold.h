// Folds a fact into a cluster while the referee watches: the one order in which the two hear of it.
#pragma once

#include <cstdint>

#include "plan/referee.h"

namespace rota {

// At its time, to which the cluster has been advanced.
template <class Kind>
void watched_fold(Cluster& cluster, Referee& referee, std::uint64_t sequence, const Kind& what,
                  Duration late = Duration{0}) {
  referee.judge(cluster, what);
  cluster.fold_now(sequence, what, late);
  referee.settled(cluster, what);
}

void watched_fold(Cluster& cluster, Referee& referee, const Fact& fact);  // whatever it is, at its own time

}  // namespace rota
