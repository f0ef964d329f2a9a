// The rows of a comparison that `rota simulate` makes: one policy on one workload each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rehearse/blocks.h"
#include "rehearse/copies.h"
#include "rehearse/recorded.h"
#include "rehearse/rehearse.h"

namespace rota::cli {

struct Run {
  const log::Workload* workload;
  const Chain* chain;  // nullptr: what really happened
  RehearseOptions options;
  Result<Rehearsed> result;
  bool asked = true;  // false: a row of what really happened that was not asked for goes into no file of single jobs
  bool own = false;   // it rehearses what the site has now
  std::string label = {};                      // of its policy (report/policy_labels.h)
  std::shared_ptr<BlockCollector> weeks = {};  // nullptr: its jobs are not kept by week

  std::string policy() const { return chain != nullptr ? chain->text() : kRecorded; }
};

// Workloads of one name are called by their paths, so that nothing takes them for one workload.
void call_apart(std::vector<log::Workload>& workloads, const std::vector<std::string>& paths);

// Those that go into files.
using Asked = std::vector<Run*>;
Asked asked(std::vector<Run>& runs);

// Gives labels to policies whose text is long.
void call_by_labels(std::vector<Run>& runs);

// Whether a policy rehearses what the workload's site has now: that of the service whose state it is, or the one that
// the workload's header names, however the two are written. For other logs that is not known.
bool is_of_the_site(const Chain& policy, const log::Workload& workload, const std::string& of_state);

// Has each rehearsal keep its jobs by weeks of the log. Fails with a sentence where that makes no sense.
Result<void> keep_weeks(std::vector<Run>& runs);
void tell_weeks(Run& run);  // in its summary

// Whether Slurm itself can be set to it: it is policy slurm, with whatever knobs.
bool is_setting_of_slurm(const std::string& policy);
// The lines of slurm.conf that lead from one setting of policy slurm to another.
std::vector<std::string> slurm_lines_between(const std::string& now, const std::string& then);

// Puts into its summary what is known of the log and of the site that it comes from.
void tell_of_the_log(Run& run);

// Its trust is that over chances (rehearse/chances.h), where it rehearses what the site has now. Follows
// tell_of_the_log().
Result<void> hold_against_chances(Run& run);

// What is the same under every policy is remarked on at the first one.
bool first_policy(const Run& run, const std::vector<Run>& runs);

// Each policy on copies of its workload: tells these, the intervals and the paired differences in the runs' summaries.
Result<void> rehearse_copies_of(std::vector<Run>& runs, const log::Workload& workload, const Copies& copies,
                                std::size_t threads);

}  // namespace rota::cli
