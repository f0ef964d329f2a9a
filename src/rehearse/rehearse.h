// Runs one policy over one workload on a simulated cluster: what `rota simulate` and `rota verify` share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "control/grant_log.h"
#include "control/journal.h"
#include "engine/sim/rehearsal.h"
#include "log/attributes.h"
#include "log/workload.h"
#include "model/share_tree.h"
#include "model/tasks.h"
#include "policy/chain.h"
#include "report/metrics.h"

namespace rota {

// Watches a rehearsal of one cluster: each job that has gone, by its place in the workload, and what nodes have drawn.
class Beside : public JobSink {
 public:
  // When it is asked what nodes have drawn by then, rising; where they are metered, and at the end once more.
  virtual std::vector<Instant> readings() const = 0;
  virtual void drew(std::size_t reading, const report::PowerUse& so_far) = 0;
};

struct RehearseOptions {
  std::int64_t processors = 0;
  std::shared_ptr<const Machine> machine = {};             // nodes and partitions; nullptr: processors are counted
  std::shared_ptr<const log::Attributes> attributes = {};  // nullptr: of no job
  std::shared_ptr<const TaskTable> tasks = {};             // nullptr: no job has any; else nodes are described
  sim::ContainerModel containers = {};                     // in which accelerators compute tasks
  bool exact_estimates = false;                            // every limit is the job's true run time
  bool clamp = false;  // jobs larger than the cluster ask for all of it instead of being rejected
  std::shared_ptr<const ShareTree> shares =
      {};  // of the machine's accounts, by the workload's numbers; nullptr: by its names
  std::shared_ptr<const LimitNames> limit_names = {};  // of the workload's numbers; nullptr: its names
  sim::Ties ties = sim::Ties::batch;
  bool keep_jobs = false;                           // the outcome keeps every job, for files and pictures
  bool keep_nodes = false;                          // and every node that is metered
  std::vector<Store*> journals = {};                // of each site, or of the one that there is; empty: none are kept
  std::function<void(std::int64_t)> progress = {};  // jobs arrived so far
  Beside* beside = nullptr;                         // nullptr: no watch is kept
};

struct Rehearsed {
  report::Outcome outcome;
  report::Summary summary;
  sim::Consumption consumption;  // nothing where no power is metered
};

// What the jobs ask for beside the fields of their log, and their tasks.
void set_attributes(RehearseOptions& options, log::Attributes of_jobs);

// The partition of the machine that a job's log names; invalid: it names none, or one that the machine does not have.
PartitionId named_partition(const log::Workload& workload, const Machine& machine, const JobSpec& spec);

// With which a job of the workload is submitted; one that is queued again may get another. Under Ties::submit_first it
// is the longer of what the job asked for and what it ran, by which published schedules plan, unless estimates are
// exact.
Duration limit_of(const log::Workload& workload, std::size_t job, const RehearseOptions& options);
// How long a job of a log in whole seconds holds what it has: as long as it ran, half a second more or less, which is
// drawn by its number and the lot so that not all ends fall on the same instants, and the turnaround. It comes over no
// limit for that.
Duration held_for(const log::Workload& workload, std::size_t job, Duration limit, std::uint64_t lot);
// How many jobs that told none get another than their run time, which is that of their partition: its default_time, or
// its max_time where that is as long or there is no other, or none at all where it has neither.
struct PartitionLimits {
  std::int64_t by_default = 0;
  std::int64_t by_most = 0;
  std::int64_t unlimited = 0;
};
PartitionLimits limits_of_partitions(const log::Workload& workload, const RehearseOptions& options);
JobSpec asked(JobSpec job, const RehearseOptions& options);  // with what its attributes say

// What was metered; nothing where `metered` is nullptr.
std::optional<report::PowerUse> power_use(const sim::Consumption& consumption, const Machine* metered);
// What a job, or a node, of a machine that tells a price cost.
Cost cost_of(const sim::JobDraw& drew, const Machine& metered);
// Whether nodes are metered under this policy: the machine tells watts, or nodes sleep.
bool metered(const Machine* machine, const Chain& chain);
// What its nodes did, for files, with their costs and their site (invalid: there is one).
void add_nodes(std::vector<NodeTotal> totals, const Machine& metered, SiteId site, report::Outcome& outcome);
std::optional<report::TaskUse> task_use(const sim::TaskUse& use, Bind bind);  // nullopt: none ran
// Adds the counts of a rehearsal's controller to what is there.
void add_counts(report::Outcome& outcome, const Controller& controller);
void add_log(report::Outcome& outcome, const GrantLog& log);
Instant counted_from(const log::Workload& workload);  // the first submission behind the warm-up
// What stands beside the jobs that were taken, of those that are counted.
void leave_out_warm_up(const log::Workload& workload, report::Outcome& outcome);

// Jobs of a workload in memory, one after the other.
class WorkloadSource final : public sim::Source {
 public:
  WorkloadSource(const log::Workload& workload, const RehearseOptions& options);
  bool next(sim::Arrival& arrival) override;

 private:
  // On the machine that there is.
  PartitionId partition_of(const JobSpec& spec) const;
  QosId qos_of(const JobSpec& spec) const;

  const log::Workload& workload_;
  const RehearseOptions& options_;
  bool limits_stand_;  // limit_of() is what each job asked for
  std::size_t next_ = 0;
};

Result<Rehearsed> rehearse(const log::Workload& workload, const Chain& chain, const RehearseOptions& options);

}  // namespace rota
