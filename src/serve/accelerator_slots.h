// The slots of jobs with tasks for accelerator containers: processors that they hold, each bound by itself to a node
// that has containers, as a rehearsal's `bind=slot` has it (policy/bind/slots.h). Bindings are facts, so many of a
// job's on one of its nodes (Bound, Unbound); a restart of the service keeps them. One thread, that of the loop.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "policy/bind/slots.h"
#include "serve/desk.h"
#include "serve/job_book.h"

namespace rota::serve {

class AcceleratorSlots {
 public:
  // `book`: which jobs ask for it (`accel_tasks`).
  AcceleratorSlots(Desk& desk, const JobBook& book) : desk_(desk), book_(book) {}

  // Anew, from what is recorded, with the nodes that have containers now: bindings to these stay. O(slots log slots).
  void take_over(std::set<NodeId> hosts);
  // Whether a node has containers now. O(slots that move).
  void serves(NodeId host, bool has_some);
  // Notes which jobs have started. True: look() is to be called once that fact is recorded.
  bool note(const FactRef& fact);
  void look();

  // The node that a slot of a job on a node is bound to; the slots there count from 0, in the order of these nodes when
  // the job started or the service took over. Invalid: to none, or there is no such slot. Before take_over(): as is
  // recorded.
  NodeId host_of(JobId job, NodeId node, std::int64_t slot) const;

 private:
  using Homes = std::map<NodeId, std::vector<SlotId>>;  // by node

  bool wants_slots(JobId job) const;
  bool runs(JobId job) const;
  std::map<NodeId, std::uint32_t> nodes_of(JobId job) const;  // with the slots that it has there
  void open(JobId job);
  void number(std::vector<SlotId>& slots) const;
  bool is_bound(JobId job) const;
  SlotId unused(JobId job);
  void tell();
  void record(const Observed& fact);

  Desk& desk_;
  const JobBook& book_;
  SlotBinding binding_;
  std::set<NodeId> hosts_;
  std::map<JobId, Homes> open_;
  std::vector<JobId> jobs_;  // by slot id
  std::vector<SlotId> unused_;
  std::set<JobId> started_;  // and not open yet
};

}  // namespace rota::serve
