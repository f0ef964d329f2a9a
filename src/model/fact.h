// What happened and what was decided, as facts with a time and a number: the only thing that changes a Cluster. A
// journal of these is the whole state. Observed facts come from users, engines and the passing of time, and are checked
// against the state (Cluster::objection); decided facts come out of a plan, and one that contradicts the state is a
// defect; kept facts are what a snapshot is made of: rows of the state as they stand. All their fields stand in
// model/fact_fields.h.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "model/action.h"
#include "model/job.h"
#include "model/job_use.h"
#include "model/machine.h"
#include "model/node_power.h"
#include "model/node_space.h"
#include "model/reservation.h"
#include "model/run_history.h"
#include "model/tasks.h"
#include "model/trades.h"

namespace rota {

// What an engine says of a job is about one of its dispatches (Command::dispatch): late or doubled, it must not be
// taken for news of the next one. kAnyDispatch: of whichever there is.
inline constexpr std::uint32_t kAnyDispatch = UINT32_MAX;

// ---- observed

struct Submitted {
  JobId job;
  JobSpec spec;
  Duration expected{0};  // what the estimator counts on
  Bars bars = kNoBars;   // why it is not queued yet
  bool ahead = false;    // once it is queued, before others of its priority
};
struct Rejected {  // submitted, but can never run here
  JobId job;
  JobSpec spec;
};
struct Held {  // not to be started until it is released
  JobId job;
  Bars by = kHeldByUser;  // kHeldByUser, kHeldByOperator or kNotOurs
};
struct Released {
  JobId job;
  Bars from = kHeldByUser;
};
struct Amended {  // a job that has not started is to run on other terms from now on; all of them are told
  JobId job;
  JobTerms terms;
  std::uint32_t processors = 0;  // asked in all; 0: these, nodes and memory stay as they are
  std::uint32_t nodes = 0;       // to spread them over evenly; 0: any spread will do
  std::int64_t memory = 0;       // bytes asked on each node; 0: none asked

  void amend(JobSpec& spec) const {
    spec.limit = terms.limit;
    spec.priority = terms.priority;
    spec.partition = terms.partition;
    if (processors == 0) return;
    spec.processors = processors;
    spec.nodes = nodes;
    spec.memory = memory;
  }
};
struct CancelAsked {  // of a job that runs: it is told to stop, and Finished follows
  JobId job;
};
struct Launched {  // the engine says that the job runs
  JobId job;
  std::uint32_t dispatch = kAnyDispatch;
};
struct LaunchFailed {  // it does not run; it is back at its place in the queue, or has failed
  JobId job;
  bool again = true;  // another try can help
  std::uint32_t dispatch = kAnyDispatch;
};
struct Overdue {  // has used up the time that was counted on and still runs
  JobId job;
  std::uint32_t dispatch = kAnyDispatch;
};
struct Vacated {  // has left its processors after it was preempted, and is back at its place in the queue
  JobId job;
  Duration kept{0};  // of the run time of this dispatch: need not be done again
  std::uint32_t dispatch = kAnyDispatch;
  JobUse use = {};
};
struct Requeued {  // killed while it ran, and back at the tail of the queue
  JobId job;
  Duration limit{0};  // its new limit
  std::uint32_t dispatch = kAnyDispatch;
  JobUse use = {};
};
struct Finished {
  JobId job;
  Outcome outcome = Outcome::completed;
  std::uint32_t dispatch = kAnyDispatch;
  std::int32_t status = 0;  // of the job's process, as waitpid(2) gives it; 0 where it is not known
  JobUse use = {};
};
struct Cancelled {  // taken back: it is done, or being done, elsewhere, or not wanted any more. For a job that runs
                    // only its engine may say so, once it has stopped; all others say CancelAsked
  JobId job;
  JobUse use = {};
};
struct PowerChanged {  // a node has booted, is off, or came or went by itself
  NodeId node;
  PowerState state = PowerState::on;  // on or off
  std::uint64_t key = 0;              // of the command that is carried out so; 0: it came about by itself
};
struct HealthChanged {
  NodeId node;
  Health health = Health::up;
};
struct LicencesCounted {  // what the licence server says: so many are used by others than our jobs
  LicenceId licence;
  std::int64_t elsewhere = 0;
};
struct Serving {  // the accelerators of a node may from now on be used, or no longer be used, by a job on other nodes
  NodeId node;
  bool serves = false;
};
struct Reserved {  // nodes, or processors where these are counted, are not to be used for a time
  ReservationId id;
  Instant from = kNever;
  Instant until = kNever;
  std::vector<NodeId> nodes = {};
  std::int64_t processors = 0;
};
struct Unreserved {  // a reservation is taken back; one whose end has come is over by itself
  ReservationId id;
};
struct Suspended {  // a job that runs is to stand still; it keeps what it holds, and that time does not count
  JobId job;
  Bars by = kHeldByUser;  // kHeldByUser or kHeldByOperator
};
struct Resumed {  // and to go on, once nothing keeps it suspended any more
  JobId job;
  Bars from = kHeldByUser;
};
struct LimitChanged {  // of a job that runs
  JobId job;
  Duration limit{0};
};
struct Described {  // a node has come, or is another than it was. Its id is its name's for ever
  NodeId node;      // the next that there is not: a new one
  Node is = {};  // all but its commands, which are no part of the state; without processors: it has gone, and is down
                 // until it comes back
};
struct Surveyed {  // the engine has said of everything that had happened by then
  Instant until = kEpoch;
};
struct Found {  // a job runs that no plan of ours has started, or elsewhere than was thought: on these nodes, whether
                // or not they have room; none: on none that is known
  JobId job;
  Placement where = {};
};
struct Offered {  // a job was submitted here for all sites of the federation
  Offer offer;
};
struct Traded {  // and what has become at the exchange of one, here or there
  Offer offer;   // listed, lost, closed: its number is enough
  Trade trade = Trade::listed;
  std::int64_t number = 0;  // won: that it has among this site's jobs; 0: that of the offer
};
struct EndedElsewhere {  // a job that was submitted here for all sites has run to its end at another one
  JobId job;
  SiteId site;
  Instant start = kEpoch;  // its end is when this happened
  Outcome outcome = Outcome::completed;
  std::int32_t status = 0;  // as in Finished
};
struct LicencesChanged {  // a job that waits is to hold these while it runs, and no others
  JobId job;
  LicenceId licence = {};
  std::uint32_t licences = 0;
  MoreLicences more_licences = {};
};
struct TasksAsked {  // a job wants these tasks computed; said again when it leaves its nodes with some of them done
  JobId job;
  TaskSpec tasks = {};
  std::uint32_t left = 0;  // of them, not done
  Duration on_cpus{0};  // how long the job runs without accelerators; where `tasks` does not say what one takes there
};
struct Bound {  // tasks of a node without accelerators, or with busy ones, may go to those of another node of its rack
  NodeId node;
  NodeId to;
  JobId job = {};  // only those of this job, as long as it has the node; none: those of all jobs, in place of what the
                   // node was bound to before
  std::uint32_t processors =
      0;  // of the job there, each bound by itself: so many more; 0: the node is bound as a whole
};
struct Unbound {  // no longer
  NodeId node;    // none: all nodes of the job
  NodeId from;
  JobId job = {};
  std::uint32_t processors = 0;  // so many fewer; 0: all
};

// ---- decided

struct Opened {  // a controller has taken the state over: its commands go under this epoch, older ones are refused
  std::uint32_t epoch = 0;
};
struct CycleClosed {       // everything before has been looked at; what was decided follows
  std::uint64_t plan = 0;  // hash of the plan; 0: it decides nothing
};
struct Eligible {  // nothing keeps it from being queued any more but, perhaps, a hold or a limit
  JobId job;
  Bars bars = kNoBars;  // that remain
};
struct Started {  // holds what it asks for from now on
  JobId job;
  bool backfilled = false;  // ahead of a waiting job that has a promise
  Placement where = {};     // empty where processors are only counted
  Reason reason = {};
};
struct Promised {
  JobId job;
  Instant start = kNever;  // kNever: the promise is withdrawn
  Placement where = {};    // set aside for it from then on; empty where counts decide
};
struct Expected {  // the run time counted on was corrected
  JobId job;
  Duration expected{0};
};
struct Extended {  // let go on although its time was up
  JobId job;
  Instant until = kNever;
  Reason reason = {};
};
struct Stopped {  // told to stop; runs on until it has Finished or was Requeued or Cancelled
  JobId job;
  Reason reason = {};
  bool for_good = false;  // it is to be cancelled
};
struct Preempted {  // told to give way to a job of higher priority; runs on until it is Vacated
  JobId job;
  JobId beneficiary = {};
  Instant until = kNever;  // when it is expected to have left, where planning counts on that
};
struct Migrated {  // moved to other nodes while it ran
  JobId job;
  Placement where = {};
  bool kept = true;      // its progress; else it starts over
  Duration expected{0};  // run time counted on from now on; 0: what was left of it, or the limit (older journals)
};
struct PowerOrdered {  // told to wake or to go to sleep
  NodeId node;
  bool on = false;
  Instant until = kNever;  // when that is expected to be over
  Reason reason = {};
};
struct ModeChanged {  // plain: a plan was refused, and until an operator looks jobs start in order of the queue
  bool plain = false;
};
struct PowerReviewed {                  // a power rule has looked at everything
  Instant next = kNever;                // wants to look again then although nothing happens
  std::vector<LoadReading> loads = {};  // where it reckons any
};

struct Replanned {           // a policy that looks at the queue from time to time has done so, or owes that
  Instant tried = kNever;    // when it last started what could start; kNever: never, as in all that follow
  Instant walked = kNever;   // when it did so for the whole queue
  Instant planned = kNever;  // when it last planned everything anew
  bool owes_try = true;      // something has happened since
  bool owes_plan = true;
  bool operator==(const Replanned&) const = default;
};

// ---- kept

struct StateKept {  // counters and lists that no row has
  JobId next_job = JobId{0};
  std::uint32_t next_sequence = 0;
  std::uint32_t next_dispatch = 0;
  Instant ranked_at = kEpoch;
  Instant last_migration = kNever;
  std::int64_t releases = 0;
  bool counts_decided = true;
  std::vector<JobId> arrived = {};
  std::vector<JobId> overdue = {};
  std::vector<JobId> gone = {};
  std::vector<JobId> leaving = {};
  JobId set_aside_for = {};
  std::vector<std::uint32_t> set_aside = {};
  PowerCounters power = {};
  bool plain = false;
  ReservationId next_reservation = ReservationId{0};
  Duration longest_expected{0};  // of jobs queued since the queue was last empty
  Instant first_submit = kNever;
  std::vector<LoadReading> loads = {};  // when a power rule looked last
  Instant surveyed = kEpoch;
  std::int64_t last_number = -1;  // -1: not written down, and then jobs were numbered from 1 on in a row
  std::int64_t last_offered = 0;  // serial number
  Instant last_news = kEpoch;
};
struct ReservationKept {
  Reservation row;
};
struct JobKept {
  JobId job;
  Job row;
  Placement where = {};                        // of a running job
  Placement promised = {};                     // of one that has a promise
  std::vector<std::uint32_t> processors = {};  // that it holds, where these are listed
  JobId beneficiary = {};                      // of one that is leaving,
  Duration expected{0};                        // and what was counted on before it was told to
  JobTerms terms = {};                         // of one that has terms of its own
  bool has_terms = false;
  JobSpec request = {};  // as it was submitted, of one that stands on other terms
  bool amended = false;
  bool never = false;             // of one that has terms: a dependency can no longer be met,
  bool due = false;               // or one was met, or failed, and was not looked at since
  Instant suspended_at = kNever;  // of one that is suspended
  std::uint64_t adjusted = 0;     // RunOrders::command
};
struct MachineKept {                                // of a state in which nodes were described by facts
  std::vector<Node> nodes;                          // all of them, by id, in place of those of the cluster file
  std::vector<std::string> accelerator_types = {};  // names, by the ids that these nodes and jobs have
  std::vector<std::string> features = {};           // likewise
};
struct NodeKept {
  NodeId node;
  NodePowerRow power;
  bool serves = false;
  Health health = Health::up;
  std::uint64_t fell_idle = 0;  // greater: later
  Instant idle_since = kEpoch;
};
struct LicenceKept {
  LicenceId licence;
  std::int64_t elsewhere = 0;
};
struct UserKept {
  std::uint32_t user = 0;
  RunHistory runs;
  std::int64_t spent = INT64_MIN;  // RecentUse::spent_at
  std::int64_t owed = INT64_MIN;   // likewise, of what is charged at the end of the period
};
struct WorkKept {  // of one class of job sizes
  std::uint32_t size_class = 0;
  std::int64_t jobs = 0;
  double use = 0;
  double squares = 0;
  Duration longest_limit{0};              // of all classes
  std::vector<std::int64_t> latest = {};  // node-milliseconds of the latest, and of those drawn (model/work_history.h)
  std::vector<std::int64_t> drawn = {};
};
struct DemandKept {
  double lately = 0;
  Instant latest = kEpoch;
  std::int64_t open = -1;
  std::int64_t asked = 0;
};
struct DemandHourKept {
  std::uint32_t hour = 0;  // of the week
  std::int64_t week = 0;
  std::vector<float> windows = {};
};

template <class... Kinds>
struct KindList {
  using Variant = std::variant<Kinds...>;
  using Pointer = std::variant<const Kinds*...>;
  static_assert(sizeof...(Kinds) <= 64, "a set of kinds is a word");

  // A set of kinds, each a bit.
  template <class Kind>
  static constexpr std::uint64_t bit() {
    std::uint64_t found = 0;
    std::uint64_t next = 1;
    ((found |= std::is_same_v<Kind, Kinds> ? next : 0, next <<= 1U), ...);
    return found;
  }
  template <class... Some>
  static constexpr std::uint64_t bits() {
    return (bit<Some>() | ...);
  }
};
// The order is that of the journal's numbers: new kinds come last.
using FactKinds =
    KindList<Submitted, Rejected, Held, Released, Amended, CancelAsked, Launched, LaunchFailed, Overdue, Vacated,
             Requeued, Finished, Cancelled, PowerChanged, HealthChanged, LicencesCounted, Serving, Opened, CycleClosed,
             Eligible, Started, Promised, Expected, Extended, Stopped, Preempted, Migrated, PowerOrdered, PowerReviewed,
             StateKept, JobKept, NodeKept, LicenceKept, UserKept, WorkKept, DemandKept, DemandHourKept, ModeChanged,
             Reserved, Unreserved, ReservationKept, Suspended, Resumed, LimitChanged, Replanned, LicencesChanged, Found,
             Described, Surveyed, MachineKept, Offered, Traded, TasksAsked, Bound, Unbound, EndedElsewhere>;

// Observed facts that change nothing a plan is made of: nothing is decided after them.
template <class Kind>
inline constexpr bool kBesidePlans =
    (FactKinds::bits<Serving, Surveyed, Offered, Traded, TasksAsked, Bound, Unbound>() & FactKinds::bit<Kind>()) != 0;

// One of them. How it is copied and destroyed stands in fact.cc, so that not every source file compiles it anew.
struct AnyFact : FactKinds::Variant {
  using FactKinds::Variant::Variant;
  AnyFact();
  AnyFact(const AnyFact& other);
  AnyFact(AnyFact&& other) noexcept;
  AnyFact& operator=(const AnyFact& other);
  AnyFact& operator=(AnyFact&& other) noexcept;
  ~AnyFact();
};

struct Fact {
  Instant at = kEpoch;
  std::uint64_t sequence = 0;  // 1, 2, 3, ... over the life of a journal
  AnyFact what;
  Duration late{0};  // so long after it happened, of an observed one: run times, history and shares go by that

  Instant happened() const { return at - late; }
};

// A fact on its way through the door: what it says is not copied.
struct FactRef {
  Instant at = kEpoch;
  std::uint64_t sequence = 0;
  FactKinds::Pointer what;
  Duration late{0};

  Instant happened() const { return at - late; }
};

}  // namespace rota
