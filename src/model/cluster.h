// The state of a cluster: a fold over events, with the indexes that scheduling asks for kept up to date in apply().
// View is its read-only face, the only thing that a policy sees. One thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/paged_table.h"
#include "model/by_priority.h"
#include "model/event.h"
#include "model/processor_map.h"
#include "model/running.h"
#include "model/waiting.h"

namespace rota {

struct ClusterOptions {
  std::int64_t processors = 0;       // in all; > 0
  const Machine* machine = nullptr;  // its nodes and partitions; nullptr: counted, no limits. Must outlive the cluster
  WaitingOptions waiting;
  // Processors of a job whose expected end is now count as free although its end has not been reported yet: the rule of
  // the published schedules, where submissions of an instant come before its completions.
  bool presume_ended = false;
  bool user_history = false;     // history_of() will be asked
  bool list_processors = false;  // blockers() will be asked
  bool by_priority = false;      // by_priority() will be asked
};

// What is known of one user's past jobs.
struct RunHistory {
  Duration last{0};         // run time of the job that ended last
  Duration before_last{0};  // and of the one before
  std::int64_t runs = 0;    // jobs that have ended
};

class View {
 public:
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  Instant now() const { return now_; }
  const ClusterOptions& options() const { return options_; }
  const Job& job(JobId id) const { return jobs_[id.value]; }
  std::size_t job_count() const { return jobs_.size(); }  // ever submitted; ended ones are forgotten after the cycle
  const WaitingJobs& waiting() const { return waiting_; }
  const RunningJobs& running() const { return running_; }

  // Processors that no running job holds (less than zero only under presume_ended).
  std::int64_t unheld() const { return options_.processors - running_.processors(); }
  // Processors that a job may start on now.
  std::int64_t free() const {
    return options_.presume_ended ? options_.processors - running_.processors() + running_.released_by(now_) : unheld();
  }

  // The running jobs that can give way, by priority; those that are leaving are not among them.
  const RunningByPriority& by_priority() const { return by_priority_; }
  // Running jobs that were told to give way, in that order.
  const std::vector<JobId>& leaving() const { return leaving_; }

  // What is free on each node; counted() where nodes are not described.
  const NodeSpace& nodes() const { return nodes_; }
  // Where a running job runs; only where nodes are described.
  const Placement& placement(JobId id) const { return placements_.at(id); }

  // nullptr: none yet.
  const RunHistory* history_of(std::uint32_t user) const {
    const auto found = history_.find(user);
    return found == history_.end() ? nullptr : &found->second;
  }

  // The running jobs on the processors that are set aside for the job with the latest promise, in order of dispatch.
  // Set aside are those that were expected to be free the earliest when it was made. Only under list_processors.
  std::vector<JobId> blockers() const;

  // The waiting jobs that hold a promise, in order of job id; few under EASY, all under conservative.
  const std::vector<JobId>& promised() const { return promised_; }
  // Jobs that became overdue since the last cycle.
  const std::vector<JobId>& overdue() const { return overdue_; }
  // Jobs submitted or requeued since the last cycle, in order.
  const std::vector<JobId>& arrived() const { return arrived_; }
  // How many times a running job ended, was killed or got another expected end since the last cycle.
  std::int64_t releases() const { return releases_; }

 protected:
  explicit View(const ClusterOptions& options)
      : options_(options),
        waiting_(options.waiting),
        map_(options.list_processors ? options.processors : 0),
        nodes_(options.machine) {}
  ~View() = default;

  ClusterOptions options_;
  Instant now_ = kEpoch;
  PagedTable<Job> jobs_;
  WaitingJobs waiting_;
  RunningJobs running_;
  std::vector<JobId> promised_;
  ProcessorMap map_;  // empty unless list_processors
  NodeSpace nodes_;
  std::map<JobId, Placement> placements_;  // of running jobs, where nodes are described
  std::vector<std::uint32_t> set_aside_;   // processors, for set_aside_for_
  JobId set_aside_for_;
  RunningByPriority by_priority_;  // empty unless asked for
  std::vector<JobId> leaving_;
  std::vector<JobId> overdue_;
  std::vector<JobId> gone_;                      // ended or rejected since the last cycle
  std::map<std::uint32_t, RunHistory> history_;  // by user
  std::vector<JobId> arrived_;
  std::int64_t releases_ = 0;
  std::uint32_t next_sequence_ = 0;
  std::uint32_t next_dispatch_ = 0;
};

class Cluster final : public View {
 public:
  explicit Cluster(const ClusterOptions& options) : View(options) {}

  // Folds one event in. Events must come in order of time; one that contradicts the state is a defect (CHECK).
  void apply(const Event& event);

  // Opens a cycle: time moves to `now` and orders that vary with time are ranked for it.
  void open_cycle(Instant now);
  // Closes it: forgets what happened "since the last cycle", and the jobs that ended or were rejected, each of which is
  // shown to `farewell(JobId, const Job&)` first.
  template <class Farewell>
  void close_cycle(const Farewell& farewell) {
    for (const JobId id : gone_) {
      farewell(id, std::as_const(jobs_[id.value]));
      jobs_.retire(id.value);
    }
    gone_.clear();
    overdue_.clear();
    arrived_.clear();
    releases_ = 0;
  }

  // The same as apply(Event) in two steps: the time, then one fact.
  void advance(Instant at);
  JobId submitted(const JobSpec& spec, Duration expected);
  JobId rejected(const JobSpec& spec);
  void started(const Started& fact);
  void finished(const Finished& fact);
  void requeued(const Requeued& fact);
  void preempted(const Preempted& fact);
  void vacated(const Vacated& fact);
  void cancelled(const Cancelled& fact);
  void expected(const Expected& fact);
  void extended(const Extended& fact);
  void promised(const Promised& fact);
  using View::promised;

 private:
  void release_presumed_ended();
  void leave_running(Job& job, JobId id);
  void queue_again(Job& job, JobId id);
  void forget_promise(Job& job, JobId id);
  void set_aside(const Job& job, JobId id);
  void expect_anew(Job& job, JobId id, Duration expected);
};

}  // namespace rota
