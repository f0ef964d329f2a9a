// Which nodes are on, booting, shutting down or off, since when, and when those that are away can be back: a fold over
// PowerChanged and PowerReviewed. A node that is not on takes no job; its processors are withheld (NodeSpace). Counts
// cost O(1), a change O(log of the nodes away). Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/id_set.h"
#include "model/load_reading.h"
#include "model/machine.h"

namespace rota {

enum class PowerState : std::uint8_t { on, booting, shutting_down, off };

// Whether a node may be used, apart from its power.
enum class Health : std::uint8_t {
  up,
  draining,  // its jobs go on, and nothing starts there
  down,      // its jobs are lost
};

// What is known of one node's power.
struct NodePowerRow {
  PowerState state = PowerState::on;
  std::uint16_t failures = 0;  // boots that failed one after the other
  std::int32_t cycles = 0;     // times that it was sent to sleep
  Instant since = kEpoch;
  Instant until = kNever;  // booting, shutting down: when that is expected to be over
  Instant shunned_until = kEpoch;
  std::uint64_t command = 0;  // number of the fact that decided the latest command about it
  bool by_rule = false;       // a power rule, and no operator, sent it to sleep

  bool operator==(const NodePowerRow&) const = default;
};

// And of all nodes together.
struct PowerCounters {
  std::int64_t minute = -1;  // the latest in which a node was switched, and how many were
  std::int64_t woken = 0;
  std::int64_t slept = 0;
  Instant reviewed_at = kEpoch;
  Instant next_review = kNever;
};

class NodePower {
 public:
  // All on from kEpoch; nullptr or a machine that is counted: no nodes.
  explicit NodePower(const Machine* machine);

  bool all_on() const { return count(PowerState::on) == static_cast<std::int64_t>(nodes_.size()); }
  std::int64_t count(PowerState state) const { return nodes_in_[index(state)]; }
  std::int64_t processors(PowerState state) const { return processors_in_[index(state)]; }

  PowerState state(NodeId node) const { return nodes_[node.value].state; }
  Instant since(NodeId node) const { return nodes_[node.value].since; }
  Instant until(NodeId node) const {
    return nodes_[node.value].until;
  }  // booting, shutting down: expected; else kNever
  std::int64_t cycles(NodeId node) const { return nodes_[node.value].cycles; }  // times that it was sent to sleep
  std::int64_t cycles() const { return cycles_; }                               // of all nodes

  // A node whose boot failed is left alone until then: its `boot_retry` after the first failure, twice as long after
  // each further one in a row, an hour at most. kEpoch: it is not. A policy that wants to wake it waits for that.
  Instant shunned_until(NodeId node) const { return nodes_[node.value].shunned_until; }

  // When a node that is away can take jobs at the earliest, if it is woken at `now`.
  Instant back_at(NodeId node, Instant now) const;

  // Processors that come back by `at` without being asked for: those of booting nodes.
  std::int64_t booted_by(Instant at, Instant now) const;
  // visit(instant, processors) for nodes that are away, by instant; those that sleep too only if they are `obtainable`,
  // counted as woken at `now`. Each instant once or more; O(distinct instants).
  template <class Visit>
  void for_each_return(Instant now, bool obtainable, const Visit& visit) const {
    if (all_on()) return;
    collect_returns(now, obtainable);
    for (const auto& [at, count] : returns_) visit(at, count);
  }

  // In file order, until visit(NodeId) returns false.
  template <class Visit>
  void for_each_in(PowerState state, const Visit& visit) const {
    const IdSet& in = sets_[index(state)];
    for (std::uint32_t i = in.first(); i != IdSet::kNone; i = in.next(i + 1)) {
      if (!visit(NodeId{i})) return;
    }
  }

  // The nodes that sleep, until visit(NodeId) returns false: those first that draw the least for each processor when
  // all of them are busy, then in file order.
  template <class Visit>
  void for_each_asleep(const Visit& visit) const {
    for (const IdSet& ranked : asleep_by_rank_) {
      for (std::uint32_t i = ranked.first(); i != IdSet::kNone; i = ranked.next(i + 1)) {
        if (!visit(NodeId{i})) return;
      }
    }
  }

  Duration longest_boot() const { return longest_boot_; }
  Duration longest_absence() const { return longest_absence_; }  // from the command to sleep until it is on again
  Duration longest_break_even() const { return longest_break_even_; }

  // Nodes that were woken, or sent to sleep, in the minute of `now` so far.
  std::int64_t woken_in_minute(Instant now) const { return counters_.minute == minute_of(now) ? counters_.woken : 0; }
  std::int64_t slept_in_minute(Instant now) const { return counters_.minute == minute_of(now) ? counters_.slept : 0; }
  static std::int64_t minute_of(Instant at) { return at.time_since_epoch().count() / 60'000; }

  // Whether jobs on other nodes may use the node's accelerators: then it had better stay awake, idle or not.
  bool serves(NodeId node) const { return !serves_.empty() && serves_[node.value]; }
  void served(NodeId node, bool serves) {
    serves_.resize(nodes_.size());
    serves_[node.value] = serves;
  }

  // A node that is not up is in none of the counts, lists and sums of this class, whatever its power.
  bool all_up() const { return unhealthy_ == 0; }
  Health health(NodeId node) const { return unhealthy_ == 0 ? Health::up : health_[node.value]; }
  void set_health(NodeId node, Health health);

  // Nodes of this machine, the first of which are those that there were.
  void describe_anew(const Machine* machine);

  // `until`: when a boot or a shutdown is expected to be over. A boot that ends in `off` has failed.
  void changed(NodeId node, PowerState state, Instant now, Instant until);
  void commanded(NodeId node, std::uint64_t by) { nodes_[node.value].command = by; }
  void slept_by_rule(NodeId node) { nodes_[node.value].by_rule = true; }

  // Rows as they stand, for a snapshot, and how they are put back.
  const NodePowerRow& row(NodeId node) const { return nodes_[node.value]; }
  const PowerCounters& counters() const { return counters_; }
  void put_back(NodeId node, const NodePowerRow& row);
  void put_back(const PowerCounters& counters) { counters_ = counters; }

  // For rules that look from time to time: when the last look was, and when they want to look again.
  Instant reviewed_at() const { return counters_.reviewed_at; }
  Instant next_review() const { return counters_.next_review; }
  void reviewed(Instant at, Instant next) {
    counters_.reviewed_at = at;
    counters_.next_review = next;
  }
  // The loads that it saw then; none where the rule reckons none.
  const std::vector<LoadReading>& loads() const { return loads_; }
  void read(const std::vector<LoadReading>& loads) { loads_ = loads; }

 private:
  static std::size_t index(PowerState state) { return static_cast<std::size_t>(state); }
  void count(NodeId node, std::int64_t sign);
  void collect_returns(Instant now, bool obtainable) const;
  void rank_nodes();

  const Machine* machine_;
  std::vector<NodePowerRow> nodes_;
  std::vector<bool> serves_;    // by node id; empty: none ever has
  std::vector<Health> health_;  // by node id; empty: all have always been up
  std::size_t unhealthy_ = 0;
  std::vector<IdSet> sets_;  // by state
  std::array<std::int64_t, 4> nodes_in_{};
  std::array<std::int64_t, 4> processors_in_{};
  std::map<Instant, std::int64_t> booting_;  // processors, by when they are expected to be on
  std::map<std::pair<Instant, Duration>, std::int64_t> shutting_down_;  // by when they are off, and their boot time
  std::map<Duration, std::int64_t> asleep_;                             // by boot time
  std::map<std::pair<Instant, Duration>, std::int64_t> shunned_;        // until when they are shunned, and boot time
  std::vector<std::uint32_t> rank_;                                     // by node: of efficiency
  std::vector<IdSet> asleep_by_rank_;
  Duration longest_boot_{0};
  Duration longest_absence_{0};
  Duration longest_break_even_{0};
  std::int64_t cycles_ = 0;
  PowerCounters counters_;
  std::vector<LoadReading> loads_;
  mutable std::vector<std::pair<Instant, std::int64_t>> returns_;  // scratch
};

}  // namespace rota
