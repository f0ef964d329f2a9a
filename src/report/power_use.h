// What a rehearsal's nodes drew and how long they slept: for tables and pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace rota::report {

// What a rule that reckons loads saw, over all its looks.
struct LoadUse {
  std::string partition;  // empty: all nodes
  std::int64_t looks = 0;
  double mean = 0;  // of the load
  double most = 0;
  double fragments = 0;  // idle nodes, too few for any job that waited: the mean
};

struct PowerUse {
  Duration length{0};            // from the first arrival until the last job was gone
  std::int64_t work = 0;         // processor-milliseconds: jobs ran there;
  std::int64_t idle = 0;         // on, booting or shutting down, and no job there;
  std::int64_t off = 0;          // off
  std::int64_t energy = -1;      // millijoules; -1: the cluster file tells no watts
  std::int64_t always_on = 0;    // the same jobs on nodes that never sleep
  std::int64_t jobs = 0;         // of these millijoules, what jobs account for; killed dispatches too
  std::int64_t cycles = 0;       // times that a node was sent to sleep
  std::int64_t most_cycles = 0;  // of one node
  std::int64_t failed_boots = 0;
  std::int64_t most_switched = 0;   // nodes told to wake or to sleep within one minute, at most
  std::int64_t largest_step = -1;   // by so many milliwatts that changed what all draw, at most; -1: no watts are told
  std::vector<LoadUse> loads = {};  // of each partition, or of all nodes; empty: the rule reckons none
  std::int64_t nodes = 0;
  std::int64_t co2 = -1;                      // milligrams for a kilowatt-hour; -1: not said
  std::optional<double> cost = {};            // of the energy, in the currency of the price; nullopt: none is said
  std::optional<double> always_on_cost = {};  // of `always_on`, likewise

  double share(std::int64_t time) const {  // of all processor time
    const auto all = static_cast<double>(work + idle + off);
    return all > 0 ? static_cast<double>(time) / all : 0;
  }
  static double kilowatt_hours(std::int64_t millijoules) { return static_cast<double>(millijoules) / 3.6e9; }
  std::optional<double> used() const { return energy < 0 ? std::nullopt : std::optional(kilowatt_hours(energy)); }
  std::optional<double> saved() const {
    return energy < 0 ? std::nullopt : std::optional(kilowatt_hours(always_on - energy));
  }
  std::optional<double> saved_cost() const {
    return cost && always_on_cost ? std::optional(*always_on_cost - *cost) : std::nullopt;
  }
  std::optional<double> co2_kilograms() const {
    if (energy < 0 || co2 < 0) return std::nullopt;
    return kilowatt_hours(energy) * static_cast<double>(co2) * 1e-6;
  }
  double cycles_per_node_day() const {
    const double days = to_seconds(length) / 86'400;
    return days > 0 && nodes > 0 ? static_cast<double>(cycles) / (days * static_cast<double>(nodes)) : 0;
  }
};

}  // namespace rota::report
