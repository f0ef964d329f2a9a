// Which job stands before a waiting one and wants the same nodes: kept for the state as it is, since a list of the
// queue asks it of each job.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "model/cluster.h"

namespace rota::serve {

class Contenders {
 public:
  // Whether a job that waits competes for nodes at all: one that lacks a licence or a node that is out of use does not,
  // unless it is promised a start.
  using Competes = std::function<bool(const JobSpec&)>;

  // The first of those before it that compete for nodes which it could use; invalid: none does. Looks at the first
  // thousand of the queue.
  JobId before(const View& view, const Machine& machine, const Job& job, const Competes& competes);
  // Whether jobs of these partitions can stand in each other's way; jobs of no partition can in that of any.
  bool share_nodes(const Machine& machine, PartitionId a, PartitionId b);

 private:
  struct First {
    PartitionId partition;
    WaitingEntry::Key place;
    JobId job;
  };

  void look(const View& view, const Machine& machine, const Competes& competes);

  std::uint64_t sequence_ = UINT64_MAX;  // of the state that was looked at
  std::vector<First> first_;             // of each partition, in order of the queue
  std::map<std::pair<PartitionId, PartitionId>, bool> shared_;
};

}  // namespace rota::serve
