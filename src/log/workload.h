// A workload in memory: jobs in order of submission, each with the run time that only an engine may look at.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "log/log_top.h"
#include "log/recorded_job.h"
#include "model/job.h"

namespace rota::log {

class AttributeTable;

// What became of the rows of an imported log, for people. Lines count from 1.
struct ImportReport {
  struct Finding {
    std::string what;  // "run time 0 or unknown: taken as a 1 s job"
    std::int64_t rows = 0;
    std::int64_t first_line = 0;  // where it was seen first; 0: not known
    bool dropped = false;         // these rows became no jobs of their own
  };
  std::int64_t rows = 0;          // data rows read
  std::int64_t kept = 0;          // rows that became jobs
  std::vector<Finding> findings;  // repaired and dropped rows, by kind

  void note(const char* what, std::int64_t line);  // counts one row under `what`
  void drop(const char* what, std::int64_t line);  // the same, of a row that becomes no job
  std::int64_t dropped() const;                    // such rows
};

// The report as lines of text: a sum, then the findings with the line of the first row of each.
std::string describe(const ImportReport& report);
// What became of rows, for readers that do not have them: "run time 0 or unknown: taken as a 1 s job (12 rows)".
std::vector<std::string> sentences_of(const ImportReport& report);
// Why a log is without any job, for a sentence: " because it has no rows", or "; all its rows were dropped (WHAT: 3,
// first in line 2; ...)".
std::string why_none(const ImportReport& report, const std::string& rows);

struct Workload {
  std::string name;                 // for titles: the file's name without folders and endings
  std::vector<JobSpec> jobs;        // by submit time, rows of one instant in file order; numbers unique
  std::vector<Duration> run_times;  // of jobs[i], as it was in the log; > 0
  std::int64_t processors = 0;      // MaxProcs of the header; 0: unknown
  std::int64_t nodes = 0;           // MaxNodes of the header; 0: unknown
  std::int64_t unix_start = 0;      // UnixStartTime of the header: second 0 of the log; 0: unknown
  // QueueFloor of the header: the next job arrives at once whenever at most so many wait, else at its submit time's
  // distance after the one before it; -1: jobs arrive at their submit times.
  std::int64_t queue_floor = -1;
  NumberedNames partitions;           // names of partition numbers, from header or sacct
  NumberedNames users;                // names of user numbers, where known,
  NumberedNames groups;               // of groups (accounts),
  NumberedNames queues;               // and of queues (QOS)
  std::vector<std::uint32_t> qos;     // JobSpec::qos is an index into these numbers of queues
  std::vector<RecordedJob> recorded;  // what really happened, as `jobs`; empty: it is not told, or not asked for
  std::shared_ptr<const NodeLists> node_lists = {};  // of RecordedJob::ran_on; nullptr: no job tells its nodes
  bool recorded_dispatches = false;                  // and how often each began is told there
  // Terms of the few jobs that have their own, by place in `jobs`: the jobs that they wait for are places as well, as
  // ids of jobs. Limit, priority and partition are those of the job.
  std::map<std::uint32_t, JobTerms> terms = {};
  // What the log says of its jobs that JobSpec does not have yet, because only a cluster file tells what it means:
  // JSON lines and sacct only; nullptr: nothing.
  std::shared_ptr<const AttributeTable> attributes;
  std::string made_by = {};                 // the command that made it, where its header says so,
  std::string site_policy = {};             // and the policy that its site has, which then is Slurm's;
  std::vector<std::string> left_out = {};   // what that command left out or assumed, in words
  bool of_slurm = false;                    // its jobs ran under Slurm
  bool whole_seconds = false;               // its times were cut to these
  Duration turnaround{0};                   // so long after a job's end there is nothing else where it ran
  std::uint32_t warm_up = 0;                // so many of the first jobs run and are not counted
  bool recorded_attributes = false;         // they were recorded, not written down for a rehearsal: without nodes they
                                            // are left out, and what a sidecar says comes before them
  bool guessed_processors = false;          // `processors` is the most that were in use at once
  std::vector<std::int64_t> without_limit;  // numbers of jobs that told none, rising: their run time stands for it
  ImportReport report;
};

void take_top(Workload& workload, const LogTop& top);  // what it has room for, but for the name

}  // namespace rota::log
