// What the world says is checked against the state before it is folded in. It may come late, twice, out of order, or
// about what is not there: each is a sentence, never the end of the process.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/text.h"
#include "model/cluster.h"
#include "model/never_fits.h"

namespace rota {
namespace {

constexpr std::int64_t kMostLicences = UINT32_MAX;

std::string named(const Job& job) { return "job " + std::to_string(job.spec.number); }

// No log, clock or sum of durations comes so far.
bool is_beyond(Instant at) { return at < kEpoch - kLongest || at > kEpoch + 4 * kLongest; }

const char* state_of(const Job& job) {
  switch (job.state) {
    case JobState::waiting:
      return "waits";
    case JobState::running:
      if (job.suspended() && job.settled()) return "is suspended";
      return job.stopping ? "is being stopped" : job.leaving ? "is leaving" : job.starting ? "is starting" : "runs";
    case JobState::barred:
      return "is held or not eligible";
    case JobState::rejected:
      return "was rejected";
    case JobState::cancelled:
      return "was cancelled";
    default:
      return "has ended";
  }
}

std::string is_in_vain(const Job& job, const char* verb) {
  return fmt::format("{} is {}, and it {}; nothing was changed.", named(job), verb, state_of(job));
}

}  // namespace

std::optional<std::string> Cluster::unknown(JobId job, const char* verb) const {
  if (knows(job)) return std::nullopt;
  return fmt::format(
      "the job with id {} is {}, and there is none: it has ended before or was never submitted; nothing was changed.",
      job.value, verb);
}

std::optional<std::string> Cluster::unknown(NodeId node) const {
  if (node.value < nodes_.size()) return std::nullopt;
  return fmt::format("something is said of the node with id {}, and the cluster has {}; nothing was changed.",
                     node.value, amount(static_cast<std::int64_t>(nodes_.size()), "described node"));
}

std::optional<std::string> Cluster::not_running(JobId id, const char* verb) const {
  const Job* job = find_job(id);
  if (job && job->state == JobState::running) return std::nullopt;
  return job ? is_in_vain(*job, verb) : unknown(id, verb);
}

std::string Cluster::of_another_run(JobId id, const char* verb) const {
  return fmt::format("{} is {}, which is about a dispatch that is over; nothing was changed.", named(job(id)), verb);
}

std::optional<std::string> Cluster::objection(const CancelAsked& fact) const {
  if (auto why = not_running(fact.job, "cancelled")) return why;
  return job(fact.job).cancelling ? std::optional(is_in_vain(job(fact.job), "cancelled")) : std::nullopt;
}

std::optional<std::string> Cluster::not_waiting(JobId id, const char* verb) const {
  if (!knows(id)) return unknown(id, verb);
  const bool waits = job(id).state == JobState::waiting || job(id).state == JobState::barred;
  return waits ? std::nullopt : std::optional(is_in_vain(job(id), verb));
}

std::optional<std::string> Cluster::objection(const Submitted& fact) const {
  if (is_beyond(fact.spec.submit) || fact.expected <= Duration{0} || fact.expected > kLongest) {
    return "a job is submitted with times that cannot be.";
  }
  if (const auto why = cannot_be(fact.spec, fact.bars)) return fmt::format("job {} {}.", fact.spec.number, *why);
  if ((fact.bars & kNotOurs) == 0 && !has_share(fact.spec))
    return fmt::format("the user of job {} has no share.", fact.spec.number);
  return objection_to_id(fact.job);
}

std::optional<std::string> Cluster::objection_to_id(JobId job) const {
  if (job == next_job_) return std::nullopt;
  return fmt::format("a job is submitted with id {}, and the next id is {}; nothing was changed.", job.value,
                     next_job_.value);
}

std::optional<std::string> Cluster::objection(const Rejected& fact) const { return objection_to_id(fact.job); }

std::optional<std::string> Cluster::objection(const Held& fact) const {
  if ((fact.by & ~kUntilLifted) != 0 || fact.by == kNoBars) return "a job is held by no user; nothing was changed.";
  return not_waiting(fact.job, "held");
}

std::optional<std::string> Cluster::objection(const Released& fact) const {
  if (auto why = not_waiting(fact.job, "released")) return why;
  return (job(fact.job).bars & fact.from & kUntilLifted) != 0
             ? std::nullopt
             : std::optional(named(job(fact.job)) + " is released and was not held; nothing was changed.");
}

std::optional<std::string> Cluster::objection(const Amended& fact) const {
  if (auto why = not_waiting(fact.job, "amended")) return why;
  JobSpec amended = job(fact.job).spec;
  fact.amend(amended);
  return objection_to_terms(fact.job, amended, fact.terms);
}

std::optional<std::string> Cluster::cannot_run(const JobSpec& spec) const {
  if (auto why = makes_no_sense(spec)) return why;
  if (const auto all = options_.processors; spec.processors > all)
    return fmt::format("asks for {}; the cluster has {}", amount(spec.processors, "processor"), grouped(all));
  if (auto why = limits_.use().never_fits(spec)) return why;
  return options_.machine ? never_fits(*options_.machine, spec) : std::nullopt;
}

std::optional<std::string> Cluster::makes_no_sense(const JobSpec& spec) const {
  if (spec.processors == 0) return "asks for no processors";
  if (spec.limit <= Duration{0} || spec.limit > kLongest) return "asks for no time to run, or too much";
  if (reservations_.was_never(spec)) return "asks for a reservation that was never made";
  const Machine* machine = options_.machine;
  if (!machine) return std::nullopt;
  const bool there =
      (!spec.partition.valid() || spec.partition.value < machine->partitions.size()) &&
      licences_in_order(spec, machine->licences.size()) &&
      (!spec.accelerator_type.valid() || spec.accelerator_type.value < machine->accelerator_types.size()) &&
      (!spec.qos.valid() || spec.qos.value < machine->qos.size());
  if (!there) return "asks for a partition, licence, QOS or type of accelerator that the cluster does not have";
  return spec.node_wish ? senseless_wish(spec, *machine) : std::nullopt;
}

std::optional<std::string> Cluster::objection_to_terms(JobId id, const JobSpec& spec, const JobTerms& terms) const {
  const std::string name = "job " + std::to_string(spec.number);
  if (terms.limit <= Duration{0} || terms.limit > kLongest) {
    return name + " is to have no time to run, or too much; give a limit above 0.";
  }
  const PartitionId partition = terms.partition;
  if (partition.valid() && (!options_.machine || partition.value >= options_.machine->partitions.size())) {
    return name + " is to go to a partition that the cluster does not have; nothing was changed.";
  }
  JobSpec amended = spec;
  amended.limit = terms.limit;
  amended.partition = partition;
  if (const auto why = cannot_be(amended, knows(id) ? job(id).bars : kNoBars))
    return fmt::format("{} {}; nothing was changed.", name, *why);
  const JobTerms* own = eligibility_.terms(id);
  if (own && own->after == terms.after && own->any == terms.any)
    return std::nullopt;  // perhaps for one that failed, and is gone
  for (const Dependency& d : terms.after) {
    if (d.on == id) return name + " is to wait for itself; nothing was changed.";
    if (auto why = unknown(d.on, "waited for")) return why;
    if (job(d.on).gone()) return is_in_vain(job(d.on), "waited for");
  }
  if (knows(id) && wait_for(terms.after, id))
    return name + " is to wait for itself, by way of others; nothing was changed.";
  return std::nullopt;
}

// Whether one of these waits for the job, or for one that does, and so on.
bool Cluster::wait_for(const std::vector<Dependency>& some, JobId id) const {
  std::vector<Dependency> open = some;
  std::set<JobId> seen;
  while (!open.empty()) {
    const JobId on = open.back().on;
    open.pop_back();
    if (on == id) return true;
    const JobTerms* terms = eligibility_.terms(on);
    if (terms && seen.insert(on).second) open.insert(open.end(), terms->after.begin(), terms->after.end());
  }
  return false;
}

std::optional<std::string> Cluster::not_settled(JobId id, const char* verb) const {
  if (auto why = not_running(id, verb)) return why;
  return job(id).settled() ? std::nullopt : std::optional(is_in_vain(job(id), verb));
}

std::optional<std::string> Cluster::objection(const Suspended& fact) const {
  if (auto why = not_settled(fact.job, "suspended")) return why;
  if (fact.by != kHeldByUser && fact.by != kHeldByOperator) return "no user asked for a job to be suspended.";
  const Job& job = this->job(fact.job);
  return (job.suspended_by & fact.by) == 0 ? std::nullopt : std::optional(is_in_vain(job, "suspended"));
}

std::optional<std::string> Cluster::objection(const Resumed& fact) const {
  if (auto why = not_settled(fact.job, "resumed")) return why;
  const Job& job = this->job(fact.job);
  return (job.suspended_by & fact.from) != 0 ? std::nullopt : std::optional(is_in_vain(job, "resumed"));
}

std::optional<std::string> Cluster::objection(const LicencesChanged& fact) const {
  if (auto why = not_waiting(fact.job, "given other licences")) return why;
  JobSpec changed = job(fact.job).spec;
  copy_licences(fact, changed);
  if (!options_.machine && changed.licence.valid()) return "licences are asked for that the cluster does not have.";
  if (const auto why = cannot_run(changed))
    return fmt::format("{} {}; nothing was changed.", named(job(fact.job)), *why);
  return std::nullopt;
}

std::optional<std::string> Cluster::objection(const LimitChanged& fact) const {
  if (auto why = not_settled(fact.job, "given another limit")) return why;
  const Job& job = this->job(fact.job);
  if (fact.limit <= Duration{0} || fact.limit > kLongest)
    return named(job) + " is to have no time to run, or too much; give a limit above 0.";
  if (options_.shared) return std::nullopt;
  JobSpec amended = job.spec;
  amended.limit = fact.limit;
  if (const auto why = cannot_run(amended)) return fmt::format("{} {}; nothing was changed.", named(job), *why);
  if (job.done + (now_ - job.start - stood(fact.job)) < fact.limit) return std::nullopt;
  return named(job) + " has run for longer than that already; cancel it to end it. Nothing was changed.";
}

std::optional<std::string> Cluster::objection(const Launched& fact) const {
  if (auto why = not_of_its_run(fact, "said to run")) return why;
  return job(fact.job).starting ? std::nullopt : std::optional(is_in_vain(job(fact.job), "said to run"));
}

std::optional<std::string> Cluster::objection(const LaunchFailed& fact) const {
  if (auto why = not_of_its_run(fact, "said not to have started")) return why;
  return job(fact.job).starting ? std::nullopt : std::optional(is_in_vain(job(fact.job), "said not to have started"));
}

std::optional<std::string> Cluster::objection(const Overdue& fact) const {
  if (auto why = not_of_its_run(fact, "said to be overdue")) return why;
  const Job& job = this->job(fact.job);
  if (job.expected_end() > now_)
    return named(job) + " is said to be overdue, and it has time left; nothing was changed.";
  const bool known = std::find(overdue_.begin(), overdue_.end(), fact.job) != overdue_.end();
  return known ? std::optional(named(job) + " is said to be overdue, and that is known; nothing was changed.")
               : std::nullopt;
}

std::optional<std::string> Cluster::objection(const Vacated& fact) const {
  if (auto why = not_of_its_run(fact, "said to have given way")) return why;
  const Job& job = this->job(fact.job);
  if (!job.leaving) return is_in_vain(job, "said to have given way");
  const bool possible = fact.kept >= Duration{0} && fact.kept <= now_ - job.start;
  return possible
             ? std::nullopt
             : std::optional(named(job) + " is said to keep more work than it can have done; nothing was changed.");
}

std::optional<std::string> Cluster::objection(const Requeued& fact) const {
  if (auto why = not_of_its_run(fact, "queued again")) return why;
  if (fact.limit > Duration{0} && fact.limit <= kLongest) return std::nullopt;
  return named(job(fact.job)) + " is queued again with no time to run, or too much; nothing was changed.";
}

std::optional<std::string> Cluster::objection(const Cancelled& fact) const {
  if (auto why = unknown(fact.job, "cancelled")) return why;
  return job(fact.job).gone() ? std::optional(is_in_vain(job(fact.job), "cancelled")) : std::nullopt;
}

std::optional<std::string> Cluster::objection(const PowerChanged& fact) const {
  if (auto why = unknown(fact.node)) return why;
  const std::string name = "node " + options_.machine->nodes[fact.node.value].name;
  const PowerState before = power_.state(fact.node);
  if (fact.state != PowerState::on && fact.state != PowerState::off) {
    return name + " is said to be on its way, which only who ordered it can know; nothing was changed.";
  }
  if (fact.state == before) return name + " is said to be what it is already; nothing was changed.";
  if (fact.key != 0 && fact.key != power_.row(fact.node).command) {
    return name + " is said to have carried out what has been followed by another command; nothing was changed.";
  }
  if (before == PowerState::on && !nodes_.idle(fact.node) && !options_.shared) {
    return name + " is said to be off while jobs run there; what became of these must be said first.";
  }
  return std::nullopt;
}

std::optional<std::string> Cluster::objection(const HealthChanged& fact) const {
  if (auto why = unknown(fact.node)) return why;
  if (fact.health != power_.health(fact.node)) return std::nullopt;
  return fmt::format("node {} is said to be what it is already; nothing was changed.",
                     options_.machine->nodes[fact.node.value].name);
}

std::optional<std::string> Cluster::objection(const LicencesCounted& fact) const {
  const std::size_t licences = options_.machine ? options_.machine->licences.size() : 0;
  if (fact.licence.value >= licences)
    return "licences are counted that the cluster does not have; nothing was changed.";
  if (fact.elsewhere >= 0 && fact.elsewhere <= kMostLicences) return std::nullopt;
  return fmt::format("of licence {} fewer than none or too many are counted; nothing was changed.",
                     options_.machine->licences[fact.licence.value].name);
}

std::optional<std::string> Cluster::objection(const Serving& fact) const { return unknown(fact.node); }

std::optional<std::string> Cluster::objection(const Eligible& fact) const {
  if (auto why = unknown(fact.job, "made eligible")) return why;
  return job(fact.job).state == JobState::barred ? std::nullopt
                                                 : std::optional(is_in_vain(job(fact.job), "made eligible"));
}

std::optional<std::string> Cluster::objection_to_place(const Placement& where) const {
  if (nodes_.counted()) {
    return where.shares.empty() ? std::nullopt
                                : std::optional<std::string>("a job has nodes where none are described.");
  }
  std::vector<NodeId> nodes;
  for (const Share& s : where.shares) {
    if (auto why = unknown(s.node)) return why;
    nodes.push_back(s.node);
  }
  std::sort(nodes.begin(), nodes.end());
  if (std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end()) return "a job has a node twice.";
  if (!licences_in_order(where, nodes_.licences().size())) return "a job holds a licence that is not there.";
  return std::nullopt;
}

std::optional<std::string> Cluster::objection(const Started& fact) const {
  if (auto why = unknown(fact.job, "started")) return why;
  const Job& job = this->job(fact.job);
  if (job.state != JobState::waiting) return is_in_vain(job, "started");
  if (auto why = objection_to_place(fact.where)) return why;
  const bool fits = nodes_.counted() ? job.spec.processors <= free() : nodes_.fits(fact.where);
  return fits ? std::nullopt : std::optional(named(job) + " is started where there is no room for it.");
}

std::optional<std::string> Cluster::objection(const Found& fact) const {
  const bool runs = knows(fact.job) && job(fact.job).state == JobState::running;
  if (runs && job(fact.job).leaving) return is_in_vain(job(fact.job), "found to run elsewhere");
  if (auto why = runs ? std::nullopt : not_waiting(fact.job, "found to run")) return why;
  if (nodes_.counted() || (fact.where.shares.empty() && !options_.shared))
    return named(job(fact.job)) + " is found to run on no node that is described; nothing was changed.";
  return objection_to_place(fact.where);
}

std::optional<std::string> Cluster::objection(const Surveyed& fact) const {
  return is_beyond(fact.until) || fact.until < surveyed_
             ? std::optional<std::string>("the engine is said to have told less than it has; nothing was changed.")
             : std::nullopt;
}

std::optional<std::string> Cluster::objection(const TasksAsked& fact) const {
  if (auto why = unknown(fact.job, "said to have tasks")) return why;
  if (job(fact.job).gone()) return is_in_vain(job(fact.job), "said to have tasks");
  if (nodes_.counted()) return "a job has tasks for accelerators where no nodes are described; nothing was changed.";
  return bindings_.objection(fact);
}

std::optional<std::string> Cluster::objection(const Bound& fact) const {
  if (fact.job.valid()) {
    if (auto why = not_running(fact.job, "bound to accelerators")) return why;
  }
  for (const NodeId node : {fact.node, fact.to}) {
    if (auto why = unknown(node)) return why;
  }
  return bindings_.objection(*options_.machine, fact);
}

std::optional<std::string> Cluster::objection(const Unbound& fact) const {
  if (fact.node.valid()) {
    for (const NodeId node : {fact.node, fact.from}) {
      if (auto why = unknown(node)) return why;
    }
  }
  if (!options_.machine) return "accelerators are unbound where no nodes are described; nothing was changed.";
  return bindings_.objection(*options_.machine, fact);
}

std::optional<std::string> Cluster::objection(const Promised& fact) const {
  if (auto why = unknown(fact.job, "promised a start")) return why;
  if (job(fact.job).state != JobState::waiting) return is_in_vain(job(fact.job), "promised a start");
  return objection_to_place(fact.where);
}

std::optional<std::string> Cluster::objection(const Preempted& fact) const {
  if (auto why = not_running(fact.job, "told to give way")) return why;
  const Job& job = this->job(fact.job);
  return job.steady() ? std::nullopt : std::optional(is_in_vain(job, "told to give way"));
}

std::optional<std::string> Cluster::objection(const Migrated& fact) const {
  if (auto why = not_running(fact.job, "moved")) return why;
  const Job& job = this->job(fact.job);
  if (!job.steady() || nodes_.counted()) return is_in_vain(job, "moved");
  if (fact.expected < Duration{0} || fact.expected > kLongest) return "it expects what cannot be.";
  if (auto why = objection_to_place(fact.where)) return why;
  Placement beside_licences = fact.where;
  forget_licences(beside_licences);
  return nodes_.fits(beside_licences) ? std::nullopt
                                      : std::optional(named(job) + " is moved where there is no room for it.");
}

std::optional<std::string> Cluster::objection(const PowerOrdered& fact) const {
  if (auto why = unknown(fact.node)) return why;
  const PowerState wanted = fact.on ? PowerState::off : PowerState::on;
  const bool possible = power_.state(fact.node) == wanted && (fact.on || nodes_.idle(fact.node));
  if (possible) return std::nullopt;
  return fmt::format("node {}{}", options_.machine->nodes[fact.node.value].name,
                     fact.on ? " is to wake, and it is not off; nothing was changed."
                             : " is to go to sleep, and it is not on, or jobs run there; nothing was changed.");
}

std::optional<std::string> Cluster::objection(const CycleClosed& /*fact*/) const {
  std::vector<JobId> gone = gone_;
  std::sort(gone.begin(), gone.end());
  const bool sound = std::all_of(gone.begin(), gone.end(), [&](JobId id) { return knows(id) && job(id).gone(); }) &&
                     std::adjacent_find(gone.begin(), gone.end()) == gone.end();
  return sound ? std::nullopt
               : std::optional<std::string>("jobs are to be forgotten that are not there or have not ended.");
}

std::optional<std::string> Cluster::objection(const StateKept& fact) const {
  if (next_job_ != JobId{0}) return "a snapshot begins where there is a state already.";
  const auto there = [&](std::uint32_t p) { return p < map_.size(); };
  if (options_.list_processors && !std::ranges::all_of(fact.set_aside, there))
    return "a processor is set aside that is not there.";
  if (fact.longest_expected < Duration{0}) return "a run time is counted on that cannot be.";
  return std::nullopt;
}

std::optional<std::string> Cluster::objection(const JobKept& fact) const {
  if (knows(fact.job)) return "a job is kept twice.";
  if (fact.job.value >= next_job_.value) return "a job is kept whose id was not given yet.";
  const Job& row = fact.row;
  const bool runs = row.state == JobState::running, ours = row.ours() && !options_.shared && own_machine_ == nullptr;
  const auto why = ours ? cannot_run(row.spec) : makes_no_sense(row.spec);
  if (!row.gone() && why && !(runs && why == limits_.use().never_fits(row.spec)))  // a limit is tighter since
    return fmt::format("job {} is kept that can never run here: it {}.", row.spec.number, *why);
  if (is_beyond(row.spec.submit) || row.expected < Duration{0} || row.expected > kLongest)
    return "a job is kept with times that cannot be.";
  if (row.ours() && !has_share(row.spec)) return "a job is kept whose user has no share.";
  if (!runs && (row.leaving || row.starting || row.stopping)) return "a job is kept that stops and does not run.";
  if (row.suspended() != (fact.suspended_at != kNever) || (row.suspended() && !runs) ||
      (row.suspended() && (fact.suspended_at > now_ || fact.adjusted == 0)))
    return "a job is kept as suspended and does not run, or it is not said since when.";
  const Duration most_stood = row.suspended() ? 4 * kStandsStill : 3 * kStandsStill;
  if (row.stood < Duration{0} || row.stood > most_stood) return "a job is kept that stood still longer than can be.";
  if (row.state != JobState::waiting && row.promise != kNever) return "a job is kept with a promise and does not wait.";
  if (runs && (is_beyond(row.start) || std::find(gone_.begin(), gone_.end(), fact.job) != gone_.end())) {
    return "a job is kept that runs and has not started, or has ended.";
  }
  if (fact.row.state == JobState::waiting) return objection_to_place(fact.promised);
  return fact.row.state == JobState::running ? objection_to_row(fact) : std::nullopt;
}

std::optional<std::string> Cluster::objection_to_row(const JobKept& fact) const {
  if (auto why = objection_to_place(fact.where)) return why;
  Placement where = fact.where;
  const bool fits = std::all_of(where.shares.begin(), where.shares.end(), [&](const Share& s) {
    return nodes_.free_on(s.node) >= s.processors && nodes_.per_node_on(s.node).covers(where.per_node);
  });
  if (!fits && !options_.shared) return "a job is kept where there is no room for it.";
  const auto is_it = [&](const Leaving& l) { return l.job == fact.job; };
  if (fact.row.leaving && std::none_of(leaving_.begin(), leaving_.end(), is_it))
    return "a job leaves that is in no list.";
  if (!nodes_.counted() && fact.where.shares.empty() && !options_.shared) return "a job runs nowhere.";
  const bool counts = nodes_.counted() && !options_.presume_ended;  // else some may be held twice for a moment
  if (counts && fact.row.spec.processors > options_.processors - running_.processors()) {
    return "more processors are held than there are.";
  }
  for (std::size_t i = 0; options_.list_processors && i < fact.processors.size(); ++i) {
    const std::uint32_t p = fact.processors[i];
    const bool rises = i == 0 || fact.processors[i - 1] < p;
    if (!rises || p >= map_.size() || map_.owner(p).valid()) return "a job holds a processor that it cannot have.";
  }
  return std::nullopt;
}

std::optional<std::string> Cluster::objection(const Fact& fact) {
  if (fact.at < now_) return "it is older than the one before it.";
  if (is_beyond(fact.at)) return "its time cannot be.";
  advance(fact.at);
  if (fact.sequence < sequence_) return "its number is lower than that of the one before it.";
  return std::visit(
      [&](const auto& what) -> std::optional<std::string> {
        if constexpr (requires { objection(what); }) {
          return objection(what);
        } else if constexpr (requires { what.row; }) {
          return std::nullopt;
        } else if constexpr (requires { what.expected; }) {
          const bool possible = what.expected > Duration{0} && what.expected <= 4 * kLongest;
          return possible ? not_running(what.job, "decided upon")
                          : std::optional<std::string>("it expects what cannot be.");
        } else if constexpr (requires { what.job; }) {
          return not_running(what.job, "decided upon");
        } else if constexpr (requires { what.node; }) {
          return unknown(what.node);
        } else if constexpr (requires { what.elsewhere; }) {
          return objection(LicencesCounted{what.licence, what.elsewhere});
        } else {
          return std::nullopt;
        }
      },
      fact.what);
}

}  // namespace rota
