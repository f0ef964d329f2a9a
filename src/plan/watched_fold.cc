#include "plan/watched_fold.h"

#include <variant>

namespace rota {

void watched_fold(Cluster& cluster, Referee& referee, const Fact& fact) {
  cluster.advance(fact.at);
  std::visit([&](const auto& what) { watched_fold(cluster, referee, fact.sequence, what, fact.late); }, fact.what);
}

}  // namespace rota
