// Which jobs have tasks for accelerators, and whose tasks may go to which node's: what a restart has to know of them. A
// fold over TasksAsked, Bound and Unbound, kept up by Cluster; what jobs bound is forgotten when they leave their
// nodes. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/fact.h"
#include "model/machine.h"

namespace rota {

class AcceleratorBindings {
 public:
  bool empty() const { return asked_.empty() && rows_.empty(); }

  // The tasks of jobs, as was said last. By job.
  const std::map<JobId, TasksAsked>& asked() const { return asked_; }
  // All bindings, in the order in which they were made. O(n log n).
  std::vector<Bound> all() const;
  // The node that the tasks of all jobs on this one go to; invalid: it is not bound for all jobs. O(log n).
  NodeId bound_to(NodeId node) const;

  // Why a fact makes no sense, as a sentence; nothing if it does. Its jobs and nodes must be known.
  std::optional<std::string> objection(const TasksAsked& fact) const;
  std::optional<std::string> objection(const Machine& machine, const Bound& fact) const;
  std::optional<std::string> objection(const Machine& machine, const Unbound& fact) const;

  void apply(const TasksAsked& fact) { asked_[fact.job] = fact; }
  void apply(const Bound& fact);
  void apply(const Unbound& fact);
  void described(const Machine& machine);  // nodes are described anew: bindings that cannot be any more are over
  void left_nodes(JobId job);              // no longer runs
  void forget(JobId job);                  // is gone; it runs no longer

 private:
  static std::optional<std::string> cannot_be(const Machine& machine, const Bound& fact);  // whatever else is bound

  using Key = std::tuple<JobId, NodeId, NodeId>;  // job (invalid: all), node, accelerator node
  struct Row {
    std::uint32_t processors = 0;
    std::uint64_t order = 0;
  };
  std::map<Key, Row>::const_iterator of_node(JobId job, NodeId node) const {
    return rows_.lower_bound({job, node, NodeId{0}});
  }

  std::map<JobId, TasksAsked> asked_;
  std::map<Key, Row> rows_;
  std::uint64_t order_ = 0;
};

}  // namespace rota
