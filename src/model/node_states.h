// What nodes did: each in all, for files; and over time, as sums over equal bins, for pictures.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "model/tariff.h"

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

// One node, from the first arrival until the last job was gone.
struct NodeTotal {
  std::string name;
  SiteId site;  // invalid: there is one
  std::int64_t processors = 0;
  std::int64_t work = 0;    // processor-milliseconds: jobs ran there;
  std::int64_t idle = 0;    // on, booting or shutting down, and no job there;
  std::int64_t off = 0;     // off
  std::int64_t cycles = 0;  // times that it was sent to sleep
  std::int64_t energy = 0;  // microjoules
  Cost cost;                // of that energy
};

}  // namespace rota
