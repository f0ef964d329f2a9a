// What one rehearsal left behind: the raw material of every table, picture and file that `rota simulate` makes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"
#include "model/load_reading.h"
#include "model/machine.h"
#include "model/node_states.h"
#include "model/start_note.h"
#include "model/tariff.h"
#include "report/power_use.h"
#include "report/task_use.h"

namespace rota::report {

// One decision of the overrun policy about a job that had used up its time: it goes on, and why that harms none.
struct Grant {
  std::int64_t job = 0;           // JobSpec::number
  Instant at = kEpoch;            // when it was decided
  Instant until = kNever;         // kNever: no limit was set
  std::int64_t beneficiary = -1;  // number of the waiting job that held a promise then; -1: none
  Instant promise = kNever;       // that job's promised start
  std::int64_t free = 0;          // processors free at that moment
  std::int64_t needed = 0;        // processors that the waiting job asks for
};

// Whether it was ever promised a start that means something: behind a job without a limit none can be told.
inline bool was_promised(const Job& job) {
  return job.first_promise != kNever && job.first_promise - job.spec.submit < kLongest / 2;
}

// The state between two instants at which something changed.
struct LoadStep {
  Instant at = kEpoch;
  std::int64_t busy = 0;     // processors
  std::int64_t waiting = 0;  // jobs
};

// What jobs of a workload are called by people.
struct JobLabels {
  std::map<std::uint32_t, std::string> users, groups, partitions, queues;  // names by number, where there are some
  std::vector<std::uint32_t> partition;  // of each job, as the log numbers them; UINT32_MAX: unknown
  std::vector<std::uint32_t> queue;      // likewise, of its queue (QOS); may be empty
};

struct Outcome {
  std::string workload;
  std::string policy;           // as the user wrote it
  std::string label = {};       // as that of Summary
  std::int64_t processors = 0;  // of the cluster
  std::int64_t warm_up = 0;     // jobs that ran before those that are counted; they are not among `jobs`
  // Every job in order of submission; rejected ones included. One that has ended and is `cancelling` was cancelled
  // while it ran.
  std::vector<Job> jobs;
  // How each of `jobs` really ended, also where its start is not told. Empty: not kept.
  std::vector<JobState> ended_as;
  std::vector<std::string> sites;  // names; empty unless there are several
  std::vector<SiteId> site_of;     // where each of the jobs ran; invalid: nowhere. Empty unless there are several sites
  std::vector<StartNote> starts;   // as jobs, may end early: why each started last, and where. Empty: not kept
  std::shared_ptr<const Machine> machine = {};   // whose nodes these are; nullptr: processors are counted
  std::shared_ptr<const JobLabels> labels = {};  // nullptr: numbers have no names
  std::vector<Grant> grants;
  Duration lost_work = Duration{0};     // processor time of killed dispatches, in processor-milliseconds
  std::uint64_t plan_hash = 0;          // of all plans in order
  std::int64_t cycles = 0;              // scheduling cycles
  std::int64_t referee_checks = 0;      // single facts that the referee recomputed
  double cpu_seconds = 0;               // of the rehearsal itself, without reading the workload
  std::optional<PowerUse> power;        // where it was metered
  std::vector<NodeStates> node_states;  // what nodes did: of all, or of each of several sites. Empty: not kept
  std::vector<LoadLook> loads;          // what a power rule that reckons them saw. Empty: not kept, or several sites
  std::vector<NodeTotal> nodes;         // each node that was metered, in file order, site by site. Empty: not kept
  std::optional<TaskUse> tasks;         // where jobs have some and are bound to accelerators
  // Microjoules that each job accounts for, as `jobs`; may end early, at jobs that never ran. Empty: no watts were
  // told.
  std::vector<std::int64_t> energy_of_jobs;
  std::vector<Cost> cost_of_jobs;     // of that energy, likewise; empty: no price was told
  std::int64_t unix_start = 0;        // Unix time of the workload's second 0; 0: not known
  std::vector<std::string> reserved;  // what was kept free of jobs and when, in words (report/reserved.h)
  bool recorded = false;              // what really happened, and no rehearsal;
  bool counts_dispatches = true;      // false: backfill, kills and promises were not recorded
  bool has_copies = true;             // the same command can rehearse copies of the workload; false: a schedule of
                                      // another program, or a journal

  const std::string& name() const { return label.empty() ? policy : label; }
  // How a job ended, for files: also of one that was cancelled while it ran, or of which it is not told when.
  JobState state_of(std::size_t job) const {
    if (job < ended_as.size()) return ended_as[job];
    return jobs[job].cancelling ? JobState::cancelled : jobs[job].state;
  }
};

}  // namespace rota::report
