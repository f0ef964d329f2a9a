// Holds what Slurm says against what the state has, and reports what differs as facts with their times. Pure: it reads
// rows, and writes to the Intake; it has no clock, no process and no memory that must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/live_engine.h"
#include "control/manager_jobs.h"
#include "engine/slurm/job_rows.h"
#include "engine/slurm/node_rows.h"
#include "engine/slurm/site_rows.h"

namespace rota::slurm {

class Mirror {
 public:
  struct Uses {
    Intake& intake;
    ManagerJobs& jobs;
    std::function<const View&()> state;
    std::function<Instant(std::int64_t unix_milliseconds)> instant_of;
  };
  explicit Mirror(Uses uses);

  void take(const std::vector<NodeRow>& nodes);
  void take(const std::vector<ReservationRow>& rows);
  // All jobs that Slurm knows, as of that instant. Gives those that the state has and the list lacks, as sacct names
  // them: "12", "13_4". What became of these is for take_ended() to say.
  std::vector<std::string> take(const std::vector<JobRow>& rows, Instant listed);
  // Arrays that wait, whose throttle was not asked for yet; asked once.
  std::vector<std::int64_t> new_arrays() { return std::exchange(new_arrays_, {}); }
  // Jobs that have ended, from the accounting.
  void take_ended(const std::vector<JobRow>& rows);
  // What is known no longer: these have ended, and nothing tells how.
  void give_up(const std::vector<std::string>& jobs);

  const Machine& machine() const { return *view().options().machine; }
  std::int64_t refused() const { return refused_; }                        // facts, in all
  std::int64_t unknown_partitions() const { return unknown_partitions_; }  // jobs of those, in the latest list

 private:
  // What this life knows of a job beside what the state says.
  struct Entry {
    JobId job;
    std::int64_t start = -1;   // as Slurm said last
    std::string shown = {};    // as sacct names it
    std::uint64_t listed = 0;  // in which list it was last
    // As was said last: why it waits, when Slurm expects it to start, and for which jobs and in which reservation.
    std::string reason = {};
    std::int64_t expected = -1;
    std::string after = {}, reservation = {};
  };

  void compare(const JobRow& row);
  void meet(const JobRow& row, std::int64_t number);
  void compare_waiting(const JobRow& row, Entry& entry);
  void compare_terms(const JobRow& row, JobId id);
  void compare_running(const JobRow& row, Entry& entry);
  void compare_ended(const JobRow& row, std::int64_t number, JobId id);
  void begin(const JobRow& row, Entry& entry);
  void tell(const JobRow& row, Entry& entry);
  bool say(const Observed& fact, std::int64_t happened = -1);
  const View& view() const { return use_.state(); }
  JobSpec spec_of(const JobRow& row) const;
  void add_wishes(const JobRow& row, JobSpec& spec) const;
  PartitionId partition_of(std::string_view names) const;
  Placement place_of(const JobRow& row) const;
  Bars bars_of(const JobRow& row) const;
  void find_nodes();

  Uses use_;
  std::map<std::int64_t, Entry> entries_;  // by number, of jobs that the state has
  std::set<std::int64_t> over_;            // that have ended, while Slurm lists them
  std::map<std::string, NodeId, std::less<>> nodes_;
  std::map<NodeId, std::string> node_reasons_;
  std::set<std::int64_t> arrays_;  // that have been met
  std::vector<std::int64_t> new_arrays_;
  std::uint64_t lists_ = 0;
  Instant listed_ = kEpoch;
  std::int64_t refused_ = 0;
  std::int64_t unknown_partitions_ = 0;
};

}  // namespace rota::slurm
