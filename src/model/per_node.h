// What a job holds on each of its nodes beside processors, as long as it runs; and what of that is free on a node,
// which may be short of nothing (less than 0) where promises have been broken.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rota {

struct PerNode {
  static constexpr std::int64_t kUnlimited = INT64_MAX;

  std::int64_t memory = 0;  // bytes; free: kUnlimited where the node does not say what it has
  std::int32_t accelerators = 0;

  bool operator==(const PerNode&) const = default;
  // What is free suffices.
  bool covers(const PerNode& asked) const { return memory >= asked.memory && accelerators >= asked.accelerators; }
  // What is free after so much was given back (sign 1) or taken (sign -1).
  void change(const PerNode& held, std::int32_t sign) {
    if (memory != kUnlimited) memory += sign * held.memory;
    accelerators += sign * held.accelerators;
  }
  PerNode least(const PerNode& o) const { return {std::min(memory, o.memory), std::min(accelerators, o.accelerators)}; }
  PerNode at_least_nothing() const { return {std::max<std::int64_t>(memory, 0), std::max(accelerators, 0)}; }
};

}  // namespace rota
