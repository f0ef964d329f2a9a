#include "control/replay.h"

#include <fmt/core.h>

#include <variant>

#include "base/text.h"
#include "plan/watched_fold.h"

namespace rota {

Result<void> check_next(Cluster& state, const Fact& fact) {
  auto why = state.objection(fact);
  if (!why) return {};
  return fail("fact {} contradicts those before it: {}", fact.sequence, *why);
}

Replay::Replay(const ClusterOptions& options, const Chain& chain, Check check)
    : cluster_(options), chain_(chain), plain_chain_(plain_mode_of(chain)), check_(check) {}

Result<void> Replay::fold(const Fact& fact) {
  if (auto follows = check_next(cluster_, fact); !follows) return follows;
  ++facts_;
  if (const auto* closed = std::get_if<CycleClosed>(&fact.what)) {
    ++cycles_;
    decisions_ += closed->plan != 0 ? 1 : 0;
    if (check_ == Check::decides_again) {
      if (auto same = decide_again(fact, closed->plan); !same) return same;
    }
  }
  watched_fold(cluster_, referee_, fact);
  return {};
}

Result<void> Replay::decide_again(const Fact& fact, std::uint64_t recorded) {
  cluster_.open_cycle(fact.at);
  plan_.open(cluster_);
  (cluster_.plain() ? plain_chain_ : chain_).decide(cluster_, plan_);
  const std::string where =
      fmt::format("at the cycle that fact {} closes, at {} ms, ", fact.sequence, fact.at.time_since_epoch().count());
  const std::uint64_t hash = plan_.decides() ? plan_.hash() : 0;
  if (hash != recorded) {
    return fail(
        "{}policy {} decides otherwise than it did: plan {} where {} was recorded. The journal was written with "
        "another policy, another cluster or another version of Rota.",
        where, chain_.text(), hexadecimal(hash), hexadecimal(recorded));
  }
  if (auto breach = referee_.check(cluster_, plan_)) return fail("{}the referee refuses the plan: {}.", where, *breach);
  return {};
}

}  // namespace rota
