#include "rehearse/rehearse.h"

#include <algorithm>

#include "base/cpu_time.h"
#include "base/hash.h"
#include "control/load_log.h"
#include "control/start_log.h"
#include "model/never_fits.h"
#include "model/share_tree.h"
#include "rehearse/recorded.h"
#include "rehearse/rehearse_sites.h"
#include "report/reserved.h"

namespace rota {
namespace {

// On how many nodes jobs ran last.
class NodeCounts final : public FactObserver {
 public:
  std::uint64_t wants() const override { return FactKinds::bit<Started>() | FactKinds::bit<Migrated>(); }
  void fact_recorded(const View& /*before*/, const FactRef& fact) override {
    if (const auto* started = std::get_if<const Started*>(&fact.what)) note((*started)->job, (*started)->where);
    if (const auto* migrated = std::get_if<const Migrated*>(&fact.what)) note((*migrated)->job, (*migrated)->where);
  }
  std::uint32_t of(JobId job) const { return job.value < counts_.size() ? counts_[job.value] : 1; }

 private:
  void note(JobId job, const Placement& where) {
    if (job.value >= counts_.size()) counts_.resize(job.value + 1, 1);
    counts_[job.value] = static_cast<std::uint32_t>(where.shares.size());
  }
  std::vector<std::uint32_t> counts_;
};

// Adds every job up as it leaves, and keeps it where that is wanted.
class Collector final : public JobSink {
 public:
  Collector(const log::Workload& workload, const RehearseOptions& options)
      : workload_(workload), options_(options), jobs_(options.keep_jobs ? workload.jobs.size() : 0) {}
  void job_gone(JobId id, const Job& job) override {
    if (options_.beside != nullptr) options_.beside->job_gone(id, job);
    if (id.value >= workload_.warm_up) add_beside_recorded(tally_, {job, node_counts_.of(id)}, workload_, id.value);
    if (!jobs_.empty()) {
      jobs_[id.value] = job;
      jobs_[id.value].spec.limit = limit_of(workload_, id.value, options_);
    }
    if (job.state == JobState::rejected && !first_rejected_ && id.value >= workload_.warm_up)
      first_rejected_ = job.spec;
  }
  std::vector<Job> take_jobs() { return std::move(jobs_); }
  report::Tally& tally() { return tally_; }
  NodeCounts& node_counts() { return node_counts_; }
  const std::optional<JobSpec>& first_rejected() const { return first_rejected_; }

 private:
  const log::Workload& workload_;
  const RehearseOptions& options_;
  report::Tally tally_;
  NodeCounts node_counts_;
  std::optional<JobSpec> first_rejected_;
  std::vector<Job> jobs_;  // in order of submission
};

// Rings at the instants at which the watch is to be told what nodes have drawn. It changes nothing of the rehearsal.
class MeterReader final : public Alarm {
 public:
  MeterReader(Beside& beside, const Machine& metered, sim::Rehearsal& rehearsal)
      : beside_(beside), metered_(metered), rehearsal_(rehearsal), readings_(beside.readings()) {
    set_next();
  }
  void ring() override {
    read();
    set_next();
  }
  // At the end: what was not reached is as it is then.
  void finish() {
    while (next_ <= readings_.size()) read();
  }

 private:
  void read() { beside_.drew(next_++, *power_use(rehearsal_.consumption(), &metered_)); }
  void set_next() {
    if (next_ < readings_.size()) rehearsal_.loop().set(*this, readings_[next_]);
  }

  Beside& beside_;
  const Machine& metered_;
  sim::Rehearsal& rehearsal_;
  std::vector<Instant> readings_;
  std::size_t next_ = 0;
};

// `metered`: the machine, if its nodes are metered.
Result<void> run_watched(sim::Rehearsal& rehearsal, const RehearseOptions& options, const Machine* metered) {
  std::optional<MeterReader> reader;
  if (options.beside != nullptr && metered != nullptr) reader.emplace(*options.beside, *metered, rehearsal);
  if (auto done = rehearsal.run(); !done) return done;
  if (reader) reader->finish();
  return {};
}

void set_costs(const sim::Consumption& consumption, const Machine& metered, report::PowerUse& use) {
  if (use.energy < 0) return;
  if (metered.tariff.has_steps()) {
    use.cost = consumption.cost.value();
    use.always_on_cost = consumption.always_on_cost.value();
  } else if (metered.price >= 0) {
    const auto price = static_cast<double>(metered.price);
    use.cost = report::PowerUse::kilowatt_hours(consumption.energy) * price * 1e-3;
    use.always_on_cost = report::PowerUse::kilowatt_hours(consumption.always_on) * price * 1e-3;
  }
}

// What each job drew and cost, where that is told.
void add_draws(const sim::Rehearsal& rehearsal, const RehearseOptions& options, report::Outcome& outcome) {
  outcome.energy_of_jobs = rehearsal.energy_of_jobs();
  if (outcome.energy_of_jobs.empty() || !options.machine->tells_price()) return;
  for (std::uint32_t i = 0; i < outcome.energy_of_jobs.size(); ++i)
    outcome.cost_of_jobs.push_back(cost_of(rehearsal.drawn_by(JobId{i}), *options.machine));
}

// The shares of the accounts that the cluster has, where the policy goes by them.
std::shared_ptr<const ShareTree> shares_for(const log::Workload& workload, const Chain& chain,
                                            const RehearseOptions& options) {
  if (!options.machine || options.machine->accounts.empty() || !chain.knobs().slurm.by_shares()) return nullptr;
  if (options.shares) return options.shares;
  const auto& accounts = options.machine->accounts;
  return std::make_shared<const ShareTree>(accounts,
                                           sharers_of(accounts, workload.users, workload.groups, workload.jobs));
}

// nullptr: the cluster has none.
std::unique_ptr<const LimitBook> limits_for(const log::Workload& workload, const RehearseOptions& options) {
  if (!options.machine || options.machine->limits.empty()) return nullptr;
  return std::make_unique<const LimitBook>(
      *options.machine,
      options.limit_names ? *options.limit_names : limit_names(*options.machine, workload.users, workload.groups));
}

// That of a job that told no limit; nullptr: it has none, or the job told one.
const Partition* partition_of_unlimited(const log::Workload& workload, std::size_t job,
                                        const RehearseOptions& options) {
  const JobSpec& spec = workload.jobs[job];
  if (!options.machine || workload.without_limit.empty() ||
      !std::ranges::binary_search(workload.without_limit, spec.number)) {
    return nullptr;
  }
  PartitionId partition = named_partition(workload, *options.machine, spec);
  if (!partition.valid()) partition = options.machine->default_partition;
  return partition.valid() ? &options.machine->partitions[partition.value] : nullptr;
}

// A job that told none gets its partition's default, which may be none at all, and is not killed before it was over:
// unless it ran beyond what its partition allows, for which it cannot have asked.
Duration told_limit_of(const log::Workload& workload, std::size_t job, const RehearseOptions& options) {
  const Partition* const partition = partition_of_unlimited(workload, job, options);
  if (partition == nullptr) return workload.jobs[job].limit;
  return std::min(std::max(partition->default_time, workload.run_times[job]), partition->max_time);
}

}  // namespace

std::optional<report::PowerUse> power_use(const sim::Consumption& consumption, const Machine* metered) {
  if (!metered) return std::nullopt;
  report::PowerUse use;
  use.length = consumption.length;
  use.work = consumption.work;
  use.idle = consumption.idle;
  use.off = consumption.off;
  use.energy = metered->tells_watts() ? consumption.energy : -1;
  use.always_on = consumption.always_on;
  use.jobs = consumption.jobs;
  use.cycles = consumption.cycles;
  use.most_cycles = consumption.most_cycles;
  use.failed_boots = consumption.failed_boots;
  use.most_switched = consumption.most_switched;
  use.largest_step = metered->tells_watts() ? consumption.largest_step : -1;
  use.nodes = static_cast<std::int64_t>(metered->nodes.size());
  use.co2 = metered->co2;
  set_costs(consumption, *metered, use);
  return use;
}

namespace {

std::vector<report::LoadUse> load_use(const std::vector<LoadLook>& looks, const Machine& machine) {
  std::vector<report::LoadUse> uses;
  for (const LoadLook& look : looks) {
    uses.resize(look.loads.size());
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const LoadReading& reading = look.loads[i];
      report::LoadUse& use = uses[i];
      if (reading.partition.valid()) use.partition = machine.partitions[reading.partition.value].name;
      ++use.looks;
      use.mean += reading.load;
      use.most = std::max(use.most, reading.load);
      use.fragments += static_cast<double>(reading.fragments);
    }
  }
  for (report::LoadUse& use : uses) {
    use.mean /= static_cast<double>(use.looks);
    use.fragments /= static_cast<double>(use.looks);
  }
  return uses;
}

}  // namespace

Cost cost_of(const sim::JobDraw& drew, const Machine& metered) {
  if (metered.tariff.has_steps()) return drew.cost;
  Cost cost;
  cost.add(metered.price, drew.energy);
  return cost;
}

bool metered(const Machine* machine, const Chain& chain) {
  return machine != nullptr && (chain.knobs().power.switches() || machine->tells_watts());
}

void add_nodes(std::vector<NodeTotal> totals, const Machine& metered, SiteId site, report::Outcome& outcome) {
  for (NodeTotal& total : totals) {
    if (metered.tells_price()) total.cost = cost_of({total.energy, total.cost}, metered);
    total.site = site;
    outcome.nodes.push_back(std::move(total));
  }
}

std::optional<report::TaskUse> task_use(const sim::TaskUse& use, Bind bind) {
  if (bind == Bind::none || use.jobs == 0) return std::nullopt;
  return report::TaskUse{use.jobs,  use.on_cpu,  use.local,        use.remote,    use.redone, use.bytes,
                         use.bound, use.rebound, use.accelerators, use.computing, use.length, use.checks};
}

JobSpec asked(JobSpec job, const RehearseOptions& options) {
  if (options.attributes) options.attributes->give(job);
  return job;
}

void set_attributes(RehearseOptions& options, log::Attributes of_jobs) {
  options.attributes = std::make_shared<const log::Attributes>(std::move(of_jobs));
  const TaskTable& tasks = options.attributes->tasks();
  options.tasks = tasks.empty() ? nullptr : std::shared_ptr<const TaskTable>(options.attributes, &tasks);
}

WorkloadSource::WorkloadSource(const log::Workload& workload, const RehearseOptions& options)
    : workload_(workload),
      options_(options),
      limits_stand_(!options.exact_estimates && options.ties != sim::Ties::submit_first &&
                    (!options.machine || workload.without_limit.empty())) {}

bool WorkloadSource::next(sim::Arrival& arrival) {
  if (next_ == workload_.jobs.size()) return false;
  arrival.spec = workload_.jobs[next_];
  arrival.run_time = workload_.run_times[next_];
  ++next_;
  JobSpec& spec = arrival.spec;
  // the published schedules cut the run at the limit, and plan with both
  if (options_.ties == sim::Ties::submit_first) arrival.run_time = std::min(spec.limit, arrival.run_time);
  if (!limits_stand_) spec.limit = limit_of(workload_, next_ - 1, options_);
  if (workload_.whole_seconds) spec.submit += kMiddleOfASecond;
  if (workload_.whole_seconds || workload_.turnaround > Duration{0})
    arrival.run_time = held_for(workload_, next_ - 1, spec.limit, 0);
  if (options_.clamp)
    spec.processors = static_cast<std::uint32_t>(std::min<std::int64_t>(spec.processors, options_.processors));
  if (options_.attributes) options_.attributes->give(spec);
  spec.partition = options_.machine ? partition_of(spec) : PartitionId{};
  spec.qos = options_.machine ? qos_of(spec) : QosId{};
  if (!spec.partition.valid()) return true;
  spec.priority += options_.machine->partitions[spec.partition.value].priority;
  spec.nodes = nodes_of(*options_.machine, spec);
  return true;
}

Duration held_for(const log::Workload& workload, std::size_t job, Duration limit, std::uint64_t lot) {
  const Duration run_time = workload.run_times[job];
  Duration held = run_time + workload.turnaround;
  if (workload.whole_seconds) {
    Hash drawn;
    drawn.mix(static_cast<std::uint64_t>(workload.jobs[job].number));
    drawn.mix(lot);  // last, so that all bits have come to bear on those that are looked at
    held += Duration(static_cast<std::int64_t>((drawn.value() >> 16U) % 1000)) - Duration{500};
  }
  return std::max(Duration{1}, std::min(held, std::max(run_time, limit)));
}

PartitionLimits limits_of_partitions(const log::Workload& workload, const RehearseOptions& options) {
  PartitionLimits jobs;
  if (!options.machine || workload.without_limit.empty() || options.exact_estimates) return jobs;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const Duration limit = told_limit_of(workload, i, options);
    if (limit == workload.jobs[i].limit) continue;
    const Partition& partition = *partition_of_unlimited(workload, i, options);
    ++(limit == kLongest ? jobs.unlimited : limit < partition.max_time ? jobs.by_default : jobs.by_most);
  }
  return jobs;
}

Duration limit_of(const log::Workload& workload, std::size_t job, const RehearseOptions& options) {
  const Duration run_time = workload.run_times[job];
  const Duration asked = told_limit_of(workload, job, options);
  const bool submit_first = options.ties == sim::Ties::submit_first;
  if (options.exact_estimates) return submit_first ? std::min(asked, run_time) : run_time;
  return submit_first ? std::max(asked, run_time) : asked;
}

// The log numbers its partitions, and its header may name them; the cluster file names its own.
PartitionId named_partition(const log::Workload& workload, const Machine& machine, const JobSpec& spec) {
  const auto named = workload.partitions.find(spec.partition.value);
  if (named == workload.partitions.end()) return {};
  const auto& partitions = machine.partitions;
  const auto at =
      std::find_if(partitions.begin(), partitions.end(), [&](const Partition& p) { return p.name == named->second; });
  if (at == partitions.end()) return {};
  return PartitionId{static_cast<std::uint32_t>(at - partitions.begin())};
}

PartitionId WorkloadSource::partition_of(const JobSpec& spec) const {
  if (options_.machine->partitions.empty()) return {};
  const PartitionId named = named_partition(workload_, *options_.machine, spec);
  return named.valid() ? named : options_.machine->default_partition;
}

// By name, as accounts: one that has none is called by its number.
QosId WorkloadSource::qos_of(const JobSpec& spec) const {
  if (options_.machine->qos.empty() || !spec.qos.valid()) return {};
  const std::string name = name_by_number(workload_.queues, workload_.qos[spec.qos.value]);
  const auto& all = options_.machine->qos;
  const auto at = std::ranges::find(all, name, &Qos::name);
  return at == all.end() ? QosId{} : QosId{static_cast<std::uint8_t>(at - all.begin())};
}

void add_log(report::Outcome& outcome, const GrantLog& log) {
  outcome.lost_work += log.lost_work();
  for (const GrantRecord& g : log.grants()) {
    outcome.grants.push_back({g.job, g.at, g.until, g.beneficiary, g.promise, g.free, g.needed});
  }
}

void add_counts(report::Outcome& outcome, const Controller& controller) {
  outcome.cycles += controller.cycles();
  outcome.referee_checks += controller.referee_checks();
}

Instant counted_from(const log::Workload& workload) {
  return workload.warm_up < workload.jobs.size() ? workload.jobs[workload.warm_up].submit : kEpoch;
}

void leave_out_warm_up(const log::Workload& workload, report::Outcome& outcome) {
  const auto leave = [&](auto& of) {
    of.erase(of.begin(), of.begin() + std::min<std::ptrdiff_t>(workload.warm_up, std::ssize(of)));
  };
  leave(outcome.jobs);
  leave(outcome.energy_of_jobs);
  leave(outcome.cost_of_jobs);
  leave(outcome.site_of);
  leave(outcome.starts);
}

namespace {

void say_why_rejected(const JobSpec& spec, const RehearseOptions& options, const LimitBook* limits,
                      report::Summary& summary) {
  const Machine counted = Machine::counted(options.processors);
  const auto why = LimitUse(limits).never_fits(spec);
  summary.why_rejected = why ? *why : never_fits(options.machine ? *options.machine : counted, spec).value_or("");
  summary.first_too_large = spec.processors > options.processors;
}

const WorkHistory& know_all(const log::Workload& workload, const RehearseOptions& options, WorkHistory& past) {
  for (std::size_t i = 0; i < workload.jobs.size(); ++i)
    past.add(asked(workload.jobs[i], options), std::min(workload.run_times[i], workload.jobs[i].limit));
  return past;
}

}  // namespace

Result<Rehearsed> rehearse(const log::Workload& workload, const Chain& chain, const RehearseOptions& options) {
  if (options.machine && !options.machine->sites.empty()) return rehearse_sites(workload, chain, options);
  const double begin = cpu_seconds();
  WorkloadSource source(workload, options);
  Collector collector(workload, options);
  sim::RehearsalOptions how;
  WorkHistory past(options.machine.get());
  if (chain.knobs().power.knows_the_log()) how.past_work = &know_all(workload, options, past);
  const auto shares = shares_for(workload, chain, options);
  how.shares = shares.get();
  const auto limits = limits_for(workload, options);
  how.limits = limits.get();
  if (metered(options.machine.get(), chain)) {
    how.engine.metered = options.machine.get();
    how.engine.meters_jobs = options.keep_jobs && options.machine->tells_watts();
  }
  how.engine.keeps_states = options.keep_jobs;
  how.engine.unix_start = workload.unix_start;
  how.processors = options.processors;
  how.machine = options.machine.get();
  how.terms = &workload.terms;
  how.engine.ties = options.ties;
  how.engine.queue_floor = workload.queue_floor;
  how.progress = options.progress;
  how.engine.tasks = options.tasks.get();
  how.engine.containers = options.containers;
  how.engine.machine = options.machine.get();
  GrantLog log(counted_from(workload));
  how.observers.push_back(&log);
  LoadLog loads(counted_from(workload));
  if (how.engine.metered) how.observers.push_back(&loads);
  StartLog starts;
  if (options.keep_jobs) how.observers.push_back(&starts);
  if (options.attributes) how.observers.push_back(&collector.node_counts());
  std::optional<Journal> journal;
  if (!options.journals.empty()) {
    how.observers.push_back(&journal.emplace(*options.journals.front()));
    how.durable = &*journal;
  }
  sim::Rehearsal rehearsal(how, chain, source, collector);
  TRY(run_watched(rehearsal, options, how.engine.metered));
  const Controller& controller = rehearsal.controller();
  Rehearsed result;
  report::Outcome& outcome = result.outcome;
  outcome.workload = workload.name;
  outcome.policy = chain.text();
  outcome.processors = options.processors;
  outcome.unix_start = workload.unix_start;
  if (options.machine) outcome.reserved = report::reservations_of(*options.machine, workload.unix_start);
  outcome.warm_up = workload.warm_up;
  outcome.plan_hash = controller.plan_hash();
  add_counts(outcome, controller);
  add_log(outcome, log);
  outcome.jobs = collector.take_jobs();
  outcome.starts = starts.take_all();
  outcome.machine = options.machine;
  add_draws(rehearsal, options, outcome);
  leave_out_warm_up(workload, outcome);
  outcome.power = power_use(rehearsal.consumption(), how.engine.metered);
  outcome.loads = loads.take_all();
  if (outcome.power) outcome.power->loads = load_use(outcome.loads, *how.machine);
  if (options.keep_jobs && how.engine.metered) outcome.node_states.push_back(rehearsal.node_states());
  if (options.keep_nodes && how.engine.metered) add_nodes(rehearsal.node_totals(), *how.machine, SiteId{}, outcome);
  outcome.tasks = task_use(rehearsal.tasks(), chain.knobs().bind);
  outcome.cpu_seconds = cpu_seconds() - begin;
  result.summary = collector.tally().conclude(outcome);
  if (const auto& spec = collector.first_rejected()) say_why_rejected(*spec, options, limits.get(), result.summary);
  return result;
}

}  // namespace rota
