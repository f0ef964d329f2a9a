// The state of a cluster: a fold over facts, with the indexes that scheduling asks for kept up to date as they are
// folded in. View is its read-only face, the only thing that a policy sees. One thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/paged_table.h"
#include "model/accelerator_bindings.h"
#include "model/by_priority.h"
#include "model/demand_history.h"
#include "model/eligibility.h"
#include "model/fact.h"
#include "model/limit_gate.h"
#include "model/placements.h"
#include "model/processor_map.h"
#include "model/reservations.h"
#include "model/running.h"
#include "model/use_ledger.h"
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
  NodeOrder node_order = NodeOrder::fullest;
  bool by_priority = false;                // by_priority() will be asked
  bool wakes_for_promises = false;         // nodes that sleep are woken as soon as a promise rests on them
  bool work_history = false;               // work() will be asked
  bool demand_history = false;             // demand() will be asked
  const WorkHistory* past_work = nullptr;  // what is known of past jobs beforehand; then nothing is learned
  std::int64_t most_promises = INT32_MAX;  // to waiting jobs at one time: so far plans reach
  UseRules use = {};                   // use() will be asked where it has a half-life; shares must outlive the cluster
  bool turns_of_its_own = false;       // whose turn it is, the policy decides, and not the order of the queue
  const LimitBook* limits = nullptr;   // of the machine; must outlive the cluster
  bool limits_at_start = false;        // they count jobs that run, and the policy keeps to them (model/limit_gate.h)
  bool outlasts_reservations = false;  // a job may start in its reservation though it may last beyond it
  Duration requeue_delay{0};           // so long a job that gave way is kept from a start, which counts as no waiting
  bool confirms_starts = false;        // a job that was started runs once the engine says so (Launched)
  bool shared = false;  // others use it too (Capabilities::shared): what its engine says is taken in, law or not
};

// A running job that was told to give way.
struct Leaving {
  JobId job;
  JobId beneficiary;
  Duration expected;  // as it was
};

// What a running job was told beside to run, to stop, to leave or to move.
struct RunOrders {
  Instant suspended_at = kNever;
  std::uint64_t command = 0;  // number of the latest fact that suspended it, let it go on or changed its limit
};

class View {
 public:
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  Instant now() const { return now_; }
  const ClusterOptions& options() const { return options_; }
  const Job& job(JobId id) const { return jobs_[id.value]; }
  const Job* find_job(JobId id) const { return jobs_.find(id.value); }  // nullptr: not known
  bool knows(JobId id) const { return jobs_.contains(id.value); }       // submitted, and not forgotten since
  JobId next_job() const { return next_job_; }                          // the id that the next job will have
  std::int64_t last_number() const { return last_number_; }             // the highest that a job has had so far
  std::uint64_t sequence() const { return sequence_; }                  // of the fact that was folded in last
  bool plain() const { return plain_; }                                 // a plan was refused, and not looked at yet
  std::uint32_t epoch() const { return epoch_; }                        // of the controller that writes
  // What a job asked for when it was submitted; its row says on what terms it stands now.
  const JobSpec& request(JobId id) const {
    const auto found = requests_.find(id);
    return found == requests_.end() ? job(id).spec : found->second;
  }
  // Terms of jobs that have some of their own, and which of these may be queued.
  const Eligibility& eligibility() const { return eligibility_; }
  std::size_t barred() const { return barred_; }  // jobs that are known and not queued
  const LimitGate& limits() const { return limits_; }
  // visit(JobId, const Job&) for every job that is known, by id. O(all of them)
  template <class Visit>
  void for_each_job(const Visit& visit) const {
    jobs_.for_each([&](std::uint32_t id, const Job& job) { visit(JobId{id}, job); });
  }
  const WaitingJobs& waiting() const { return waiting_; }  // but for those of reservations
  const RunningJobs& running() const { return running_; }

  // Processors that no job holds until its end is reported, and that are not withheld; < 0 only if presume_ended.
  std::int64_t free_as_reported() const { return options_.processors - running_.processors() - nodes_.withheld(); }
  // Processors that a job may start on now, but for what is reserved (Plan::free).
  std::int64_t free() const { return free_as_reported() + (options_.presume_ended ? presumed_ended() : 0); }

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
  // alike. Then a policy can count, and where a start goes is another matter.
  bool counts_decide() const { return nodes_.counted() || counts_decide_on_nodes(); }
  // Whether the cycle before was decided so too.
  bool counts_decided() const { return counts_decided_; }

  // Nodes and processors that no job may use for a time.
  const Reservations& reservations() const { return reservations_; }
  // False where the first begins after all that runs is over, and then so many times the longest job queued since the
  // queue was last empty, as get promises: plans are then drawn as if there were none. One comparison where there are
  // none, else O(reservations + log running).
  bool reserved_in_reach() const { return !reservations_.empty() && reservation_in_reach(); }

  // What a running job was told since it started; nullptr: nothing.
  const RunOrders* orders_of(JobId id) const {
    if (orders_.empty()) return nullptr;
    const auto found = orders_.find(id);
    return found == orders_.end() ? nullptr : &found->second;
  }
  // How long its latest dispatch has stood still so far.
  Duration stood(JobId id) const { return stood_by(id, now_); }
  Duration stood_by(JobId id, Instant at) const {
    const RunOrders* orders = orders_of(id);
    return job(id).stood_by(at, orders ? orders->suspended_at : kNever);
  }

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
  bool sets_aside() const { return set_aside_for_.valid(); }
  JobId set_aside_for() const { return set_aside_for_; }

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
  // When a cycle last looked at anything that had come, ended or become overdue, or at a node or licence that has
  // changed.
  Instant last_news() const { return last_news_; }

  // Jobs that ended, were cancelled or rejected since the last cycle; they are forgotten when it is closed.
  const std::vector<JobId>& gone() const { return gone_; }
  // Licences that others than our jobs use.
  std::int64_t licences_elsewhere(LicenceId id) const {
    return id.value < elsewhere_.size() ? elsewhere_[id.value] : 0;
  }

  // Up to when the engine of a shared cluster has said of everything that happened there, by its clock.
  Instant surveyed() const { return surveyed_; }
  const Trades& trades() const { return trades_; }  // at the exchange of a federation

  // Tasks for accelerators, and whose go where.
  const AcceleratorBindings& bindings() const { return bindings_; }

  // When a policy that does so from time to time last looked at the queue.
  const Replanned& replanned() const { return replanned_; }

  // What users have used lately, and what their shares come to. Only under ClusterOptions::use.
  const UseLedger& use() const { return use_; }

  // What arrives within a boot time. Only under demand_history.
  const DemandHistory& demand() const { return demand_; }

 protected:
  [[gnu::noinline]] std::int64_t presumed_ended() const { return running_.released_by(now_); }

  explicit View(const ClusterOptions& options);
  ~View();

  [[gnu::cold]] bool reservation_in_reach() const;
  Instant latest_end() const;

  bool counts_decide_on_nodes() const {
    if (waiting_for_places_ > 0) return false;
    if (!power_.all_up()) return false;              // what comes free on a node that drains cannot be had
    if (nodes_.overdrawn_count() > 0) return false;  // nor all that comes free on one that others have overfilled
    if (reserved_in_reach()) return false;

    return waiting_for_whole_nodes_ == 0 || (nodes_.parts_held() == 0 && waiting_for_parts_ == 0);
  }

  ClusterOptions options_;
  Instant now_ = kEpoch;
  Instant happened_ = kEpoch;  // what is folded in: now, or before
  PagedTable<Job> jobs_;
  WaitingJobs waiting_;
  RunningJobs running_;
  std::vector<JobId> promised_;
  ProcessorMap map_;  // empty unless list_processors
  NodeSpace nodes_;
  NodePower power_;
  WorkHistory work_;
  DemandHistory demand_;
  UseLedger use_;
  Placements places_;  // of running jobs, where nodes are described; as are:
  Placements promised_places_;
  std::int64_t waiting_for_places_ = 0;
  std::int64_t waiting_for_whole_nodes_ = 0;
  std::int64_t waiting_for_parts_ = 0;  // of a node, or more
  bool counts_decided_ = true;
  std::vector<ProcessorRange> set_aside_;  // for set_aside_for_, those first that are free the earliest
  JobId set_aside_for_;
  RunningByPriority by_priority_;  // empty unless asked for
  std::vector<Leaving> leaving_;
  std::vector<JobId> overdue_;
  std::vector<JobId> gone_;  // ended or rejected since the last cycle
  Eligibility eligibility_;
  LimitGate limits_;
  std::map<JobId, JobSpec> requests_;    // of jobs on other terms than they asked for
  std::map<JobId, RunOrders> orders_;    // of running jobs that were told something
  std::vector<std::int64_t> elsewhere_;  // by licence
  std::size_t barred_ = 0;
  Reservations reservations_;
  Duration longest_expected_{0};                 // of jobs queued since the queue was last empty
  std::map<std::uint32_t, RunHistory> history_;  // by user
  std::vector<JobId> arrived_;
  std::int64_t releases_ = 0;
  Instant last_news_ = kEpoch;
  Instant first_submit_ = kNever;  // of all jobs; kNever: there was none
  Instant last_migration_ = kNever;
  Instant surveyed_ = kEpoch;
  Trades trades_;
  std::unique_ptr<Machine> own_machine_;  // once a node has been described by a fact
  Replanned replanned_;
  JobId next_job_ = JobId{0};
  std::int64_t last_number_ = 0;
  std::uint32_t next_sequence_ = 0;
  std::uint32_t next_dispatch_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint32_t epoch_ = 0;
  bool plain_ = false;
  AcceleratorBindings bindings_;
};

// Those of reservations too.
inline std::size_t all_waiting(const View& view) {
  return view.waiting().size() + view.reservations().waiting().size();
}

class Cluster final : public View {
 public:
  explicit Cluster(const ClusterOptions& options);
  ~Cluster();

  // Folds one fact in. Time never goes back. A decided fact that contradicts the state is a defect (CHECK), and so is
  // an observed one that was not asked about before.
  template <class Kind>
  void fold(Instant at, std::uint64_t sequence, const Kind& what) {
    advance(at);
    fold_now(sequence, what);
  }
  // At the time to which the cluster has been advanced; what happened `late` before that.
  template <class Kind>
  void fold_now(std::uint64_t sequence, const Kind& what, Duration late = Duration{0}) {
    sequence_ = sequence;
    happened_ = now_ - late;
    apply(what);
  }
  void fold(const Fact& fact);

  // Why an observed fact contradicts the state, as a sentence; nothing if it can be folded in.
  std::optional<std::string> objection(const Submitted& fact) const;
  std::optional<std::string> objection(const Rejected& fact) const;
  std::optional<std::string> objection(const Held& fact) const;
  std::optional<std::string> objection(const Released& fact) const;
  std::optional<std::string> objection(const Amended& fact) const;
  // Why a job that asks for what `spec` says cannot have these terms instead; it may not be known yet.
  std::optional<std::string> objection_to_terms(JobId job, const JobSpec& spec, const JobTerms& terms) const;
  // Why a job can never run here, as half a sentence ("asks for no processors"); nothing if it can.
  std::optional<std::string> cannot_run(const JobSpec& spec) const;
  // Likewise for a job whose bars may say that it is not ours: for that one only what makes no sense at all.
  std::optional<std::string> cannot_be(const JobSpec& spec, Bars bars) const {
    return (bars & kNotOurs) == 0 ? cannot_run(spec) : makes_no_sense(spec);
  }
  std::optional<std::string> objection(const CancelAsked& fact) const;
  std::optional<std::string> objection(const Launched& fact) const;
  std::optional<std::string> objection(const LaunchFailed& fact) const;
  std::optional<std::string> objection(const Overdue& fact) const;
  std::optional<std::string> objection(const Vacated& fact) const;
  std::optional<std::string> objection(const Requeued& fact) const;
  std::optional<std::string> objection(const Finished& fact) const {
    if (fact.outcome == Outcome::unknown && !not_waiting(fact.job, "")) return std::nullopt;
    return not_of_its_run(fact, "said to have ended");
  }
  std::optional<std::string> objection(const Cancelled& fact) const;
  std::optional<std::string> objection(const PowerChanged& fact) const;
  std::optional<std::string> objection(const HealthChanged& fact) const;
  std::optional<std::string> objection(const LicencesCounted& fact) const;
  std::optional<std::string> objection(const Serving& fact) const;
  std::optional<std::string> objection(const Reserved& fact) const;
  std::optional<std::string> objection(const Unreserved& fact) const;
  std::optional<std::string> objection(const Suspended& fact) const;
  std::optional<std::string> objection(const Resumed& fact) const;
  std::optional<std::string> objection(const LimitChanged& fact) const;
  std::optional<std::string> objection(const LicencesChanged& fact) const;
  std::optional<std::string> objection(const Found& fact) const;
  std::optional<std::string> objection(const Described& fact) const;
  std::optional<std::string> objection(const Surveyed& fact) const;
  std::optional<std::string> objection(const Offered& fact) const { return trades_.objection(fact.offer); }
  std::optional<std::string> objection(const Traded& fact) const { return trades_.objection(fact.offer, fact.trade); }
  std::optional<std::string> objection(const EndedElsewhere& fact) const;
  std::optional<std::string> objection(const TasksAsked& fact) const;
  std::optional<std::string> objection(const Bound& fact) const;
  std::optional<std::string> objection(const Unbound& fact) const;
  // Why a decided or kept fact makes no sense, for a reader of journals.
  std::optional<std::string> objection(const Eligible& fact) const;
  std::optional<std::string> objection(const Started& fact) const;
  std::optional<std::string> objection(const Promised& fact) const;
  std::optional<std::string> objection(const Preempted& fact) const;
  std::optional<std::string> objection(const Migrated& fact) const;
  std::optional<std::string> objection(const PowerOrdered& fact) const;
  std::optional<std::string> objection(const CycleClosed& fact) const;
  std::optional<std::string> objection(const StateKept& fact) const;
  std::optional<std::string> objection(const JobKept& fact) const;
  std::optional<std::string> objection(const ReservationKept& fact) const;
  std::optional<std::string> objection(const MachineKept& fact) const;
  // Time moves to the fact's, unless that is past.
  std::optional<std::string> objection(const Fact& fact);

  // Time moves on; it never goes back (CHECK).
  void advance(Instant at) {
    CHECK(at >= now_, "facts come in order of time");
    if (at >= use_.due()) charge_periods(at);
    now_ = at;
  }
  // Opens a cycle: time moves to `now` and orders that vary with time are ranked for it. What CycleClosed says ends it.
  void open_cycle(Instant now) {
    advance(now);
    if (!reservations_.waiting().empty()) leave_reservations_over();
    rank_waiting();
  }

 private:
  friend class Snapshot;

  void rank_waiting();
  [[gnu::cold]] void rank_users();
  [[gnu::cold]] std::optional<std::string> unknown(JobId job, const char* verb) const;
  std::optional<std::string> not_running(JobId job, const char* verb) const;
  std::optional<std::string> not_settled(JobId job, const char* verb) const;
  // What an engine says of a job that runs must be of the dispatch that runs.
  template <class Answer>
  std::optional<std::string> not_of_its_run(const Answer& answer, const char* verb) const {
    const Job* job = find_job(answer.job);
    if (!job || job->state != JobState::running) return not_running(answer.job, verb);
    if (answer.dispatch == kAnyDispatch || answer.dispatch == job->dispatch) return std::nullopt;
    return of_another_run(answer.job, verb);
  }
  [[gnu::cold]] std::string of_another_run(JobId job, const char* verb) const;
  std::optional<std::string> not_waiting(JobId job, const char* verb) const;
  std::optional<std::string> unknown(NodeId node) const;
  bool wait_for(const std::vector<Dependency>& some, JobId job) const;
  std::optional<std::string> makes_no_sense(const JobSpec& spec) const;

  void apply(const Submitted& fact);
  [[gnu::cold]] void apply(const Rejected& fact);
  [[gnu::cold]] void apply(const Held& fact);
  [[gnu::cold]] void apply(const Released& fact);
  [[gnu::cold]] void apply(const Amended& fact);
  [[gnu::cold]] void apply(const CancelAsked& /*fact*/) {}  // Stopped follows
  [[gnu::cold]] void apply(const Launched& fact);
  [[gnu::cold]] void apply(const LaunchFailed& fact);
  void apply(const Overdue& fact) { overdue_.push_back(fact.job); }
  [[gnu::cold]] void apply(const Vacated& fact);
  [[gnu::cold]] void apply(const Requeued& fact);
  void apply(const Finished& fact);
  [[gnu::cold]] void apply(const Cancelled& fact);
  void apply(const PowerChanged& fact);
  [[gnu::cold]] void apply(const HealthChanged& fact);
  [[gnu::cold]] void apply(const LicencesCounted& fact);
  void apply(const Serving& fact) { power_.served(fact.node, fact.serves); }
  [[gnu::cold]] void apply(const Reserved& fact);
  [[gnu::cold]] void apply(const Unreserved& fact);
  [[gnu::cold]] void apply(const Suspended& fact);
  [[gnu::cold]] void apply(const Resumed& fact);
  [[gnu::cold]] void apply(const LimitChanged& fact);
  [[gnu::cold]] void apply(const LicencesChanged& fact);
  [[gnu::cold]] void apply(const Found& fact);
  [[gnu::cold]] void apply(const Described& fact);
  [[gnu::cold]] void apply(const Surveyed& fact) { surveyed_ = fact.until; }
  [[gnu::cold]] void apply(const MachineKept& fact);
  template <class Fact>
  void describe_nodes(const Fact& fact);
  [[gnu::cold]] void apply(const Offered& fact) { trades_.offer(fact.offer); }
  [[gnu::cold]] void apply(const Traded& fact);
  [[gnu::cold]] void apply(const EndedElsewhere& fact);
  [[gnu::cold]] void apply(const TasksAsked& fact) { bindings_.apply(fact); }
  [[gnu::cold]] void apply(const Bound& fact) { bindings_.apply(fact); }
  [[gnu::cold]] void apply(const Unbound& fact) { bindings_.apply(fact); }
  NodeSpace nodes_with_what_runs() const;
  [[gnu::cold]] void apply(const Opened& fact) { epoch_ = fact.epoch; }
  void apply(const CycleClosed& fact);
  void forget_gone();
  [[gnu::cold]] void apply(const Eligible& fact);
  void apply(const Started& fact);
  void apply(const Promised& fact);
  void apply(const Expected& fact);
  [[gnu::cold]] void apply(const Extended& fact);
  [[gnu::cold]] void apply(const Stopped& fact);
  [[gnu::cold]] void apply(const Preempted& fact);
  [[gnu::cold]] void apply(const Migrated& fact);
  void apply(const PowerOrdered& fact);
  [[gnu::cold]] void apply(const ModeChanged& fact) { plain_ = fact.plain; }
  void apply(const PowerReviewed& fact) {
    power_.reviewed(now_, fact.next);
    power_.read(fact.loads);
  }
  void apply(const Replanned& fact) { replanned_ = fact; }
  void apply(const StateKept& fact);
  void apply(const JobKept& fact);
  void apply(const NodeKept& fact);
  void apply(const ReservationKept& fact) { reservations_.add(fact.row); }
  void apply(const LicenceKept& fact) { set_elsewhere(fact.licence, fact.elsewhere); }
  void apply(const UserKept& fact);
  void apply(const WorkKept& fact) { work_.put_back(fact); }
  void apply(const DemandKept& fact) { demand_.put_back(fact); }
  void apply(const DemandHourKept& fact) { demand_.put_back(fact); }

  void count_from(Instant first);
  [[gnu::cold]] void count_passed(JobId passed, std::uint32_t processors);
  void add_to_nodes(JobId id);
  void count_waiting(const Job& job, std::int64_t change);
  [[gnu::cold]] void release_presumed_ended();
  // Among those that can give way.
  void rank_running(const Job& job, JobId id);
  void unrank_running(const Job& job, JobId id);
  void begin_to_run(Job& job, JobId id, const Placement& where);
  void leave_running(Job& job, JobId id);
  void charge(const Job& job);
  [[gnu::cold]] void charge_periods(Instant at);
  Duration counts_in_use(const JobSpec& spec, Duration run) const;
  bool has_share(const JobSpec& spec) const;
  Bars bars_of(JobId id, Bars held) const;
  void queue(Job& job, JobId id);
  void unqueue(Job& job, JobId id);
  void join_waiting(const Job& job, JobId id);
  void leave_waiting(const Job& job);
  [[gnu::cold]] void leave_reservations_over();
  void set_bars(Job& job, JobId id, Bars bars);
  static void count_earlier_anew(Job& job, std::uint32_t before);
  std::optional<std::string> objection_to_id(JobId job) const;
  std::optional<std::string> objection_to_place(const Placement& where) const;
  std::optional<std::string> objection_to_reservation(const Reservation& reservation) const;
  std::optional<std::string> objection_to_counts(const Reservation& reservation) const;
  std::optional<std::string> objection_to_nodes(const Reservation& reservation) const;
  std::optional<std::string> objection_to_row(const JobKept& fact) const;
  [[gnu::cold]] void keep_running(const JobKept& fact);
  void queue_again(Job& job, JobId id);
  void leave_for_good(Job& job, JobId id, JobState state);
  [[gnu::cold]] void end_unseen(Job& job, JobId id);
  void switch_node(NodeId node, PowerState state, Instant until);
  void set_elsewhere(LicenceId licence, std::int64_t count);
  void forget_promise(Job& job, JobId id);
  [[gnu::cold]] void set_aside(const Job& job, JobId id);
  void expect_anew(Job& job, JobId id, Duration expected);
  void end_anew(Job& job, JobId id, Duration expected, Duration stood);
  [[gnu::cold]] void forget_orders(Job& job, JobId id);
};

}  // namespace rota
