// What one rehearsal comes to, in the figures that the field compares schedulers by. docs/report.md defines each for
// readers; the definitions are those of Feitelson, "Metrics for parallel job scheduling and their convergence" (2001),
// with the bounded slowdown's threshold at 10 s.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/blocks.h"
#include "report/fairness.h"
#include "report/intervals.h"
#include "report/outcome.h"
#include "report/trust.h"

namespace rota::report {

inline constexpr Duration kSlowdownBound = seconds(10);  // tau of the bounded slowdown

// What went between a site of a federation and the others. For all sites together, what went out is what came in.
struct Exchanged {
  std::int64_t jobs_in = 0;   // submitted elsewhere, ran here
  std::int64_t jobs_out = 0;  // submitted here, ran elsewhere
  std::int64_t inputs_in = 0;
  std::int64_t inputs_out = 0;
  std::int64_t bytes_in = 0;
  std::int64_t bytes_out = 0;
};

// Waits, slowdowns and utilization count the last dispatch of each job that ended, and of earlier ones what was kept of
// them: work that was killed and done again is told apart as lost work. Means of nothing are absent.
struct Summary {
  std::string workload;
  std::string policy;
  std::string label = {};  // what it is called where its text is too long (report/policy_labels.h); empty: its text
  std::int64_t processors = 0;
  std::int64_t jobs = 0;              // all of the workload
  std::uint64_t identity = 0;         // of those: the sum of a hash of each one's number and processors, so that their
                                      // order does not matter; equal ones ran the same jobs
  std::int64_t warm_up = 0;           // jobs that ran before these to fill the cluster, and count nowhere
  std::int64_t rejected = 0;          // of those: refused at submission
  std::int64_t first_rejected = -1;   // number of the first job that was rejected; -1: none
  std::string why_rejected;           // that job, as half a sentence ("asks for 96 processors; ..."); may be empty
  bool first_too_large = false;       // that job asks for more processors than there are
  std::int64_t unfinished = 0;        // of those: neither rejected nor ended; 0 but for a rehearsal that was cut short
  std::int64_t timed_out = 0;         // of those that ended: stopped at their own time limit
  Duration makespan = Duration{0};    // first submission of a job that was not rejected, to the last end
  std::optional<double> utilization;  // share of processors x makespan that the ended jobs' last dispatches used
  std::optional<double> accelerators_used;  // likewise of accelerators; absent: no job asked for any
  std::optional<double> memory_used;        // likewise of memory
  std::optional<double> wait_mean;          // seconds, as are all waits
  std::optional<double> wait_median;        // quantiles interpolate linearly between the two nearest ranks
  std::optional<double> wait_p95;
  std::optional<double> wait_max;
  std::optional<double> bounded_slowdown;     // mean of max(1, (wait + run) / max(run, tau))
  std::optional<double> response_ratio;       // mean of (wait + run) / run
  std::int64_t backfilled_starts = 0;         // dispatches, also those that were killed
  std::optional<double> backfill_completion;  // share of backfilled starts that were not killed for another job
  std::int64_t killed = 0;                    // dispatches that were killed and whose jobs were queued again
  std::int64_t migrations = 0;                // moves of running jobs to other nodes
  std::int64_t preempted = 0;                 // dispatches that gave way to a job of higher priority
  std::int64_t delayed = 0;                   // jobs that started later than the first start they were promised
  std::optional<double> delay_mean;           // seconds, of those
  bool promises = true;                       // false: no job was ever promised a start
  double lost_work = 0;  // processor-seconds of killed dispatches, and of preempted ones what was not kept
  std::uint64_t plan_hash = 0;
  std::int64_t cycles = 0;
  std::int64_t referee_checks = 0;
  double cpu_seconds = 0;
  std::optional<PowerUse> power;  // where it was metered
  std::optional<TaskUse> tasks;   // where jobs have some and are bound to accelerators
  std::vector<Summary> sites;     // of each, where there are several: of the jobs that ran there or were rejected there
  std::string site;               // whose summary it is; empty: of all
  Exchanged exchanged;            // of a site, or of all together
  bool recorded = false;          // what really happened, and no rehearsal;
  bool own = false;               // a rehearsal of what the site has now, as far as that is known
  std::string site_policy;        // what the site has now; empty: not known
  bool of_slurm = false;          // the workload's jobs ran under Slurm,
  bool slurm_can = false;         // which can be set to this policy
  bool counts_dispatches = true;  // false: backfill, kills and promises were not recorded,
  std::int64_t unrecorded = 0;    // nor, of so many jobs, when they started
  bool has_copies = true;         // as that of Outcome
  std::optional<Trust> trust;     // of a rehearsal, where it is known what really happened
  std::vector<std::string> reserved;      // what was kept free of jobs and when, in words
  std::vector<std::string> left_out;      // what was left out or assumed when the log was made or read, in words
  std::optional<double> less_than_first;  // kilowatt-hours less than the first policy's nodes drew; < 0: more
  std::vector<Interval> intervals;        // of the figures, over copies; empty: there were none
  std::vector<Summary> copies;            // the same policy on each of these,
  bool copies_are_streams = false;        // which were drawn with other seeds
  std::shared_ptr<const Blocks> weeks;    // its jobs by weeks of the log, or by equal parts; nullptr: not kept
  std::string weeks_told;                 // "48 weeks"
  std::vector<std::string> slurm_lines;   // of slurm.conf, by which Slurm goes from what it has now to this policy
  Fairness users;                         // between users, and between groups (accounts), where these are known
  Fairness groups;

  const std::string& name() const { return label.empty() ? policy : label; }
};

// Adds up a rehearsal as its jobs leave, in any order; keeps 8 bytes for each job that waited.
class Tally {
 public:
  // `nodes`: on how many it ran last; 0: not known.
  void add(const Job& job, std::uint32_t nodes = 1);
  // The same, and how long the job really waited.
  void add(const Job& job, std::uint32_t nodes, Duration recorded_wait);
  // What it all comes to; `run` gives the names and counters, its jobs are not looked at. At most once.
  Summary conclude(const Outcome& run);

 private:
  Summary counts_;
  Instant first_submit_ = kNever;
  Instant last_end_ = kEpoch;
  std::int64_t ended_ = 0;
  std::int64_t wait_ = 0;  // milliseconds, of all together
  std::int64_t longest_wait_ = 0;
  std::int64_t delay_ = 0;
  bool promises_ = false;
  std::int64_t backfills_done_ = 0;
  double area_ = 0;          // processor-milliseconds
  double accelerators_ = 0;  // accelerator-milliseconds
  double memory_ = 0;        // byte-milliseconds
  double slowdown_ = 0;
  double response_ratio_ = 0;
  std::vector<std::int64_t> waits_;  // those above 0
  WaitsBeside beside_;
  FairnessTally users_;
  FairnessTally groups_;
};

// Sums up an outcome that kept its jobs.
Summary summarize(const Outcome& outcome);

// On how many nodes a job ran last; where that was not kept, on how many it asked to run, at least 1.
std::uint32_t nodes_of(const Outcome& outcome, std::size_t job);

// (wait + run) / max(run, tau), at least 1.
double bounded_slowdown(Duration wait, Duration run);

// The q-quantile (0..1) of `zeros` zeros and the given values, all of them >= 0, by linear interpolation between the
// nearest ranks; reorders the values. At least one zero or value must be there.
double quantile(std::vector<std::int64_t>& values, std::size_t zeros, double q);

}  // namespace rota::report
