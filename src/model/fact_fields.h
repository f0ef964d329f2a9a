// The one table of all facts and their fields: names, meanings, and since which version of the journal they are there.
// The codec, JSON lines for people and the documentation are made from it; nothing else lists fields of facts.
//
// A field is found by its place in its list in the binary journal and by its name in JSON: append, never reorder. What
// an older journal does not have keeps the value that the struct gives it.
#pragma once

#include "model/part_fields.h"

namespace rota {

// NOLINTBEGIN(readability-identifier-naming): members of tables go by plain names

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
    Field{"trade", &F::trade, "what has become of it, as this site knows", 8},
    Field{"number", &F::number, "that it has among this site's jobs, where it is won; 0: that of the offer", 9}};
ROTA_FACT_END;
ROTA_FACT(EndedElsewhere, "ended_elsewhere", observed,
          "a job that was submitted here for all sites has run to its end at another one"){
    Field{"job", &F::job, "which", 9}, Field{"site", &F::site, "where it ran", 9},
    Field{"start", &F::start, "when it started there", 9}, Field{"outcome", &F::outcome, "how it ended", 9},
    Field{"status", &F::status, "of its process, as waitpid(2) gives it", 9}};
ROTA_FACT_END;
ROTA_FACT(Found, "found", observed, "a job runs that no plan has started, or elsewhere than was thought"){
    Field{"job", &F::job, "which", 8}, Field{"where", &F::where, "nodes that it holds", 8}};
ROTA_FACT_END;
ROTA_FACT(TasksAsked, "tasks_asked", observed, "a job wants tasks computed by accelerators or CPUs"){
    Field{"job", &F::job, "which", 8}, Field{"tasks", &F::tasks, "all of them", 8},
    Field{"left", &F::left, "so many are not done", 8},
    Field{"on_cpus", &F::on_cpus,
          "how long the job runs without accelerators, where its tasks do not say what one takes there", 8}};
ROTA_FACT_END;
ROTA_FACT(Bound, "bound", observed, "tasks of a node go to the accelerators of another node from now on"){
    Field{"node", &F::node, "whose", 8}, Field{"to", &F::to, "whose accelerators", 8},
    Field{"job", &F::job, "only those of this job; none: of all, in place of an earlier binding of the node", 8},
    Field{"processors", &F::processors, "so many of the job's there, each by itself; 0: the node as a whole", 8}};
ROTA_FACT_END;
ROTA_FACT(Unbound, "unbound", observed, "tasks of a node no longer go to the accelerators of another node"){
    Field{"node", &F::node, "whose; none: of all nodes of the job", 8},
    Field{"from", &F::from, "whose accelerators", 8}, Field{"job", &F::job, "only those of this job; none: of all", 8},
    Field{"processors", &F::processors, "so many fewer of the job's there; 0: all", 8}};
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
    Field{"reason", &F::reason, "why that harms no other job"}};
ROTA_FACT_END;
ROTA_FACT(Stopped, "stopped", decided, "a job is told to stop"){
    Field{"job", &F::job, "which"}, Field{"reason", &F::reason, "why"},
    Field{"for_good", &F::for_good, "whether it is to be cancelled"}};
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
    Field{"tried", &F::tried,
          "when it last started what could start; in the future: before that it would start nothing", 2},
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
          "longest run time counted on of those that have been queued since no job waited"},
    Field{"first_submit", &F::first_submit, "the first submission of all"},
    Field{"loads", &F::loads, "that a power rule saw when it looked last", 7},
    Field{"surveyed", &F::surveyed, "up to when the engine has said of everything", 8},
    Field{"last_number", &F::last_number, "the highest number of a job so far; -1: the id of the next job", 8},
    Field{"last_offered", &F::last_offered, "serial number that this site gave last to a job for all sites", 8},
    Field{"last_news", &F::last_news, "when plans last had anything new to go by", 8}};
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
    Field{"due", &F::due, "not looked at since a job that it waits for did something"},
    Field{"suspended_at", &F::suspended_at, "since when it is suspended", 2},
    Field{"adjusted", &F::adjusted,
          "number of the latest fact that suspended it, let it go on or changed its limit while it ran", 2}};
ROTA_FACT_END;
ROTA_FACT(MachineKept, "machine_kept", kept, "all nodes as they stand, where facts have described any"){
    Field{"nodes", &F::nodes, "each, by id", 8},
    Field{"accelerator_types", &F::accelerator_types, "their names, by id", 8},
    Field{"features", &F::features, "their names, by id", 8}};
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
          "least number: he has used nothing"},
    Field{"owed", &F::owed, "likewise, of what counts from the end of the period on", 9}};
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
