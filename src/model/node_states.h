// What nodes did over time: sums over equal bins, for pictures.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace rota {

enum class NodeUse : std::uint8_t { busy, idle, booting, shutting_down, off };  // busy: a job runs on it

struct NodeStates {
  static constexpr std::size_t kUses = 5;

  struct Bin {
    std::array<std::int64_t, kUses> time{};  // node-milliseconds, by NodeUse
    std::int64_t energy = 0;                 // microjoules
    friend bool operator==(const Bin&, const Bin&) = default;
    Bin& operator+=(const Bin& more) {
      for (std::size_t use = 0; use < kUses; ++use) time[use] += more.time[use];
      energy += more.energy;
      return *this;
    }
  };

  Instant from = kEpoch;
  Duration length{0};     // the last bin may be cut short
  Duration width{0};      // of a bin
  std::vector<Bin> bins;  // as many as the length takes; empty: nothing was kept
};

}  // namespace rota
