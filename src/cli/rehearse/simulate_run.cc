#include "cli/rehearse/simulate_run.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "report/intervals.h"
#include "report/policy_labels.h"

namespace rota::cli {

void call_apart(std::vector<log::Workload>& workloads, const std::vector<std::string>& paths) {
  std::map<std::string, int> of_name;
  for (const log::Workload& workload : workloads) ++of_name[workload.name];
  for (std::size_t i = 0; i < workloads.size(); ++i)
    if (of_name[workloads[i].name] > 1) workloads[i].name = one_line(paths[i]);
}

Asked asked(std::vector<Run>& runs) {
  Asked all;
  for (Run& run : runs) {
    if (run.asked) all.push_back(&run);
  }
  return all;
}

void call_by_labels(std::vector<Run>& runs) {
  std::vector<std::string> texts;
  for (const Run& run : runs) texts.push_back(run.policy());
  const std::vector<std::string> labels = report::policy_labels(texts);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].label = labels[i];
}

bool is_of_the_site(const Chain& policy, const log::Workload& workload, const std::string& of_state) {
  const auto has = Chain::parse(of_state.empty() ? workload.site_policy : of_state);
  return has && has->knobs() == policy.knobs();
}

void tell_of_the_log(Run& run) {
  report::Summary& summary = run.result->summary;
  summary.own = run.own;
  summary.site_policy = run.workload->site_policy;
  summary.of_slurm = run.workload->of_slurm;
  summary.slurm_can = run.chain != nullptr && run.chain->knobs().slurm.planner;
  summary.left_out = run.workload->left_out;
  std::ranges::move(log::sentences_of(run.workload->report), std::back_inserter(summary.left_out));
}

bool first_policy(const Run& run, const std::vector<Run>& runs) {
  const auto rehearsed = std::ranges::find_if(runs, [](const Run& candidate) { return candidate.chain != nullptr; });
  return rehearsed == runs.end() || run.chain == rehearsed->chain;
}

Result<void> rehearse_copies_of(std::vector<Run>& runs, const log::Workload& workload, const Copies& copies,
                                std::size_t threads) {
  std::vector<Run*> rehearsed;
  std::vector<std::vector<report::Summary>> policies;
  for (Run& run : runs) {
    if (run.workload != &workload || run.chain == nullptr) continue;
    auto summaries = TRY(rehearse_copies(copies, *run.chain, run.options, threads));
    rehearsed.push_back(&run);
    policies.push_back(std::move(summaries));
  }
  if (policies.empty()) return {};
  auto intervals = report::intervals_of(policies);
  for (std::size_t p = 0; p < rehearsed.size(); ++p) {
    report::Summary& summary = rehearsed[p]->result->summary;
    summary.intervals = std::move(intervals[p]);
    summary.copies = std::move(policies[p]);
    summary.copies_are_streams = copies.streams;
  }
  return {};
}

}  // namespace rota::cli
