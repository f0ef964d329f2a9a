#include "cli/rehearse/simulate_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "policy/chain_text.h"
#include "rehearse/chances.h"
#include "report/intervals.h"
#include "report/policy_labels.h"
#include "site/slurm_conf.h"

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

Result<void> keep_weeks(std::vector<Run>& runs) {
  constexpr std::size_t kFewestWeeks = 8;
  for (Run& run : runs) {
    if (run.chain == nullptr) continue;
    if (run.options.machine && !run.options.machine->sites.empty())
      return fail("--weeks is for one cluster, and the cluster file describes several sites; leave it out.");
    if (run.workload->queue_floor >= 0)
      return fail("{}: --weeks needs jobs that come at their times, and these come whenever few wait (QueueFloor).",
                  run.workload->name);
    const LogBlocks cut = blocks_of(*run.workload, kFewestWeeks);
    if (cut.count < kFewestWeeks)
      return fail("{}: all jobs come at once, so that --weeks has nothing to draw from.", run.workload->name);
    run.weeks = std::make_shared<BlockCollector>(*run.workload, cut);
    run.options.beside = run.weeks.get();
  }
  return {};
}

void tell_weeks(Run& run) {
  if (!run.weeks) return;
  report::Summary& summary = run.result->summary;
  summary.weeks = std::make_shared<const report::Blocks>(run.weeks->blocks());
  summary.weeks_told = told(run.weeks->cut(), run.weeks->cut().count);
  run.options.beside = nullptr;
}

namespace {

SlurmKnobTexts knob_texts(const std::string& policy) {
  SlurmKnobTexts texts;
  if (const auto text = read_chain_text(policy))
    for (const Setting& set : text->own) texts.emplace_back(set.knob->name, set.value);
  return texts;
}

}  // namespace

bool is_setting_of_slurm(const std::string& policy) {
  const auto text = read_chain_text(policy);
  return text && text->policy->name == "slurm";
}

std::vector<std::string> slurm_lines_between(const std::string& now, const std::string& then) {
  return slurm_conf_lines(knob_texts(now), knob_texts(then));
}

void tell_of_the_log(Run& run) {
  report::Summary& summary = run.result->summary;
  summary.own = run.own;
  summary.site_policy = run.workload->site_policy;
  summary.of_slurm = run.workload->of_slurm;
  summary.slurm_can = run.chain != nullptr && is_setting_of_slurm(run.chain->text());
  if (summary.of_slurm && summary.slurm_can && !run.workload->site_policy.empty())
    summary.slurm_lines = slurm_lines_between(run.workload->site_policy, run.chain->text());
  summary.left_out = run.workload->left_out;
  std::ranges::move(log::sentences_of(run.workload->report), std::back_inserter(summary.left_out));
}

Result<void> hold_against_chances(Run& run) {
  if (!run.own || run.chain == nullptr) return {};
  const auto trust = TRY(trust_over_chances(*run.workload, *run.chain, run.options));
  if (!trust) return {};
  report::Summary& summary = run.result->summary;
  summary.trust = trust;
  summary.left_out.push_back(
      fmt::format("when the passes of backfill fell, and parts of seconds: what is held against the recorded waits are "
                  "the mean waits of {} rehearsals that differ in these",
                  kChances));
  return {};
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
