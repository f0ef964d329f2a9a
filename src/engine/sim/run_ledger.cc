#include "engine/sim/run_ledger.h"

#include <algorithm>

namespace rota::sim {

void RunLedger::began(const Command& start) {
  Run& run = runs_[start.job];
  const auto* finished = run.end ? std::get_if<Finished>(&*run.end) : nullptr;
  if (finished && finished->outcome != Outcome::node_failed) ++counts_.reruns;
  run = {start.dispatch, true, std::nullopt, start.where};
  ++counts_.begun;
}

void RunLedger::over(JobId job, std::uint32_t dispatch, const DispatchEnd& end) {
  Run& run = runs_[job];
  run.runs = false;
  run.dispatch = dispatch;
  run.end = end;
  run.where = {};
}

std::vector<JobId> RunLedger::on(NodeId node) const {
  std::vector<JobId> jobs;
  for (const auto& [job, run] : runs_) {
    const auto is_there = [&](const Share& s) { return s.node == node; };
    if (run.runs && std::any_of(run.where.shares.begin(), run.where.shares.end(), is_there)) jobs.push_back(job);
  }
  return jobs;
}

Observation RunLedger::observe() const {
  Observation seen;
  for (const auto& [job, run] : runs_) {
    if (run.runs) {
      seen.jobs.push_back({job, true, {}, commands_.key_of(job), run.dispatch});
    } else if (run.end) {
      seen.jobs.push_back({job, false, *run.end, commands_.key_of(job), run.dispatch});
    }
  }
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    seen.nodes.push_back({NodeId{i}, nodes_[i].power, nodes_[i].health, key_of(NodeId{i})});
  }
  return seen;
}

}  // namespace rota::sim
