#include "engine/sim/run_ledger.h"

#include <algorithm>

namespace rota::sim {

RunLedger::Verdict RunLedger::judge(const Command& command) {
  if (command.epoch < epoch_) {
    ++counts_.of_old_epochs;
    return Verdict::ignore;
  }
  epoch_ = command.epoch;
  if (command.kind == Command::Kind::expect) return Verdict::carry_out;  // changes nothing that others rest on
  std::uint64_t& latest = command.job.valid() ? runs_[command.job].key : nodes_[command.node.value].key;
  if (command.key < latest) {
    ++counts_.out_of_order;
    return Verdict::ignore;
  }
  if (command.key == latest) {
    ++counts_.doubled;
    return Verdict::answer_again;
  }
  latest = command.key;
  return Verdict::carry_out;
}

void RunLedger::began(const Command& start) {
  Run& run = runs_[start.job];
  const auto* finished = run.end ? std::get_if<Finished>(&*run.end) : nullptr;
  if (finished && finished->outcome != Outcome::node_failed) ++counts_.reruns;
  run = {start.key, start.dispatch, true, std::nullopt, start.where};
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
      seen.jobs.push_back({job, true, {}, run.key, run.dispatch});
    } else if (run.end) {
      seen.jobs.push_back({job, false, *run.end, run.key, run.dispatch});
    }
  }
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    seen.nodes.push_back({NodeId{i}, nodes_[i].power, nodes_[i].health, nodes_[i].key});
  }
  return seen;
}

}  // namespace rota::sim
