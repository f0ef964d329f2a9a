// The narrow ports between the controller and everything impure. Each adapter implements one; nothing else crosses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/cpu_factor.h"
#include "model/fact.h"

namespace rota {

// Something that wants to be called at an instant.
class Alarm {
 public:
  virtual ~Alarm() = default;
  virtual void ring() = 0;
};

// The only source of time; virtual in a rehearsal, real in production.
class Loop {
 public:
  virtual ~Loop() = default;
  virtual Instant now() const = 0;
  // Rings the alarm once at this instant, in place of when it was set to ring before; kNever: not at all. At one
  // instant alarms ring in the order in which they were first set.
  virtual void set(Alarm& alarm, Instant at) = 0;
};

// What an engine is told to do. A command owns what it carries. The key is the number of the fact that decided it,
// under the epoch of the controller that wrote it: an engine carries out each key once however often it comes, commands
// about one job or node in the order of their keys, and refuses those of an older epoch than it has seen.
struct Command {
  enum class Kind : std::uint8_t { start, kill, expect, preempt, migrate, power_on, power_off, adjust };
  Kind kind = Kind::start;
  std::uint32_t epoch = 0;
  std::uint64_t key = 0;
  JobId job;
  std::uint32_t dispatch = kAnyDispatch;      // of the job: what is said of it must name this one
  Instant expected_end = kNever;              // start, expect, migrate, adjust: report Overdue if it still runs then
  Instant start = kNever;                     // start, migrate: since when it counts as started
  Instant limit_end = kNever;                 // start, migrate, adjust: end it then, as timed out; kNever: let it run
  Preemption how = Preemption::none;          // preempt
  JobId beneficiary = {};                     // preempt: in whose favour
  NodeId node = {};                           // power_on, power_off
  Placement where = {};                       // start, migrate: the nodes; no shares where processors are only counted
  std::int32_t cpu_factor = kStandardFactor;  // start, migrate: per mille, of the slowest node that the job gets
  bool kept = true;                           // migrate, preempt: it goes on where it was; else it starts over
  bool for_good = false;                      // kill: it is not to run again; else it is to be queued again
  Duration pause{0};                          // migrate, preempt: in which it does no work, once it goes on
  bool stands = false;                        // adjust: it stands still, and the ends are as if it went on now
  Duration limit{0};                          // adjust: the run time that it asks for now

  // Carried out so much later than was decided, it counts from then on.
  void shift(Duration late) {
    for (Instant* at : {&start, &expected_end, &limit_end})
      if (*at != kNever) *at += late;
  }

  // Says nothing again, and keeps the room that its list of nodes has.
  void forget() {
    where.shares.clear();
    where.per_node = {};
    forget_licences(where);
    dispatch = kAnyDispatch;
    start = expected_end = limit_end = kNever;
    how = Preemption::none;
    beneficiary = {};
    node = {};
    cpu_factor = kStandardFactor;
    kept = true;
    for_good = false;
    pause = Duration{0};
    stands = false;
    limit = Duration{0};
  }
};

// What an engine can do; a policy that needs what is lacking is refused before anything runs.
struct Capabilities {
  bool suspend = true;     // preempt=suspend
  bool checkpoint = true;  // preempt=checkpoint
  bool requeue = true;     // preempt=requeue, and overrun rules that stop jobs
  bool cancel = true;      // preempt=cancel
  bool extend = true;      // a job may be let go on beyond its limit
  bool places = true;      // a job goes to the nodes that it is given
  bool power = true;       // nodes are switched on and off
  bool move = true;        // a running job goes on elsewhere. False behind a link that loses commands: what the job
                           // leaves counts as free as soon as the move is decided, and no answer confirms the move
  bool tasks = true;       // accelerators compute tasks of other nodes' jobs
  bool sites = true;       // jobs may go to another site
  bool shared = false;     // others use the cluster too: jobs start, end and move there without an order of ours
  // How long it knows a job that has ended. For one that it has forgotten nothing tells how it ended
  // (Outcome::unknown).
  Duration remembers = kLongest;
  bool submits = true;     // jobs that come to Rota are carried out; else all jobs come from the engine
  bool terminals = false;  // a job's input and output can be at a person's terminal (control/attach.h)
  // How fast it answers: a command without an answer for so long is sent again (AnswerRules).
  Duration answers_within = seconds(10);
  bool confirms_starts = false;   // a start is over when Launched or LaunchFailed says so; else it is as good as done
  std::string why_no_power = {};  // where there is none, for people: what is missing, as a sentence
};

// How one dispatch of a job can be over.
using DispatchEnd = std::variant<Finished, Vacated, Requeued, LaunchFailed, Cancelled>;

// What really exists, as an engine sees it: for a controller that was away, or may have missed something.
struct Observation {
  struct JobSeen {
    JobId job;
    bool runs = true;  // else its latest dispatch is over, as `end` says
    DispatchEnd end = {};
    std::uint64_t key = 0;                  // of the latest command about it that was carried out, Launched or not
    std::uint32_t dispatch = kAnyDispatch;  // that it was started as
    bool held = false;                      // its start is kept back on the way: it has not begun
    Instant ended = kNever;                 // when that dispatch was over; kNever: just now, for all that is known
  };
  struct NodeSeen {
    NodeId node;
    PowerState power = PowerState::on;
    std::optional<Health> health = {};  // nullopt: it knows nothing of that
    std::uint64_t key = 0;              // of the latest command about it that was carried out
  };
  // Or else what is not in it may exist all the same: the engine is yet to hear of it, and says so as facts.
  bool complete = true;
  // All that run, and those that have ended as far back as the engine remembers: at least all whose end may not have
  // been made durable by the controller that was told of it. By id.
  std::vector<JobSeen> jobs;
  std::vector<NodeSeen> nodes;  // those that it can tell of
};

// Carries out commands. Nothing comes back from dispatch(), which never blocks: whether and how a command was carried
// out comes as facts. A command that comes again is not carried out again, but answered again. One about a dispatch
// that was over, or had not begun, when it came ends that dispatch: a start that comes behind it is too old. A start of
// a new dispatch ends what may still run of the one before. For a job that was told to give way an engine reports
// Vacated in the end, or that it Finished; for one that was told to stop, Requeued, Cancelled or Finished.
//
// The controller sets no timer for a limit, since most such timers would be cancelled: the engine reports Overdue at
// Command::expected_end, and ends the job at Command::limit_end by itself.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Capabilities capabilities() const { return {}; }
  virtual void dispatch(const Command& command) = 0;
  virtual Observation observe() const { return {}; }
};

// What users and engines may say.
using Observed = std::variant<Finished, Overdue, Vacated, Requeued, Cancelled, PowerChanged, Serving, Launched,
                              LaunchFailed, HealthChanged, LicencesCounted, Held, Released, Amended, CancelAsked,
                              Reserved, Unreserved, Suspended, Resumed, LimitChanged, LicencesChanged, Found, Described,
                              Surveyed, Offered, Traded, TasksAsked, Bound, Unbound, EndedElsewhere>;

// The controller, as users and engines see it.
class Intake {
 public:
  virtual ~Intake() = default;
  // A new job; it gets its id here, and waits unless something bars it. Invalid: it was rejected, of which the job sink
  // hears, or nothing is taken in any more. What was taken in is durable once decide() has returned, or soon after, as
  // Durable has it.
  virtual JobId submit(const JobSpec& spec, Bars bars) = 0;
  JobId submit(const JobSpec& spec) { return submit(spec, kNoBars); }
  // Takes the fact in. `happened`: when it came about, which may be a while ago; what lies before that could be, or
  // after now, counts as the nearest instant at which it could (kNever: now). Fails with a sentence, and changes
  // nothing, if the fact contradicts the state: it is late, doubled, or about what is not there.
  virtual Result<void> record(const Observed& fact, Instant happened) = 0;
  Result<void> record(const Observed& fact) { return record(fact, kNever); }
  // That is all for this instant: decides, if anything is worth it. Fails if no further decision can be trusted.
  virtual Result<void> decide() = 0;
};

// Hears of facts just before they are folded in: `before` is the state without the fact, at its time.
class FactObserver {
 public:
  virtual ~FactObserver() = default;
  // The kinds that it hears of (FactKinds::bit); asked once.
  virtual std::uint64_t wants() const { return UINT64_MAX; }
  virtual void fact_recorded(const View& before, const FactRef& fact) = 0;
  // An observed fact that was refused.
  virtual void refused(const View& /*view*/, const Error& /*why*/) {}
};

// Makes durable what an observer of its own has written down (control/journal.h).
class Durable {
 public:
  virtual ~Durable() = default;
  virtual Result<void> commit() = 0;
  // No command rests on it yet: it may become durable a little later, with what comes next.
  virtual Result<void> commit_soon() { return commit(); }
};

// Gets every job when it has ended for good or was rejected, before it is forgotten.
class JobSink {
 public:
  virtual ~JobSink() = default;
  virtual void job_gone(JobId id, const Job& job) = 0;
};

}  // namespace rota
