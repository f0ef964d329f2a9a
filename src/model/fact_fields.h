// The one table of all facts and their fields: names, meanings, and since which version of the journal they are there.
// The codec, JSON lines for people and the documentation are made from it; nothing else lists fields of facts.
//
// A field is found by its place in its list in the binary journal and by its name in JSON: append, never reorder. What
// an older journal does not have keeps the value that the struct gives it.
#pragma once

#include "model/fact.h"
#include "model/fields.h"

namespace rota {

// ---- what facts are made of

// NOLINTBEGIN(readability-identifier-naming): members of tables go by plain names

template <>
struct ValueNames<Restart> {
  static constexpr std::array<std::string_view, 4> names{"never", "checkpoint", "from_start", "once"};
};
template <>
struct ValueNames<Outcome> {
  static constexpr std::array<std::string_view, 7> names{"completed",     "timed_out", "failed", "node_failed",
                                                         "out_of_memory", "cancelled", "unknown"};
};
template <>
struct ValueNames<JobState> {
  static constexpr std::array<std::string_view, 11> names{"waiting",     "running",       "completed", "timed_out",
                                                          "rejected",    "cancelled",     "barred",    "failed",
                                                          "node_failed", "out_of_memory", "unknown"};
};
template <>
struct ValueNames<PowerState> {
  static constexpr std::array<std::string_view, 4> names{"on", "booting", "shutting_down", "off"};
};
template <>
struct ValueNames<Health> {
  static constexpr std::array<std::string_view, 3> names{"up", "draining", "down"};
};
template <>
struct ValueNames<Rule> {
  static constexpr std::array<std::string_view, 17> names{
      "head_fits",    "skipped_ahead", "ends_before_promise", "beside_promise", "planned",          "promise_due",
      "outranked",    "faster_node",   "harms_nobody",        "job_waits",      "promise_rests",    "keeps_warm",
      "load_is_high", "load_is_low",   "idle_for_long",       "rule_is_gone",   "passes_unforeseen"};
};
template <>
struct ValueNames<Dependency::When> {
  static constexpr std::array<std::string_view, 5> names{"started", "ended", "succeeded", "failed", "in_turn"};
};

template <>
struct ValueNames<Trade> {
  static constexpr std::array<std::string_view, 5> names{"listed", "won", "lost", "over", "closed"};
};

template <>
struct Fields<Share> {
  static constexpr std::tuple all{Field{"node", &Share::node, "index of the node in the cluster file"},
                                  Field{"processors", &Share::processors, "held there"}};
};
template <>
struct Fields<PerNode> {
  static constexpr std::tuple all{Field{"memory", &PerNode::memory, "bytes on each node"},
                                  Field{"accelerators", &PerNode::accelerators, "on each node"}};
};
template <>
struct Fields<JobUse> {
  static constexpr std::tuple all{
      Field{"processors", &JobUse::processors, "processor time", 8},
      Field{"in", &JobUse::in, "run time in which it was used; 0: not known", 8},
      Field{"memory", &JobUse::memory, "bytes, the most at one time; 0: nothing of this is known", 8}};
};
template <>
struct Fields<LicenceUse> {
  static constexpr std::tuple all{Field{"licence", &LicenceUse::licence, "index of the licence", 3},
                                  Field{"count", &LicenceUse::count, "so many of it", 3}};
};
template <>
struct Fields<Placement> {
  static constexpr std::tuple all{
      Field{"shares", &Placement::shares, "each of another node; none where processors are counted"},
      Field{"per_node", &Placement::per_node, "held on each of them beside processors"},
      Field{"licence", &Placement::licence, "index of the licence that is held"},
      Field{"licences", &Placement::licences, "so many of it"},
      Field{"more_licences", &Placement::more_licences, "that are held beside it, by rising index", 3}};
};
template <>
struct Fields<Reason> {
  static constexpr std::tuple all{Field{"rule", &Reason::rule, "the rule that decided"},
                                  Field{"promised", &Reason::promised, "the job whose promise mattered"},
                                  Field{"promise", &Reason::promise, "its promised start"},
                                  Field{"free", &Reason::free, "processors free when it was decided"},
                                  Field{"needed", &Reason::needed, "processors that the promised job asks for"}};
};
template <>
struct Fields<Dependency> {
  static constexpr std::tuple all{
      Field{"on", &Dependency::on, "the job that is waited for"},
      Field{"when", &Dependency::when, "what it must have done"},
      Field{"group", &Dependency::group, "failed: the same in all of which each must end and one fail", 4},
      Field{"later", &Dependency::later, "started: so long after that at the earliest", 6}};
};
template <>
struct Fields<JobTerms> {
  static constexpr std::tuple all{
      Field{"limit", &JobTerms::limit, "asked run time"},
      Field{"priority", &JobTerms::priority, "higher goes first"},
      Field{"partition", &JobTerms::partition, "index in the cluster file"},
      Field{"begin", &JobTerms::begin, "it does not start before"},
      Field{"after", &JobTerms::after, "jobs that it waits for"},
      Field{"array", &JobTerms::array, "number of its array; 0: none"},
      Field{"throttle", &JobTerms::throttle, "so many of the array at one time; 0: no limit"},
      Field{"any", &JobTerms::any, "whether one of those that it waits for will do", 6}};
};
template <>
struct Fields<JobSpec> {
  static constexpr std::tuple all{
      Field{"number", &JobSpec::number, "the name that people use"},
      Field{"submit", &JobSpec::submit, "when it was submitted"},
      Field{"limit", &JobSpec::limit, "asked run time"},
      Field{"memory", &JobSpec::memory, "bytes asked on each node"},
      Field{"processors", &JobSpec::processors, "asked in all"},
      Field{"nodes", &JobSpec::nodes, "to spread them over evenly; 0: any spread will do"},
      Field{"user", &JobSpec::user, "number of the user"},
      Field{"group", &JobSpec::group, "number of the group"},
      Field{"priority", &JobSpec::priority, "higher goes first"},
      Field{"partition", &JobSpec::partition, "index in the cluster file"},
      Field{"licence", &JobSpec::licence, "index of the licence that it holds while it runs"},
      Field{"licences", &JobSpec::licences, "so many of it"},
      Field{"restart", &JobSpec::restart, "how it can be stopped to go on elsewhere"},
      Field{"accelerators", &JobSpec::accelerators, "asked on each node"},
      Field{"accelerator_type", &JobSpec::accelerator_type, "index of the type in the cluster file"},
      Field{"restart_cost", &JobSpec::restart_cost, "in which it does no work after it was moved"},
      Field{"more_licences", &JobSpec::more_licences, "that it holds beside it, by rising index", 3},
      Field{"qos", &JobSpec::qos, "index in the cluster file", 4}};
};
template <>
struct Fields<Job> {
  static constexpr std::tuple all{
      Field{"spec", &Job::spec, "what it asks for, as amended"},
      Field{"expected", &Job::expected, "run time that planning counts on, of the next or latest dispatch"},
      Field{"start", &Job::start, "of the latest dispatch or move"},
      Field{"end", &Job::end, "of the latest dispatch"},
      Field{"promise", &Job::promise, "the start that was announced last"},
      Field{"first_promise", &Job::first_promise, "the first start ever announced"},
      Field{"done", &Job::done, "run time of earlier dispatches that need not be done again"},
      Field{"sequence", &Job::sequence, "place in order of arrival in the queue"},
      Field{"dispatch", &Job::dispatch, "place in the order of dispatches"},
      Field{"kills", &Job::kills, "dispatches that were killed and requeued"},
      Field{"backfills", &Job::backfills, "dispatches that were backfilled"},
      Field{"preemptions", &Job::preemptions, "dispatches that gave way"},
      Field{"migrations", &Job::migrations, "moves to other nodes"},
      Field{"state", &Job::state, "what has become of it"},
      Field{"backfilled", &Job::backfilled, "the latest dispatch was backfilled"},
      Field{"leaving", &Job::leaving, "told to give way"},
      Field{"starting", &Job::starting, "the engine has not said yet that it runs"},
      Field{"stopping", &Job::stopping, "told to stop"},
      Field{"bars", &Job::bars, "why it is not queued"},
      Field{"extended", &Job::extended, "let go on up to a set time"},
      Field{"corrections", &Job::corrections, "times that the expected run time proved too short"},
      Field{"cancelling", &Job::cancelling, "told to stop for good"},
      Field{"command", &Job::command, "number of the fact that decided the latest command about it"},
      Field{"put_off", &Job::put_off, "when a promise that was due was last replaced or withdrawn"},
      Field{"failed_launches", &Job::failed_launches, "starts that the engine could not carry out"},
      Field{"stood", &Job::stood,
            "time of the latest dispatch that does not count, because it was suspended; while it is: that much more as "
            "is counted on",
            2},
      Field{"suspended_by", &Job::suspended_by, "1: its user, 2: an operator, 3: both; 0: it is not suspended", 2},
      Field{"earlier", &Job::earlier,
            "for so long earlier dispatches, and the latest before a move, held what it asks for", 4},
      Field{"passed", &Job::passed, "processors of jobs that passed it while its start could not be foreseen", 6},
      Field{"ahead", &Job::ahead, "whether it goes before others of its priority", 7}};
};
template <>
struct Fields<NodePowerRow> {
  static constexpr std::tuple all{
      Field{"state", &NodePowerRow::state, "on, booting, shutting_down or off"},
      Field{"failures", &NodePowerRow::failures, "boots that failed in a row"},
      Field{"cycles", &NodePowerRow::cycles, "times that it was sent to sleep"},
      Field{"since", &NodePowerRow::since, "in this state"},
      Field{"until", &NodePowerRow::until, "when a boot or shutdown is expected to be over"},
      Field{"shunned_until", &NodePowerRow::shunned_until, "left alone until then after a failed boot"},
      Field{"command", &NodePowerRow::command, "number of the fact that decided the latest command about it"},
      Field{"by_rule", &NodePowerRow::by_rule, "a power rule, and no operator, sent it to sleep", 4}};
};
template <>
struct Fields<PowerCounters> {
  static constexpr std::tuple all{Field{"minute", &PowerCounters::minute, "the latest in which a node was switched"},
                                  Field{"woken", &PowerCounters::woken, "in that minute"},
                                  Field{"slept", &PowerCounters::slept, "in that minute"},
                                  Field{"reviewed_at", &PowerCounters::reviewed_at, "when a power rule looked last"},
                                  Field{"next_review", &PowerCounters::next_review, "and wants to look again"}};
};
template <>
struct Fields<LoadReading> {
  static constexpr std::tuple all{
      Field{"partition", &LoadReading::partition, "index in the cluster file; none: all nodes"},
      Field{"nodes", &LoadReading::nodes, "that it has"},
      Field{"on", &LoadReading::on, "of these, on or booting"},
      Field{"busy", &LoadReading::busy, "of these, with jobs"},
      Field{"least_work", &LoadReading::least_work, "node-milliseconds that the jobs of its queue take at least,"},
      Field{"most_work", &LoadReading::most_work, "and at most"},
      Field{"load", &LoadReading::load, "what the most is of what its nodes can do"},
      Field{"fragments", &LoadReading::fragments, "idle nodes, where they are too few for any job that waits"}};
};
template <>
struct Fields<Offer> {
  static constexpr std::tuple all{
      Field{"spec", &Offer::spec, "what it asks for", 8}, Field{"home", &Offer::home, "site where it was submitted", 8},
      Field{"data", &Offer::data, "site where its input lies", 8},
      Field{"submitted", &Offer::submitted, "to the global queue", 8},
      Field{"serial", &Offer::serial, "number among the jobs that its home has offered", 8}};
};
template <>
struct Fields<Reservation> {
  static constexpr std::tuple all{
      Field{"id", &Reservation::id, "its id"}, Field{"from", &Reservation::from, "when it begins"},
      Field{"until", &Reservation::until, "when it is over"},
      Field{"nodes", &Reservation::nodes, "indexes of nodes in the cluster file; none where processors are counted"},
      Field{"processors", &Reservation::processors, "so many, where they are counted"}};
};
template <>
struct Fields<PowerDraw> {
  static constexpr std::tuple all{Field{"off", &PowerDraw::off, "milliwatts while it is off", 8},
                                  Field{"idle", &PowerDraw::idle, "while it is on", 8},
                                  Field{"busy", &PowerDraw::busy, "that each busy processor adds", 8},
                                  Field{"accelerator", &PowerDraw::accelerator, "that each busy accelerator adds", 8},
                                  Field{"boot", &PowerDraw::boot, "from the command to the first job", 8},
                                  Field{"shutdown", &PowerDraw::shutdown, "from the command until it is off", 8},
                                  Field{"boot_energy", &PowerDraw::boot_energy, "microjoules; -1: as while idle", 8},
                                  Field{"shutdown_energy", &PowerDraw::shutdown_energy, "the same", 8},
                                  Field{"boot_fails", &PowerDraw::boot_fails, "per mille", 8},
                                  Field{"boot_retry", &PowerDraw::boot_retry, "left alone after a failed boot", 8}};
};
template <>
struct Fields<Node> {
  static constexpr std::tuple all{
      Field{"name", &Node::name, "what it is called", 8},
      Field{"processors", &Node::processors, "that it has; 0: it has gone", 8},
      Field{"memory", &Node::memory, "bytes; 0: not said", 8},
      Field{"partitions", &Node::partitions, "indexes of those that it belongs to", 8},
      Field{"rack", &Node::rack, "where it stands", 8},
      Field{"accelerators", &Node::accelerators, "that it has", 8},
      Field{"accelerator_type", &Node::accelerator_type, "of each of them", 8},
      Field{"accelerator_speed", &Node::accelerator_speed, "per mille", 8},
      Field{"accelerator_link", &Node::accelerator_link, "bytes a second; 0: they take no time", 8},
      Field{"cpu_factor", &Node::cpu_factor, "per mille: how fast it runs jobs", 8},
      Field{"power", &Node::power, "what it draws, and how long it takes to wake", 8}};
};
template <>
struct Fields<RunHistory> {
  static constexpr std::tuple all{Field{"last", &RunHistory::last, "run time of the job that ended last"},
                                  Field{"before_last", &RunHistory::before_last, "and of the one before"},
                                  Field{"runs", &RunHistory::runs, "jobs that have ended"}};
};

// ---- facts

#define ROTA_FACT(Kind, text, from, says)             \
  template <>                                         \
  struct Fields<Kind> {                               \
    using F = Kind;                                   \
    static constexpr std::string_view name = text;    \
    static constexpr Origin origin = Origin::from;    \
    static constexpr std::string_view meaning = says; \
    static constexpr std::tuple all
#define ROTA_FACT_END }

ROTA_FACT(Submitted, "submitted", observed, "a job is known from now on"){
    Field{"job", &F::job, "its id"}, Field{"spec", &F::spec, "what it asks for"},
    Field{"expected", &F::expected, "run time that planning counts on"},
    Field{"bars", &F::bars, "why it is not queued yet"},
    Field{"ahead", &F::ahead, "whether it goes before others of its priority", 7}};
ROTA_FACT_END;
ROTA_FACT(Rejected, "rejected", observed, "a job was submitted that can never run here"){
    Field{"job", &F::job, "its id"}, Field{"spec", &F::spec, "what it asked for"}};
ROTA_FACT_END;
ROTA_FACT(Held, "held", observed, "a job is not to be started until it is released"){
    Field{"job", &F::job, "which"},
    Field{"by", &F::by, "1: its user, 2: an operator, 64: another scheduler, which starts it"}};
ROTA_FACT_END;
ROTA_FACT(Released, "released", observed, "a hold has ended"){
    Field{"job", &F::job, "which"},
    Field{"from", &F::from, "1: its user's, 2: an operator's hold, 64: another scheduler"}};
ROTA_FACT_END;
ROTA_FACT(Amended, "amended", observed, "a job that has not started is to run on other terms"){
    Field{"job", &F::job, "which"}, Field{"terms", &F::terms, "all of them"},
    Field{"processors", &F::processors, "asked in all; 0: these, nodes and memory stay as they are", 5},
    Field{"nodes", &F::nodes, "to spread them over evenly; 0: any spread will do", 5},
    Field{"memory", &F::memory, "bytes asked on each node", 5}};
ROTA_FACT_END;
ROTA_FACT(CancelAsked, "cancel_asked", observed, "a running job is to be stopped"){Field{"job", &F::job, "which"}};
ROTA_FACT_END;
ROTA_FACT(Launched, "launched", observed, "the engine says that the job runs"){
    Field{"job", &F::job, "which"}, Field{"dispatch", &F::dispatch, "of the job; 4294967295: of whichever there is"}};
ROTA_FACT_END;
ROTA_FACT(LaunchFailed, "launch_failed", observed, "the engine could not start the job"){
    Field{"job", &F::job, "which"}, Field{"again", &F::again, "another try can help: it is queued again"},
    Field{"dispatch", &F::dispatch, "of the job; 4294967295: of whichever there is"}};
ROTA_FACT_END;
ROTA_FACT(Overdue, "overdue", observed, "a job has used up the time that was counted on and still runs"){
    Field{"job", &F::job, "which"}, Field{"dispatch", &F::dispatch, "of the job; 4294967295: of whichever there is"}};
ROTA_FACT_END;
ROTA_FACT(Vacated, "vacated", observed, "a job that gave way has left and is back at its place in the queue"){
    Field{"job", &F::job, "which"}, Field{"kept", &F::kept, "run time of this dispatch that need not be done again"},
    Field{"dispatch", &F::dispatch, "of the job; 4294967295: of whichever there is"},
    Field{"use", &F::use, "what this dispatch has used, as far as is known", 8}};
ROTA_FACT_END;
ROTA_FACT(Requeued, "requeued", observed, "a job was killed and is back at the tail of the queue"){
    Field{"job", &F::job, "which"}, Field{"limit", &F::limit, "its new limit"},
    Field{"dispatch", &F::dispatch, "of the job; 4294967295: of whichever there is"},
    Field{"use", &F::use, "what this dispatch has used, as far as is known", 8}};
ROTA_FACT_END;
ROTA_FACT(Finished, "finished", observed, "a job has ended for good"){
    Field{"job", &F::job, "which"}, Field{"outcome", &F::outcome, "how"},
    Field{"dispatch", &F::dispatch, "of the job; 4294967295: of whichever there is"},
    Field{"status", &F::status, "of its process, as waitpid gives it: 256 x exit code, or the signal's number"},
    Field{"use", &F::use, "what this dispatch has used, as far as is known", 8}};
ROTA_FACT_END;
ROTA_FACT(Cancelled, "cancelled", observed, "a job was taken back"){
    Field{"job", &F::job, "which"}, Field{"use", &F::use, "what this dispatch has used, as far as is known", 8}};
ROTA_FACT_END;
ROTA_FACT(PowerChanged, "power_changed", observed, "a node is on, or off"){
    Field{"node", &F::node, "which"}, Field{"state", &F::state, "on or off"},
    Field{"key", &F::key, "of the command that is carried out so; 0: by itself"}};
ROTA_FACT_END;
ROTA_FACT(HealthChanged, "health_changed", observed, "a node may be used, or no longer"){
    Field{"node", &F::node, "which"}, Field{"health", &F::health, "up, draining or down"}};
ROTA_FACT_END;
ROTA_FACT(LicencesCounted, "licences_counted", observed, "what the licence server says"){
    Field{"licence", &F::licence, "which"}, Field{"elsewhere", &F::elsewhere, "used by others than our jobs"}};
ROTA_FACT_END;
ROTA_FACT(Serving, "serving", observed, "a node's accelerators serve jobs on other nodes, or no longer"){
    Field{"node", &F::node, "which"}, Field{"serves", &F::serves, "whether they do"}};
ROTA_FACT_END;
ROTA_FACT(Reserved, "reserved", observed, "nodes or processors are not to be used for a time"){
    Field{"id", &F::id, "its id: 0, 1, 2, ... in the order in which reservations are made"},
    Field{"from", &F::from, "when it begins"}, Field{"until", &F::until, "when it is over, by itself"},
    Field{"nodes", &F::nodes, "indexes of nodes in the cluster file; none where processors are counted"},
    Field{"processors", &F::processors, "so many, where they are counted"}};
ROTA_FACT_END;
ROTA_FACT(Unreserved, "unreserved", observed, "a reservation is taken back"){Field{"id", &F::id, "which"}};
ROTA_FACT_END;
ROTA_FACT(Suspended, "suspended", observed, "a running job is to stand still; that time does not count for its limit"){
    Field{"job", &F::job, "which", 2}, Field{"by", &F::by, "1: its user wants it, 2: an operator", 2}};
ROTA_FACT_END;
ROTA_FACT(Resumed, "resumed", observed, "a suspension has ended; without another one the job goes on"){
    Field{"job", &F::job, "which", 2}, Field{"from", &F::from, "1: its user's, 2: an operator's, 3: both", 2}};
ROTA_FACT_END;
ROTA_FACT(LimitChanged, "limit_changed", observed, "a running job has another time limit"){
    Field{"job", &F::job, "which", 2}, Field{"limit", &F::limit, "asked run time from now on", 2}};
ROTA_FACT_END;
ROTA_FACT(LicencesChanged, "licences_changed", observed, "a job that waits asks for other licences"){
    Field{"job", &F::job, "which", 4}, Field{"licence", &F::licence, "index of the licence that it is to hold", 4},
    Field{"licences", &F::licences, "so many of it", 4},
    Field{"more_licences", &F::more_licences, "that it is to hold beside it, by rising index", 4}};
ROTA_FACT_END;
ROTA_FACT(Described, "described", observed, "a node has come, is another than it was, or has gone"){
    Field{"node", &F::node, "which; the next that there is not: a new one", 8},
    Field{"is", &F::is, "what it is now", 8}};
ROTA_FACT_END;
ROTA_FACT(Surveyed, "surveyed", observed, "the engine has said of everything that had happened by then"){
    Field{"until", &F::until, "then, by its clock", 8}};
ROTA_FACT_END;
ROTA_FACT(Offered, "offered", observed, "a job was submitted here for all sites of the federation"){
    Field{"offer", &F::offer, "as it is to be in the global queue", 8}};
ROTA_FACT_END;
ROTA_FACT(Traded, "traded", observed, "what has become at the exchange of a job for all sites"){
    Field{"offer", &F::offer, "which; all of it where it is won", 8},
    Field{"trade", &F::trade, "what has become of it, as this site knows", 8}};
ROTA_FACT_END;
ROTA_FACT(Found, "found", observed, "a job runs that no plan has started, or elsewhere than was thought"){
    Field{"job", &F::job, "which", 8}, Field{"where", &F::where, "nodes that it holds", 8}};
ROTA_FACT_END;
ROTA_FACT(Opened, "opened", decided, "a controller has taken the state over"){
    Field{"epoch", &F::epoch, "of its commands; those of older epochs are refused"}};
ROTA_FACT_END;
ROTA_FACT(CycleClosed, "cycle_closed", decided, "all that happened before was looked at; what was decided follows"){
    Field{"plan", &F::plan, "hash of the plan; 0: nothing was decided"}};
ROTA_FACT_END;
ROTA_FACT(Eligible, "eligible", decided, "time or another job keeps it from being queued no longer"){
    Field{"job", &F::job, "which"}, Field{"bars", &F::bars, "that remain"}};
ROTA_FACT_END;
ROTA_FACT(Started, "started", decided, "a job holds what it asks for"){
    Field{"job", &F::job, "which"}, Field{"backfilled", &F::backfilled, "ahead of a job that was promised a start"},
    Field{"where", &F::where, "on which nodes"}, Field{"reason", &F::reason, "why"}};
ROTA_FACT_END;
ROTA_FACT(Promised, "promised", decided, "a waiting job is promised a start"){
    Field{"job", &F::job, "which"}, Field{"start", &F::start, "when; never: the promise is withdrawn"},
    Field{"where", &F::where, "set aside for it"}};
ROTA_FACT_END;
ROTA_FACT(Expected, "expected", decided, "the run time that is counted on was corrected"){
    Field{"job", &F::job, "which"}, Field{"expected", &F::expected, "counted on from now on"}};
ROTA_FACT_END;
ROTA_FACT(Extended, "extended", decided, "a job is let go on although its time is up"){
    Field{"job", &F::job, "which"}, Field{"until", &F::until, "when to look again"},
    Field{"reason", &F::reason, "why that harms nobody"}};
ROTA_FACT_END;
ROTA_FACT(Stopped, "stopped", decided, "a job is told to stop"){
    Field{"job", &F::job, "which"}, Field{"reason", &F::reason, "why"},
    Field{"for_good", &F::for_good, "somebody wants it cancelled"}};
ROTA_FACT_END;
ROTA_FACT(Preempted, "preempted", decided, "a job is told to give way to one of higher priority"){
    Field{"job", &F::job, "which"}, Field{"beneficiary", &F::beneficiary, "in whose favour"},
    Field{"until", &F::until, "when it is expected to have left"}};
ROTA_FACT_END;
ROTA_FACT(Migrated, "migrated", decided, "a job is moved to other nodes while it runs"){
    Field{"job", &F::job, "which"}, Field{"where", &F::where, "to which nodes"},
    Field{"kept", &F::kept, "its progress; else it starts over"},
    Field{"expected", &F::expected, "run time counted on from now on; 0: what was left of it, or the limit", 5}};
ROTA_FACT_END;
ROTA_FACT(PowerOrdered, "power_ordered", decided, "a node is told to wake or to go to sleep"){
    Field{"node", &F::node, "which"}, Field{"on", &F::on, "to wake"},
    Field{"until", &F::until, "when that is expected to be over"}, Field{"reason", &F::reason, "why"}};
ROTA_FACT_END;
ROTA_FACT(PowerReviewed, "power_reviewed", decided, "a power rule has looked at everything"){
    Field{"next", &F::next, "wants to look again then although nothing happens"},
    Field{"loads", &F::loads, "that it saw, where it reckons any", 7}};
ROTA_FACT_END;
ROTA_FACT(Replanned, "replanned", decided,
          "a policy that looks at the queue from time to time has done so, or owes that"){
    Field{"tried", &F::tried, "when it last started who could start", 2},
    Field{"walked", &F::walked, "when it did so for the whole queue", 2},
    Field{"planned", &F::planned, "when it last planned everything anew", 2},
    Field{"owes_try", &F::owes_try, "something has happened since it started who could start", 2},
    Field{"owes_plan", &F::owes_plan, "something has happened since it planned everything anew", 2}};
ROTA_FACT_END;
ROTA_FACT(ModeChanged, "mode_changed", decided, "the policy no longer decides, or decides again"){
    Field{"plain", &F::plain, "jobs start in order of the queue, because a plan was refused"}};
ROTA_FACT_END;
ROTA_FACT(StateKept, "state_kept", kept, "counters and lists that no row has"){
    Field{"next_job", &F::next_job, "id of the next job"},
    Field{"next_sequence", &F::next_sequence, "next place in order of arrival"},
    Field{"next_dispatch", &F::next_dispatch, "next place in order of dispatches"},
    Field{"ranked_at", &F::ranked_at, "when orders that vary with time were ranked last"},
    Field{"last_migration", &F::last_migration, "when a job moved last"},
    Field{"releases", &F::releases, "ends and corrections since the last cycle"},
    Field{"counts_decided", &F::counts_decided, "the last cycle was decided by counts"},
    Field{"arrived", &F::arrived, "jobs that came since the last cycle"},
    Field{"overdue", &F::overdue, "jobs that became overdue since then"},
    Field{"gone", &F::gone, "jobs that ended since then"},
    Field{"leaving", &F::leaving, "jobs that were told to give way, in that order"},
    Field{"set_aside_for", &F::set_aside_for, "the job with the latest promise"},
    Field{"set_aside", &F::set_aside, "processors that are set aside for it"},
    Field{"power", &F::power, "of all nodes together"},
    Field{"plain", &F::plain, "jobs start in order of the queue, whatever the policy"},
    Field{"next_reservation", &F::next_reservation, "id of the next reservation"},
    Field{"longest_expected", &F::longest_expected,
          "longest run time counted on of those that have been queued since nobody waited"},
    Field{"first_submit", &F::first_submit, "the first submission of all"},
    Field{"loads", &F::loads, "that a power rule saw when it looked last", 7},
    Field{"surveyed", &F::surveyed, "up to when the engine has said of everything", 8},
    Field{"last_number", &F::last_number, "the highest number of a job so far; -1: the id of the next job", 8},
    Field{"last_offered", &F::last_offered, "serial number that this site gave last to a job for all sites", 8}};
ROTA_FACT_END;
ROTA_FACT(ReservationKept, "reservation_kept", kept,
          "a reservation as it stands"){Field{"row", &F::row, "all that is known of it"}};
ROTA_FACT_END;
ROTA_FACT(JobKept, "job_kept", kept, "a job as it stands"){
    Field{"job", &F::job, "its id"},
    Field{"row", &F::row, "all that is known of it"},
    Field{"where", &F::where, "where it runs"},
    Field{"promised", &F::promised, "what is set aside for it"},
    Field{"processors", &F::processors, "that it holds, where they are listed"},
    Field{"beneficiary", &F::beneficiary, "to whom it gives way"},
    Field{"expected", &F::expected, "what was counted on before it was told to"},
    Field{"terms", &F::terms, "of its own"},
    Field{"has_terms", &F::has_terms, "whether it has any"},
    Field{"request", &F::request, "what it asked for when it was submitted"},
    Field{"amended", &F::amended, "whether that is something else"},
    Field{"never", &F::never, "a job that it waits for can no longer do what is waited for"},
    Field{"due", &F::due, "nobody has looked since a job that it waits for did something"},
    Field{"suspended_at", &F::suspended_at, "since when it is suspended", 2},
    Field{"adjusted", &F::adjusted,
          "number of the latest fact that suspended it, let it go on or changed its limit while it ran", 2}};
ROTA_FACT_END;
ROTA_FACT(MachineKept, "machine_kept", kept, "all nodes as they stand, where facts have described any"){
    Field{"nodes", &F::nodes, "each, by id", 8},
    Field{"accelerator_types", &F::accelerator_types, "their names, by id", 8}};
ROTA_FACT_END;
ROTA_FACT(NodeKept, "node_kept", kept, "a node as it stands"){
    Field{"node", &F::node, "which"},
    Field{"power", &F::power, "its power"},
    Field{"serves", &F::serves, "its accelerators serve jobs on other nodes"},
    Field{"health", &F::health, "its health"},
    Field{"fell_idle", &F::fell_idle, "place in the order in which nodes fell idle"},
    Field{"idle_since", &F::idle_since, "when it fell idle"}};
ROTA_FACT_END;
ROTA_FACT(LicenceKept, "licence_kept", kept, "a licence as it stands"){
    Field{"licence", &F::licence, "which"}, Field{"elsewhere", &F::elsewhere, "used by others than our jobs"}};
ROTA_FACT_END;
ROTA_FACT(UserKept, "user_kept", kept, "what is known of one user's past jobs"){
    Field{"user", &F::user, "number of the user"}, Field{"runs", &F::runs, "of the jobs"},
    Field{"spent", &F::spent,
          "when what he has used lately will have faded to one processor-millisecond, in 1024ths of a millisecond; the "
          "least number: he has used nothing"}};
ROTA_FACT_END;
ROTA_FACT(WorkKept, "work_kept", kept, "what past jobs of one class of sizes used"){
    Field{"size_class", &F::size_class, "power of two of their nodes"},
    Field{"jobs", &F::jobs, "how many"},
    Field{"use", &F::use, "sum of node-milliseconds"},
    Field{"squares", &F::squares, "and of their squares"},
    Field{"longest_limit", &F::longest_limit, "of all classes"},
    Field{"latest", &F::latest, "node-milliseconds of those that ended last, in a ring", 7},
    Field{"drawn", &F::drawn, "node-milliseconds of those that were drawn at random", 7}};
ROTA_FACT_END;
ROTA_FACT(DemandKept, "demand_kept", kept, "what was asked for lately"){
    Field{"lately", &F::lately, "processors, those long past counting less"}, Field{"latest", &F::latest, "as of then"},
    Field{"open", &F::open, "number of the window that is being added up"}, Field{"asked", &F::asked, "in it"}};
ROTA_FACT_END;
ROTA_FACT(DemandHourKept, "demand_hour_kept", kept, "what was asked for in one hour of the week"){
    Field{"hour", &F::hour, "of the week"}, Field{"week", &F::week, "when it was last brought up to date"},
    Field{"windows", &F::windows, "windows by the power of two of what they asked for"}};
ROTA_FACT_END;

#undef ROTA_FACT
#undef ROTA_FACT_END
// NOLINTEND(readability-identifier-naming)

}  // namespace rota
