// What a simulated cluster remembers so that commands may come late, twice and out of order (the contract of Engine):
// of each job the latest command that was carried out, where its latest dispatch runs or how it was over; of each node
// the latest command, its power and its health. It is also what really exists, for whoever wants to check that. Not
// thread-safe; O(log of the jobs ever started) a call.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "control/ports.h"
#include "model/machine.h"

namespace rota::sim {

class RunLedger {
 public:
  struct Run {
    std::uint64_t key = 0;  // of the latest command about the job
    std::uint32_t dispatch = kAnyDispatch;
    bool runs = false;
    std::optional<DispatchEnd> end;  // of the dispatch, once it is over
    Placement where;                 // while it runs, where nodes are described
  };
  struct NodeRow {
    std::uint64_t key = 0;  // of the latest command about its power
    PowerState power = PowerState::on;
    Health health = Health::up;
  };
  // Commands that were not carried out, and why.
  struct Counts {
    std::int64_t of_old_epochs = 0;
    std::int64_t doubled = 0;
    std::int64_t out_of_order = 0;
    std::int64_t overlaps = 0;  // starts of a job that still ran,
    std::int64_t reruns = 0;    // or had run to its end
  };
  enum class Verdict : std::uint8_t { carry_out, answer_again, ignore };

  explicit RunLedger(const Machine* machine) : nodes_(machine ? machine->nodes.size() : 0) {}

  // What is to be done with a command; if it is carried out, it is now the latest.
  Verdict judge(const Command& command);

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
  std::uint32_t epoch_ = 0;
  Counts counts_;
};

}  // namespace rota::sim
