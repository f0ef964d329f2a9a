// Names and fields of what facts are made of (model/fact_fields.h): jobs, placements, nodes, reasons. A field is found
// by its place in its list in the binary journal and by its name in JSON: append, never reorder.
#pragma once

#include "model/fact.h"
#include "model/fields.h"

namespace rota {

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
  static constexpr std::array<std::string_view, 18> names{
      "head_fits",     "skipped_ahead",     "ends_before_promise", "beside_promise", "planned",
      "promise_due",   "outranked",         "faster_node",         "harms_nobody",   "job_waits",
      "promise_rests", "keeps_warm",        "load_is_high",        "load_is_low",    "idle_for_long",
      "rule_is_gone",  "passes_unforeseen", "within_reservation"};
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
struct Fields<NodeWish> {
  static constexpr std::tuple all{
      Field{"features", &NodeWish::features, "sums of 2^feature: a node has all of one of these; none: any will do", 8},
      Field{"among", &NodeWish::among, "all the nodes that it gets, by rising index; none: any will do", 8},
      Field{"without", &NodeWish::without, "nodes that it does not get, by rising index", 8},
      Field{"reservation", &NodeWish::reservation, "id of the one that it runs in; -1: none", 9}};
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
      Field{"qos", &JobSpec::qos, "index in the cluster file", 4},
      Field{"node_wish", &JobSpec::node_wish, "which nodes it may use", 8}};
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
struct Fields<TaskSpec> {
  static constexpr std::tuple all{
      Field{"count", &TaskSpec::count, "so many, all alike", 8},
      Field{"accelerator", &TaskSpec::accelerator, "what one takes on an accelerator of speed 1", 8},
      Field{"cpu", &TaskSpec::cpu, "on a node of CPU factor 1; 0: not said", 8},
      Field{"start_up", &TaskSpec::start_up, "before the first one, at every start of the job", 8},
      Field{"transfer", &TaskSpec::transfer, "bytes to an accelerator of another node, and as many back", 8},
      Field{"limit", &TaskSpec::limit, "on a CPU: then it is done again on another one; 0: none", 8}};
};
template <>
struct Fields<Offer> {
  static constexpr std::tuple all{
      Field{"spec", &Offer::spec, "what it asks for", 8},
      Field{"home", &Offer::home, "site where it was submitted", 8},
      Field{"data", &Offer::data, "site where its input lies", 8},
      Field{"submitted", &Offer::submitted, "to the global queue", 8},
      Field{"serial", &Offer::serial, "number among the jobs that its home has offered", 8},
      Field{"request", &Offer::request, "what it asks for by names, where sites differ", 9}};
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
      Field{"power", &Node::power, "what it draws, and how long it takes to wake", 8},
      Field{"features", &Node::features, "that it has: a sum of 2^feature", 8}};
};
template <>
struct Fields<RunHistory> {
  static constexpr std::tuple all{Field{"last", &RunHistory::last, "run time of the job that ended last"},
                                  Field{"before_last", &RunHistory::before_last, "and of the one before"},
                                  Field{"runs", &RunHistory::runs, "jobs that have ended"}};
};

// NOLINTEND(readability-identifier-naming)

}  // namespace rota
