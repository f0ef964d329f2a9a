// For tests: lists of facts into stores and out of them.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "control/store.h"
#include "store/fact_codec.h"

namespace rota::store {

// What a visit of all facts comes by.
template <class Visit>
std::vector<Fact> all_of(const Visit& visit_all) {
  std::vector<Fact> facts;
  const auto visited = visit_all([&](const Fact& fact) {
    facts.push_back(fact);
    return Result<void>();
  });
  EXPECT_TRUE(visited) << visited.error().message;
  return facts;
}

inline std::vector<Fact> replayed(Store& store) {
  return all_of([&](const FactVisitor& visit) { return store.replay(visit); });
}

inline void append(Store& store, std::span<const Fact> facts) {
  for (const Fact& fact : facts) store.append(ref_of(fact));
}

inline FactSource snapshot_of(std::vector<Fact> facts) {
  return [facts = std::move(facts)](const FactTaker& take) {
    for (const Fact& fact : facts) take(ref_of(fact));
  };
}

}  // namespace rota::store
