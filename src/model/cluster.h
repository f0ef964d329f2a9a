// The state of a cluster: a fold over events, with the indexes that scheduling asks for kept up to date in apply().
// View is its read-only face, the only thing that a policy sees. One thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/paged_table.h"
#include "model/by_priority.h"
#include "model/demand_history.h"
#include "model/fact.h"
#include "model/placements.h"
#include "model/processor_map.h"
#include "model/running.h"
#include "model/waiting.h"
#include "model/work_history.h"

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
  IdleOrder idle_order = IdleOrder::file;
  bool by_priority = false;                // by_priority() will be asked
  bool wakes_for_promises = false;         // nodes that sleep are woken as soon as a promise rests on them
  bool work_history = false;               // work() will be asked
  bool demand_history = false;             // demand() will be asked
  const WorkHistory* past_work = nullptr;  // what is known of past jobs beforehand; then nothing is learned
};

// A running job that was told to give way.
struct Leaving {
  JobId job;
  JobId beneficiary;
  Duration expected;  // as it was
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
  std::int64_t unheld() const { return options_.processors - running_.processors() - nodes_.withheld(); }
  // Processors that a job may start on now.
  std::int64_t free() const { return options_.presume_ended ? unheld() + presumed_ended() : unheld(); }

  // The running jobs that can give way, by priority; those that are leaving are not among them.
  const RunningByPriority& by_priority() const { return by_priority_; }
  // Running jobs that were told to give way, in that order.
  const std::vector<Leaving>& leaving() const { return leaving_; }

  // What is free on each node; counted() where nodes are not described.
  const NodeSpace& nodes() const { return nodes_; }
  const NodePower& power() const { return power_; }
  // How much past jobs of each size used. Only under work_history or past_work.
  const WorkHistory& work() const { return options_.past_work ? *options_.past_work : work_; }
  // Where a running job runs; only where nodes are described.
  const Placement& placement(JobId id) const { return places_.of(id); }

  // Whether a job that waits fits as soon as enough processors are free, wherever they are: so it is where processors
  // are counted, and where every waiting job asks for nothing but processors, or every job for whole nodes that are
  // alike. Then whoever decides can count, and where a start goes is another matter.
  bool counts_decide() const { return nodes_.counted() || counts_decide_on_nodes(); }
  // Whether the cycle before was decided so too.
  bool counts_decided() const { return counts_decided_; }

  // When a job moved last; kNever: none has.
  Instant last_migration() const { return last_migration_; }

  // nullptr: none yet.
  const RunHistory* history_of(std::uint32_t user) const {
    const auto found = history_.find(user);
    return found == history_.end() ? nullptr : &found->second;
  }

  // The running jobs on the processors that are set aside for the job with the latest promise, in order of dispatch.
  // Set aside are those that were expected to be free the earliest when it was made. Only under list_processors.
  std::vector<JobId> blockers() const;

  // What is set aside for a job that holds a promise, from its promised start on; empty where counts decided. Only
  // where nodes are described.
  const Placement& promised_place(JobId id) const {
    static const Placement kNone;
    return promised_places_.contains(id) ? promised_places_.of(id) : kNone;
  }

  // The waiting jobs that hold a promise, in order of job id; few under EASY, all under conservative.
  const std::vector<JobId>& promised() const { return promised_; }
  // Jobs that became overdue since the last cycle.
  const std::vector<JobId>& overdue() const { return overdue_; }
  // Jobs submitted or requeued since the last cycle, in order.
  const std::vector<JobId>& arrived() const { return arrived_; }
  // How many times a running job ended, was killed or got another expected end since the last cycle.
  std::int64_t releases() const { return releases_; }

  // What arrives within a boot time. Only under demand_history.
  const DemandHistory& demand() const { return demand_; }

 protected:
  [[gnu::noinline]] std::int64_t presumed_ended() const { return running_.released_by(now_); }

  explicit View(const ClusterOptions& options)
      : options_(options),
        waiting_(options.waiting),
        map_(options.list_processors ? options.processors : 0),
        nodes_(options.machine, options.idle_order),
        power_(options.machine),
        work_(options.machine),
        demand_(power_.longest_boot()) {}
  ~View() = default;

  bool counts_decide_on_nodes() const {
    if (waiting_for_places_ > 0) return false;
    return waiting_for_whole_nodes_ == 0 || (nodes_.partly_used() == 0 && waiting_for_parts_ == 0);
  }

  ClusterOptions options_;
  Instant now_ = kEpoch;
  PagedTable<Job> jobs_;
  WaitingJobs waiting_;
  RunningJobs running_;
  std::vector<JobId> promised_;
  ProcessorMap map_;  // empty unless list_processors
  NodeSpace nodes_;
  NodePower power_;
  WorkHistory work_;
  DemandHistory demand_;
  Placements places_;  // of running jobs, where nodes are described; as are:
  Placements promised_places_;
  std::int64_t waiting_for_places_ = 0;
  std::int64_t waiting_for_whole_nodes_ = 0;
  std::int64_t waiting_for_parts_ = 0;  // of a node, or more
  bool counts_decided_ = true;
  std::vector<std::uint32_t> set_aside_;  // processors, for set_aside_for_
  JobId set_aside_for_;
  RunningByPriority by_priority_;  // empty unless asked for
  std::vector<Leaving> leaving_;
  std::vector<JobId> overdue_;
  std::vector<JobId> gone_;                      // ended or rejected since the last cycle
  std::map<std::uint32_t, RunHistory> history_;  // by user
  std::vector<JobId> arrived_;
  std::int64_t releases_ = 0;
  Instant last_migration_ = kNever;
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
      if (nodes_.counted()) continue;
      places_.retire_job(id);
      promised_places_.retire_job(id);
    }
    counts_decided_ = counts_decide();
    gone_.clear();
    overdue_.clear();
    arrived_.clear();
    releases_ = 0;
  }

  // The same as apply(Event) in two steps: the time, then one fact.
  void advance(Instant at);
  JobId submitted(const JobSpec& spec, Duration expected);
  JobId rejected(const JobSpec& spec);
  void started(const Started& fact) { started(fact.job, fact.backfilled, fact.where); }
  void started(JobId id, bool backfilled, const Placement& where);
  void finished(const Finished& fact);
  [[gnu::cold]] void requeued(const Requeued& fact);
  [[gnu::cold]] void preempted(const Preempted& fact);
  [[gnu::cold]] void vacated(const Vacated& fact);
  [[gnu::cold]] void migrated(const Migrated& fact);
  [[gnu::cold]] void cancelled(const Cancelled& fact);
  void expected(const Expected& fact);
  [[gnu::cold]] void extended(const Extended& fact);
  void promised(const Promised& fact) { promised(fact.job, fact.start, fact.where); }
  void promised(JobId id, Instant start, const Placement& where);
  using View::promised;
  void power_changed(const PowerChanged& fact);
  void power_reviewed(Instant next) { power_.reviewed(now_, next); }

 private:
  void add_to_nodes(const Job& job);
  void count_waiting(const Job& job, std::int64_t change);
  [[gnu::cold]] void release_presumed_ended();
  void leave_running(Job& job, JobId id);
  void queue_again(Job& job, JobId id);
  void forget_promise(Job& job, JobId id);
  [[gnu::cold]] void set_aside(const Job& job, JobId id);
  void expect_anew(Job& job, JobId id, Duration expected);
};

}  // namespace rota
