// What the nodes draw, and for which jobs: the physics of power in a rehearsal. Energy is whole microjoules (milliwatts
// times milliseconds). Time in a state is counted in processor-milliseconds, so that nodes of any size add up. O(1) for
// each node that changes. Not thread-safe.
//
// A node draws `off` when it is off, `idle` when it is on, `busy` on top of that for each busy processor, `accelerator`
// for each accelerator that a job holds or that computes a task, and the mean of its boot or shutdown energy meanwhile
// (model/machine.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/sim/state_series.h"
#include "model/node_power.h"
#include "model/node_space.h"

namespace rota::sim {

// Over all nodes and the time that was metered.
struct Consumption {
  Duration length{0};     // of the time metered
  std::int64_t work = 0;  // processor-milliseconds on which jobs ran; killed dispatches too
  std::int64_t idle = 0;  // on, booting or shutting down, and no job there
  std::int64_t off = 0;
  std::int64_t energy = 0;       // millijoules, as are:
  std::int64_t always_on = 0;    // the same jobs on nodes that never sleep
  std::int64_t jobs = 0;         // of all jobs: what they add, and their part of the nodes that are on
  std::int64_t lost = 0;         // of those, dispatches that were killed
  std::int64_t cycles = 0;       // times that a node was sent to sleep
  std::int64_t most_cycles = 0;  // of one node
  std::int64_t failed_boots = 0;
  std::int64_t most_switched = 0;  // nodes told to wake or to sleep within one minute, at most, and
  std::int64_t largest_step = 0;   // by how many milliwatts that changed what all nodes draw within one minute, at most
  Cost cost;                       // of that energy, where the price goes by the time of day; as is:
  Cost always_on_cost;
};

// What a job accounts for in the dispatches that are over.
struct JobDraw {
  std::int64_t energy = 0;  // microjoules
  Cost cost;                // where the price goes by the time of day
};

struct MeterOptions {
  bool states = false;          // states() will be asked
  bool by_job = false;          // of_jobs() will be asked, and costs_of_jobs()
  std::int64_t unix_start = 0;  // of instant 0, for prices by the time of day; 0, not known: it is midnight
};

class PowerMeter {
 public:
  // nullptr or counted: meters nothing.
  explicit PowerMeter(const Machine* machine, const MeterOptions& options = {});

  bool meters() const { return !nodes_.empty(); }

  void open(Instant now);  // what was before does not count
  void start(JobId job, const Placement& where, Instant now);
  void end(JobId job, Instant now, bool killed);
  void switched(NodeId node, PowerState state, Instant now);
  // An accelerator of the node has computed a task of a running job, or (invalid) of one that has gone.
  void computed(JobId job, NodeId node, Instant from, Instant to);

  std::int64_t energy_of(NodeId node, Instant now) const;  // microjoules until now
  // Microjoules of a job's dispatches so far: what its processors, its accelerators and those that computed its tasks
  // add to what their nodes draw, and of what a node draws anyhow the part of its processors that the job has.
  std::int64_t energy_of(JobId job, Instant now) const;
  // By job id, microjoules of the dispatches that are over; empty unless asked for beforehand, short of jobs that never
  // ran.
  const std::vector<std::int64_t>& of_jobs() const { return of_jobs_; }
  // What these dispatches cost, likewise; empty where no price goes by the time of day.
  const std::vector<Cost>& costs_of_jobs() const { return costs_of_jobs_; }
  JobDraw of_job(JobId job) const;  // of both lists
  Consumption read(Instant now) const;
  std::vector<NodeTotal> totals(Instant now) const;  // of each node; costs where the price goes by the time of day
  NodeStates states(Instant now) const;              // since it was opened; of no nodes unless asked for beforehand

 private:
  struct NodeMeter {
    PowerState state = PowerState::on;
    std::uint32_t busy = 0;          // processors
    std::uint32_t accelerators = 0;  // that jobs hold
    std::int32_t cycles = 0;
    Instant since = kEpoch;
    std::int64_t energy = 0;  // microjoules until since
    std::int64_t work = 0;    // processor-milliseconds until since
    std::int64_t off = 0;
    std::int64_t added = 0;  // microjoules until since: what jobs and tasks add to an idle node
  };
  // By prices that go by the time of day.
  struct Spent {
    Cost cost;              // until since
    Cost added;             // of that, what jobs and tasks add to an idle node
    std::int64_t paid = 0;  // price times milliseconds from the beginning until since
  };
  // What switching did to the supply within one minute: since the minute's beginning, and the most of all minutes.
  struct Shock {
    std::int64_t minute = -1;
    std::int64_t switched = 0;
    std::int64_t step = 0;  // milliwatts, of nodes that began to boot or to shut down, or came to the end of it
    std::int64_t most_switched = 0;
    std::int64_t largest_step = 0;
  };
  struct Dispatch {
    std::vector<Share> shares;
    std::uint32_t accelerators = 0;  // on each of them
    Instant start;
    std::int64_t tasks = 0;  // microjoules that its tasks took on accelerators
    Cost cost_of_tasks;      // of these, where the price goes by the time of day
  };

  NodeTotal of(NodeId node, Instant now) const;  // nameless
  std::int64_t draw(NodeId node) const;          // milliwatts
  std::int64_t added_draw(NodeId node) const;    // of these, what jobs add by what they hold
  NodeUse use(NodeId node) const;
  void settle(NodeId node, Instant now);
  void count_shock(PowerState state, std::int64_t step, Instant now);
  std::int64_t used_by(const Dispatch& dispatch, Instant now) const;
  std::int64_t paid(Instant until) const;  // price times milliseconds
  void charge(NodeId node, Instant now);
  void charge(JobId job, const Dispatch& dispatch, Instant now);
  void read_always_on_costs(Instant now, Consumption& all) const;

  const Machine* machine_;
  bool by_job_;
  bool keeps_states_;
  std::optional<StateSeries> states_;  // once it is open
  Duration midnight_{0};               // time of day of instant 0
  std::vector<NodeMeter> nodes_;
  std::vector<Spent> spent_;  // by node; empty where no price goes by the time of day
  Instant paid_at_ = kNever;  // the last time that was asked about
  std::int64_t paid_ = 0;     // until then
  std::vector<std::int64_t> of_jobs_;
  std::vector<Cost> costs_of_jobs_;
  std::map<JobId, Dispatch> running_;
  std::map<JobId, std::int64_t> before_;  // microjoules of killed dispatches of jobs that have not ended
  std::int64_t ended_ = 0;                // millijoules of dispatches that are over, and what is left below one
  std::int64_t ended_rest_ = 0;
  std::int64_t lost_ = 0;  // the same of those that were killed
  std::int64_t lost_rest_ = 0;
  std::int64_t failed_boots_ = 0;
  Shock shock_;
  Instant opened_ = kEpoch;
};

}  // namespace rota::sim
