// Folds the facts of a journal into a state, and decides again at each cycle to see whether that gives the same plans.
// A journal is the whole state: nothing but its facts, the cluster's options and the policy go in. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.h"
#include "plan/referee.h"
#include "policy/chain.h"

namespace rota {

// That a fact can follow those that the state is folded from; fails with a sentence.
Result<void> check_next(Cluster& state, const Fact& fact);

class Replay {
 public:
  enum class Check : std::uint8_t { folds, decides_again };

  // The options and the chain with which the journal was written; the chain must outlive this.
  Replay(const ClusterOptions& options, const Chain& chain, Check check);

  // The next fact. Fails with a sentence if it contradicts those before it, or, where decisions are checked, if the
  // referee refuses the plan or the plan is another than was recorded.
  Result<void> fold(const Fact& fact);

  const Cluster& state() const { return cluster_; }
  std::int64_t facts() const { return facts_; }
  std::int64_t cycles() const { return cycles_; }        // all,
  std::int64_t decisions() const { return decisions_; }  // and those in which something was decided

 private:
  Result<void> decide_again(const Fact& fact, std::uint64_t recorded);

  Cluster cluster_;
  const Chain& chain_;
  Chain plain_chain_;
  Check check_;
  Plan plan_;
  Referee referee_;
  std::int64_t facts_ = 0;
  std::int64_t cycles_ = 0;
  std::int64_t decisions_ = 0;
};

}  // namespace rota
