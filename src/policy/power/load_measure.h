// How loaded each partition is, or the whole machine: the first half of power=load-factor, whose second half
// (power_load.h) decides by it. Cao et al. 2011, estimation of the load; the formulas stand in power_load.h.
#pragma once

#include <cstdint>
#include <vector>

#include "model/load_reading.h"
#include "plan/plan.h"
#include "policy/power/power_knobs.h"

namespace rota {

// Nodes that are switched by one load: those of a partition, or all.
struct LoadDomain {
  const Partition* partition = nullptr;  // whose limits count; nullptr: the machine has no partitions
  PartitionId id = {};                   // invalid: all nodes
  std::int64_t nodes = 0;
  std::int64_t busy = 0;
  std::int64_t on = 0;                     // or booting
  std::int64_t smallest = 1;               // nodes of the smallest job that it allows,
  std::int64_t largest = 0;                // of the largest that waits,
  std::int64_t least_waiting = INT64_MAX;  // and of the smallest that waits
  double least_work = 0;                   // node-milliseconds: the sum of r_min,
  double work = 0;                         // and of r_max
  double longest = 1;                      // milliseconds

  const LoadRule* rule() const { return partition != nullptr ? partition->load_rule.get() : nullptr; }
  std::int64_t least_on() const { return rule() == nullptr ? 0 : rule()->least_on; }
  std::int64_t most_on() const;
  double load(std::int64_t of_nodes) const;  // if so many were on: T(p)
  // So many that the load of that many is the nearest to this one.
  std::int64_t nodes_for(double wanted) const;
  double trigger(const PowerKnobs& knobs) const { return load(knobs.load_of_on ? on : nodes); }
};

// What the jobs in the queue of a view are, after the starts of a draft. O(nodes + jobs in the queue). Not thread-safe.
class LoadMeasure {
 public:
  LoadMeasure(const View& view, const Plan& plan, const PowerKnobs& knobs);

  const std::vector<LoadDomain>& domains() const { return domains_; }
  // Whether the node is switched by the load of that place in domains(). A node belongs to the smallest of its
  // partitions, so that one within another has nodes of its own.
  bool belongs(NodeId node, std::size_t domain) const {
    return domain_of_.empty() ? domain == 0 : domain_of_[node.value] == domain;
  }
  std::vector<LoadReading> readings() const;

 private:
  void divide();
  void count_nodes();
  void count_jobs();
  std::size_t domain_of(const JobSpec& spec) const;
  double longest_of(const LoadDomain& domain) const;

  static constexpr std::uint32_t kNone = UINT32_MAX;

  const View& view_;
  const Plan& plan_;
  const PowerKnobs& knobs_;
  const Machine& machine_;
  std::vector<LoadDomain> domains_;
  std::vector<std::uint32_t> domain_of_;  // by node; empty: there is one
};

}  // namespace rota
