// What a simulated cluster remembers of commands that may come late, twice and out of order: of each job where its
// latest dispatch runs or how it was over; of each node its power and its health. It is also what really exists, for
// tests that check that. Not
// thread-safe; O(log of the jobs ever started) a call.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "control/command_ledger.h"
#include "model/machine.h"

namespace rota::sim {

class RunLedger {
 public:
  struct Run {
    std::uint32_t dispatch = kAnyDispatch;
    bool runs = false;
    std::optional<DispatchEnd> end;  // of the dispatch, once it is over
    Placement where;                 // while it runs, where nodes are described
  };
  struct NodeRow {
    PowerState power = PowerState::on;
    Health health = Health::up;
  };
  struct Counts {
    std::int64_t begun = 0;     // starts that were carried out
    std::int64_t overlaps = 0;  // starts of a job that still ran,
    std::int64_t reruns = 0;    // or had run to its end
  };

  explicit RunLedger(const Machine* machine) : nodes_(machine ? machine->nodes.size() : 0) {}

  CommandLedger& commands() { return commands_; }
  const CommandLedger& commands() const { return commands_; }
  std::uint64_t key_of(NodeId node) const { return commands_.key_of(node); }

  void began(const Command& start);
  void moved(JobId job, const Placement& where) { runs_[job].where = where; }
  void over(JobId job, std::uint32_t dispatch, const DispatchEnd& end);
  void overlapped() { ++counts_.overlaps; }

  bool runs(JobId job) const {
    const auto found = runs_.find(job);
    return found != runs_.end() && found->second.runs;
  }
  bool runs(JobId job, std::uint32_t dispatch) const { return runs(job) && runs_.at(job).dispatch == dispatch; }
  const std::map<JobId, Run>& all() const { return runs_; }
  std::vector<JobId> on(NodeId node) const;  // jobs that run there

  NodeRow& node(NodeId id) { return nodes_[id.value]; }
  const std::vector<NodeRow>& nodes() const { return nodes_; }

  Observation observe() const;
  const Counts& counts() const { return counts_; }

 private:
  std::map<JobId, Run> runs_;
  std::vector<NodeRow> nodes_;
  CommandLedger commands_;
  Counts counts_;
};

}  // namespace rota::sim
