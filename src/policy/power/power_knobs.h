// The knobs of the power rules.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "model/work_history.h"

namespace rota {

enum class Power : std::uint8_t {
  none,          // every node is always on
  load_factor,   // Cao, Cao, Dai, Zhu and Chi 2011
  demand,        // woken when wanted, asleep when idle for long
  idle_timeout,  // the same without foresight: Slurm's SuspendTime
};

struct PowerKnobs {
  Power rule = Power::none;

  // load-factor; names of the paper in brackets
  Duration interval = seconds(1800);  // [Delta] between two looks
  double close = 0.7;                 // [Tc] below this, nodes are switched off
  double open = 1.5;                  // [Ts] above this, nodes are switched on
  double close_to = 1.0;              // [Tc'] where switching off aims at
  double open_to = 0.9;               // [Ts'] where switching on aims at
  double confidence = 1.96;           // [z] half-widths of the confidence interval, in standard errors
  std::int64_t samples = 30;          // size classes with fewer past jobs are taken together
  WorkSample sample = WorkSample::all;
  std::int64_t window = WorkHistory::kKept;  // past jobs of a class, where the sample is not all
  bool load_of_on = false;                   // the trigger's load is that of the nodes that are on, not of all
  bool root_of_queue = false;                // [n] under the root are the jobs in the queue, not those of the sample
  bool few_idle_open = true;                 // too few idle nodes for the smallest job are a reason to open
  bool published = false;                    // the rule of the paper alone, whatever may then wait for ever
  bool by_cluster = false;                   // one load of all nodes, not one for each partition
  bool from_log = false;                     // past jobs are those of the whole log, not those that have ended by then
  Duration longest{0};                       // [tmax] 0: the partition's limit, or else the longest limit of past jobs

  // demand; least_on, most_cycles and ramp also load-factor
  Duration wait = seconds(600);  // [theta] how long a job waits before nodes are woken for it
  Duration idle = seconds(600);  // [tau] how long a node is idle before it is sent to sleep; of demand see there
  Duration thrift{0};            // sets both (power_demand.h); 0: it does not
  double reserve = 0;            // so that the jobs of a boot time find nodes with this probability; 0: none
  Duration least_on{0};          // a node that was woken stays on for so long
  std::int64_t most_cycles = 0;  // of a node in a day; 0: any number
  std::int64_t ramp = 0;         // nodes woken, and nodes sent to sleep, in a minute; 0: any number

  bool switches() const { return rule != Power::none; }  // nodes, by a rule

  // What idle-timeout does not do.
  Duration waits() const { return rule == Power::demand ? wait : Duration{0}; }

  // Whether the whole log must be there beforehand, which live it cannot.
  bool knows_the_log() const { return rule == Power::load_factor && from_log; }

  bool on_demand() const { return rule == Power::demand || rule == Power::idle_timeout; }

  bool operator==(const PowerKnobs&) const = default;
};

}  // namespace rota
