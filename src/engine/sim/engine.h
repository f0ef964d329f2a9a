// The simulated cluster: jobs arrive from a source, run for as long as the source says, and end. Only physics is here.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "base/min_heap.h"
#include "base/paged_table.h"
#include "base/random.h"
#include "control/ports.h"
#include "engine/sim/job_tasks.h"
#include "engine/sim/loop.h"
#include "engine/sim/power_meter.h"
#include "engine/sim/run_ledger.h"
#include "model/cpu_factor.h"

namespace rota::sim {

// A job as the world knows it: what its user asks for, and how long it will really run.
struct Arrival {
  JobSpec spec;
  Duration run_time{0};  // > 0
};

// Where jobs come from, in order of submission.
class Source {
 public:
  virtual ~Source() = default;
  // The next one; false when there are no more.
  virtual bool next(Arrival& arrival) = 0;
};

enum class Ties : std::uint8_t {
  batch,         // all events of an instant together, ends first, then one scheduling cycle
  submit_first,  // one by one, each followed by a cycle: overdue, submissions, ends in order of dispatch (published
                 // schedules)
  one_by_one,    // the same order without the rest of that mode; nodes that have booted come last, together
};

// What can go wrong on the cluster itself, each by chance from 0 to 1. What gets lost on the way is FaultyLink's.
struct EngineFaults {
  double launch_fails = 0;           // of each start; another try can help,
  double launch_fails_for_good = 0;  // or cannot
  double boot_hangs = 0;             // of each boot: the node never gets there unless it is switched again
  std::uint64_t seed = 1;
};

// How often each has happened, with what was done to the nodes.
struct EngineFaultCounts {
  std::int64_t failed_launches = 0;
  std::int64_t hung_boots = 0;
  std::int64_t node_deaths = 0;
  std::int64_t drains = 0;
  std::int64_t lost_jobs = 0;
};

struct EngineOptions {
  Ties ties = Ties::batch;
  // While so few jobs wait or fewer, the next job arrives at once, not after its gap; -1: never (closed loop studies).
  std::int64_t queue_floor = -1;
  Duration checkpoint{0};            // what writing a checkpoint takes
  const Machine* metered = nullptr;  // its nodes can sleep, and their power is metered. Must outlive the engine
  bool meters_jobs = false;          // what each job accounts for will be asked
  bool keeps_states = false;         // what nodes did over time will be asked
  std::int64_t unix_start = 0;       // Unix time of instant 0, by which electricity has its price; 0: not known
  Instant metered_from = kNever;     // kNever: from the first arrival on
  // Jobs with tasks, on nodes of the machine whose accelerators they may use; nullptr: none. Both must outlive the
  // engine
  const TaskTable* tasks = nullptr;
  const Machine* machine = nullptr;
  Bind bind = Bind::none;
  ContainerModel containers = {};
  // Keeps a ledger of commands, so that they may come late, twice and out of order, and confirms starts. `metered` must
  // name the machine where nodes are described. Without it every command comes once and in order.
  std::optional<EngineFaults> faults = {};
  bool confirms_starts = true;  // with a ledger; else a start is as good as done, and one that fails is a lost job
  bool moves = false;           // with a ledger: for a link on which every command comes at once
  bool shared = false;          // the state may say that others have taken more of it than there is
};

class SimEngine final : public Engine, public Alarm, private TaskListener {
 public:
  SimEngine(const EngineOptions& options, Source& source, VirtualLoop& loop)
      : options_(options),
        source_(source),
        loop_(loop),
        meter_(options.metered, {options.keeps_states, options.meters_jobs, options.unix_start}) {
    if (options.faults) misbehave();
    if (!options.tasks) return;
    tasks_ = std::make_unique<JobTasks>(options.bind, *options.machine, *options.tasks, options.containers, loop);
    tasks_->open(*this);
  }

  // Draws the first job; call once before the loop runs. The intake must outlive the engine.
  void open(Intake& intake);

  // The world of a state that a controller takes over, before it resumes: a job of that state that waits or runs, and
  // how long it will run yet; its start is ordered again. And, once it is open, a node that is not on: until then.
  void take_over(JobId id, Duration run_time);
  void take_over(NodeId node, PowerState state, Instant until);

  // A job that comes from elsewhere than the source, now.
  [[gnu::cold]] void submit(const Arrival& arrival);
  // Whether a job with this number came so and is in no queue yet; it is forgotten.
  [[gnu::cold]] bool forget_arrival(std::int64_t number);
  // A job that waits will run for so much longer: the next time, where it has tasks.
  void prolong(JobId id, Duration by) { (has_tasks(id) ? interrupted_[id].owed : alive_[id.value].run_time) += by; }
  // A job whose start was never ordered, and that was told to give way: it is reported as Vacated with nothing done.
  [[gnu::cold]] void not_started(JobId id);
  // Takes back a job that waits or runs: it is reported as Cancelled.
  [[gnu::cold]] void cancel(JobId id);

  Capabilities capabilities() const override;
  void dispatch(const Command& command) override {
    if (ledger_) return dispatch_once(command);
    carry_out(command);
  }
  Observation observe() const override { return ledger_ ? ledger_->observe() : Observation{}; }
  void ring() override;

  // With a ledger only. A job that was submitted will run for so long; said again, if its id was given again.
  [[gnu::cold]] void will_run(JobId id, Duration run_time);
  [[gnu::cold]] void node_dies(NodeId node);  // its jobs are lost
  [[gnu::cold]] void node_drains(NodeId node);
  [[gnu::cold]] void node_recovers(NodeId node);
  void heal() { options_.faults = EngineFaults{}; }  // nothing more goes wrong by chance
  const RunLedger* ledger() const { return ledger_.get(); }
  const EngineFaultCounts& fault_counts() const { return fault_counts_; }

  const Result<void>& health() const { return health_; }
  std::int64_t arrived() const { return arrived_; }     // so far
  bool expects_jobs() const { return due_ != kNever; }  // some have not come yet
  // Whether anything will happen without a command.
  bool quiet() const {
    return due_ == kNever && ends_.empty() && leaving_.empty() && switching_.empty() && happened().empty() &&
           (!tasks_ || tasks_->idle());
  }
  const PowerMeter& meter() const { return meter_; }
  const JobTasks* tasks() const { return tasks_.get(); }  // nullptr: no job has any

 private:
  // Something that will happen to a running job: it ends, or it outlives what was expected.
  struct Coming {
    Instant at;
    std::uint32_t dispatch;
    JobId job;
    bool timed_out;  // ends by its limit
    bool operator>(const Coming& o) const { return at != o.at ? at > o.at : dispatch > o.dispatch; }
  };
  // A node that boots or shuts down will be there.
  struct Switching {
    Instant at;
    std::uint64_t order;
    NodeId node;
    PowerState state;
    bool operator>(const Switching& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  using Calendar = MinHeap<Coming>;

  // A job from its arrival to its end.
  struct Alive {
    Duration run_time{0};        // on a node of CPU factor 1, and not done yet
    Instant end = kNever;        // of this dispatch
    Instant start = kNever;      // of this dispatch
    std::uint32_t dispatch = 0;  // 0: waiting
    std::int32_t cpu_factor = kStandardFactor;
    std::uint32_t run = kAnyDispatch;  // the number by which the controller knows this dispatch
  };
  // A job comes: by its place in arrivals_.
  struct Comes {
    std::size_t arrival;
  };
  // What it will say: nothing here has anything to destroy.
  using Happening = std::variant<Comes, Finished, Overdue, Vacated, Requeued, Cancelled, PowerChanged, Serving,
                                 Launched, LaunchFailed, HealthChanged, TasksAsked, Bound, Unbound>;
  static_assert(std::is_trivially_destructible_v<Happening>);
  // What more there is to know of a job that was told to stop or to move: of few.
  struct Interrupted {
    Duration kept{0};     // of this dispatch, if it is leaving
    Duration pause{0};    // at the start of this dispatch it does no work
    Duration owed{0};     // the pause of the next dispatch
    Duration all{0};      // the run time before anything was done, if some of it has been done
    Duration ran{0};      // of this dispatch, before it stood still,
    Duration worked{0};   // and what it did then
    bool stands = false;  // a user has it suspended
  };

  [[gnu::cold]] void misbehave();
  void carry_out(const Command& command);
  [[gnu::cold]] void dispatch_once(const Command& command);
  [[gnu::cold]] void launch(const Command& command);
  [[gnu::cold]] void end_early(const Command& command);
  [[gnu::cold]] void answer_again(const Command& command);
  [[gnu::cold]] void order_power(const Command& command);
  [[gnu::cold]] void lose(JobId id);
  [[gnu::cold]] void set_health(NodeId node, Health health);
  [[gnu::cold]] bool has_room(const Placement& where) const;
  [[gnu::cold]] Duration interrupt(JobId id);
  template <class End>
  void over(const End& end) {
    happened().emplace_back(end);
    if (ledger_) ledger_->over(end.job, alive_[end.job.value].run, end);
  }
  void tell_now(const Happening& happening) {
    happened().push_back(happening);
    ring_by(loop_.now());
  }
  void start(const Command& command);
  void remind(JobId id, Instant expected_end);  // reports Overdue at the expected end if the job outlives it
  [[gnu::cold]] void kill(JobId id);
  void run(Alive& job, const Command& command, Duration pause = Duration{0});
  [[gnu::cold]] bool run_tasks(const Command& command, Duration pause);  // false: it has none
  [[gnu::cold]] void advance_tasks(Instant now);
  void tasks_done(JobId id) override;
  void task_facts() override;
  void computed(JobId job, NodeId node, Instant from, Instant to) override {
    if (meter_.meters()) meter_.computed(job, node, from, to);
  }
  [[gnu::cold]] void tasks_arrive(JobId id, const Arrival& arrival);
  bool has_tasks(JobId id) const { return tasks_ && tasks_->has(id); }
  [[gnu::cold]] void preempt(const Command& command);
  [[gnu::cold]] void end_early(JobId id, Outcome outcome);
  [[gnu::cold]] void migrate(const Command& command);
  [[gnu::cold]] void adjust(const Command& command);
  [[gnu::cold]] void stand_still(JobId id, Interrupted& interrupted);
  [[gnu::cold]] void vacate(JobId id);
  void switch_power(const Command& command);
  [[gnu::cold]] void offer_accelerators(NodeId node, bool on);
  bool boots(NodeId node);
  void take_switched(Instant now);
  void draw();
  bool arrival_due(Instant now) const;
  void take_arrival(Instant now);
  void tell(const Happening& happening);
  void take_ends(Instant now);
  [[gnu::cold]] void take_leaving(Instant now);
  void take_overdue(Instant now);
  void flush();
  void ring_next();
  // Commands also come between two rings, when a policy was woken by itself.
  void ring_by(Instant at) {
    if (at < rings_) loop_.set(*this, rings_ = at);
  }

  void comes(const Arrival& arrival) {
    happened().emplace_back(Comes{arrivals_[filling_].size()});
    arrivals_[filling_].push_back(arrival);
  }
  std::vector<Happening>& happened() { return happenings_[filling_]; }
  const std::vector<Happening>& happened() const { return happenings_[filling_]; }

  static constexpr Instant kRinging = Instant::min();

  EngineOptions options_;
  Source& source_;
  VirtualLoop& loop_;
  Intake* intake_ = nullptr;
  Calendar ends_;
  Calendar overdue_;
  std::vector<Coming> leaving_;  // when their checkpoints are written; in that order
  PagedTable<Alive> alive_;      // by job id
  std::map<JobId, Interrupted> interrupted_;
  std::set<std::uint32_t> killed_;  // dispatches that were stopped and still stand in the calendar of ends
  PowerMeter meter_;
  std::unique_ptr<JobTasks> tasks_;
  MinHeap<Switching> switching_;
  std::vector<std::uint32_t> boots_;                  // by node, so far; where some fail
  std::array<std::vector<Arrival>, 2> arrivals_;      // of which happenings_ tell
  std::array<std::vector<Happening>, 2> happenings_;  // those that are not yet told, and those that are being told
  std::size_t filling_ = 0;                           // which of the two the former are
  std::int64_t arrived_ = 0;
  Arrival next_;              // the next to arrive, while due_ is not kNever
  Instant due_ = kNever;      // when next_ arrives
  Instant rings_ = kRinging;  // when the loop rings next
  Instant drawn_submit_ = kEpoch;
  std::int64_t waiting_ = 0;
  std::uint32_t dispatches_ = 0;
  Result<void> health_;
  std::unique_ptr<RunLedger> ledger_;  // nullptr: commands come once and in order
  std::optional<Random> chance_;
  EngineFaultCounts fault_counts_;
};

}  // namespace rota::sim
