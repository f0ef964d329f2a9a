#include "rehearse/rehearse_sites.h"

#include <algorithm>
#include <deque>

#include "base/check.h"
#include "base/cpu_time.h"
#include "base/hash.h"
#include "control/start_log.h"
#include "exchange/memory.h"
#include "model/never_fits.h"
#include "rehearse/recorded.h"
#include "rehearse/site_streams.h"
#include "report/reserved.h"

namespace rota {
namespace {

// Adds every job up as it leaves a site, at that site and for all.
class SiteCollector final : public sim::SiteJobSink {
 public:
  SiteCollector(const SiteStreams& streams, const log::Workload& workload, const RehearseOptions& options)
      : streams_(streams),
        options_(options),
        workload_(workload),
        at_(streams.homes.size()),
        tallies_(options.machine->sites.size()),
        exchanged_(options.machine->sites.size()) {
    if (options.keep_jobs) jobs_.resize(at_.size());
    if (options.keep_jobs && options.machine->tells_watts()) energy_.resize(at_.size());
    if (!energy_.empty() && std::ranges::all_of(options.machine->sites, &Machine::tells_price))
      cost_.resize(at_.size());
  }

  void job_gone(SiteId site, const Job& job, const sim::JobDraw& drew) override {
    const auto found = std::lower_bound(streams_.by_number.begin(), streams_.by_number.end(),
                                        std::pair{job.spec.number, std::size_t{0}});
    add(found->second, site, job);
    if (job.ended()) at_[found->second] = site;
    if (!energy_.empty()) energy_[found->second] = drew.energy;
    if (!cost_.empty()) cost_[found->second] = cost_of(drew, options_.machine->sites[site.value]);
    if (options_.progress && ++gone_ % 8192 == 0) options_.progress(gone_);
    const SiteId home = streams_.homes[found->second];
    if (site == home || found->second < workload_.warm_up) return;
    ++exchanged_[site.value].jobs_in;
    ++exchanged_[home.value].jobs_out;
  }

  // Those that have not left anywhere, where the rehearsal came to nothing for them.
  void add_unfinished() {
    if (seen_ == at_.size()) return;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      if (has_left_[i]) continue;
      Job job;
      job.spec = workload_.jobs[i];
      if (options_.clamp)
        job.spec.processors =
            static_cast<std::uint32_t>(std::min<std::int64_t>(job.spec.processors, options_.processors));
      add(i, streams_.homes[i], job);
    }
  }

  std::vector<report::Tally>& tallies() { return tallies_; }
  report::Tally& total() { return total_; }
  std::vector<report::Exchanged>& exchanged() { return exchanged_; }
  std::vector<Job> take_jobs() { return std::move(jobs_); }
  std::vector<std::int64_t> take_energy() { return std::move(energy_); }
  std::vector<Cost> take_cost() { return std::move(cost_); }
  const std::vector<SiteId>& sites() const { return at_; }
  const std::string& why_rejected() const { return why_rejected_; }

 private:
  void add(std::size_t index, SiteId site, const Job& job) {
    CHECK(!has_left_[index], "a job leaves one site, once");
    const bool counts = index >= workload_.warm_up;
    if (counts) add_beside_recorded(total_, {job, 0}, workload_, index);
    if (counts) tallies_[site.value].add(job);
    if (!jobs_.empty()) {
      jobs_[index] = job;
      jobs_[index].spec.limit = limit_of(workload_, index, options_);
    }
    if (counts && job.state == JobState::rejected && why_rejected_.empty())
      why_rejected_ = never_fits(options_.machine->sites[site.value], job.spec).value_or("");
    has_left_[index] = true;
    ++seen_;
  }

  const SiteStreams& streams_;
  const RehearseOptions& options_;
  const log::Workload& workload_;
  std::string why_rejected_;
  std::vector<SiteId> at_;
  std::vector<bool> has_left_ = std::vector<bool>(at_.size());
  std::vector<report::Tally> tallies_;
  std::vector<report::Exchanged> exchanged_;
  report::Tally total_;
  std::vector<Job> jobs_;
  std::vector<std::int64_t> energy_;  // microjoules, as jobs_; empty: not told
  std::vector<Cost> cost_;            // likewise
  std::size_t seen_ = 0;
  std::int64_t gone_ = 0;
};

sim::Placing placing_of(Siting siting) {
  switch (siting) {
    case Siting::random:
      return sim::Placing::random;
    case Siting::round_robin:
      return sim::Placing::round_robin;
    case Siting::least_loaded:
      return sim::Placing::least_loaded;
    case Siting::race:
      return sim::Placing::race;
    case Siting::staged_race:
      return sim::Placing::staged_race;
    default:
      return sim::Placing::auction;
  }
}

// What all sites have in common, and each one's part.
class SiteRehearsal {
 public:
  SiteRehearsal(const log::Workload& workload, const Chain& chain, const RehearseOptions& options)
      : workload_(workload), chain_(chain), options_(options), whole_(*options.machine), terms_(whole_) {}

  Result<Rehearsed> run() {
    const double begin = cpu_seconds();
    const AuctionKnobs& knobs = chain_.knobs().auction;
    streams_ = site_streams(workload_, options_, terms_, knobs.siting != Siting::none);
    learn_from_log();
    std::vector<sim::Source*> local;
    local.reserve(streams_.local.size());
    for (SiteStream& stream : streams_.local) local.push_back(&stream);
    SiteCollector collector(streams_, workload_, options_);
    sim::VirtualLoop loop;
    MemoryExchange exchange(loop);
    const sim::Federation::Wiring wiring{loop, exchange, chain_, local, &terms_, &collector};
    sim::Federation federation(federation_options(), wiring, streams_.global);
    TRY(federation.run());
    collector.add_unfinished();
    return conclude(federation, collector, loop.now(), begin);
  }

 private:
  bool metered() const { return rota::metered(&whole_, chain_); }

  void learn_from_log() {
    if (!chain_.knobs().power.knows_the_log()) return;
    for (const Machine& site : whole_.sites) past_.emplace_back(&site);
    for (std::size_t i = 0; i < workload_.jobs.size(); ++i) {
      past_[streams_.homes[i].value].add(asked(workload_.jobs[i], options_),
                                         std::min(workload_.run_times[i], workload_.jobs[i].limit));
    }
  }

  sim::FederationOptions federation_options() {
    const AuctionKnobs& knobs = chain_.knobs().auction;
    sim::FederationOptions federation;
    const std::size_t sites = whole_.sites.size();
    for (std::size_t s = 0; s < sites; ++s) {
      const Machine& machine = whole_.sites[s];
      sim::RehearsalOptions& how = federation.sites.emplace_back();
      how.processors = machine.processors;
      how.observers.push_back(&log_);
      if (sites == 1 && options_.keep_jobs) how.observers.push_back(&starts_);
      if (s < options_.journals.size()) {
        how.observers.push_back(&journals_.emplace_back(*options_.journals[s]));
        how.durable = &journals_.back();
      }
      how.machine = &machine;
      how.engine.ties = options_.ties;
      if (metered() && !machine.nodes.empty()) how.engine.metered = &machine;
      how.engine.meters_jobs = options_.keep_jobs && machine.tells_watts();
      how.engine.keeps_states = options_.keep_jobs;
      how.engine.unix_start = workload_.unix_start;
      how.engine.metered_from = workload_.jobs.front().submit;
      if (!machine.nodes.empty()) {
        how.engine.tasks = options_.tasks.get();
        how.engine.containers = options_.containers;
        how.engine.machine = &machine;
      }
      if (!past_.empty()) how.past_work = &past_[s];
      federation.transfer.emplace_back(sites);
      federation.bandwidth.push_back(machine.bandwidth);
      federation.first_looks.push_back(kEpoch + knobs.look * static_cast<std::int64_t>(s + 1) /
                                                    static_cast<std::int64_t>(sites));
    }
    federation.placing = placing_of(knobs.siting);
    federation.rules = dispatch_rules(knobs, whole_.partitions);
    federation.margin = knobs.margin;
    federation.ahead = knobs.head;
    federation.early = knobs.early;
    federation.seed = static_cast<std::uint64_t>(knobs.seed);
    federation.locals_too = true;
    return federation;
  }

  Result<Rehearsed> conclude(const sim::Federation& federation, SiteCollector& collector, Instant now, double begin) {
    Rehearsed result;
    report::Outcome& outcome = result.outcome;
    outcome.workload = workload_.name;
    outcome.policy = chain_.text();
    outcome.processors = whole_.processors;
    outcome.unix_start = workload_.unix_start;
    outcome.reserved = report::reservations_of(whole_, workload_.unix_start);
    outcome.warm_up = workload_.warm_up;
    outcome.jobs = collector.take_jobs();
    outcome.energy_of_jobs = collector.take_energy();
    outcome.cost_of_jobs = collector.take_cost();
    std::vector<report::Summary> sites;
    for (std::uint32_t s = 0; s < whole_.sites.size(); ++s) {
      const sim::FederatedSite& site = federation.site(SiteId{s});
      add_counts(outcome, site.controller());
      sites.push_back(summary_of(site, whole_.sites[s], collector.tallies()[s], now));
      if (options_.keep_jobs && metered()) outcome.node_states.push_back(site.node_states(now));
      if (options_.keep_nodes && metered()) add_nodes(site.node_totals(now), whole_.sites[s], SiteId{s}, outcome);
      sites.back().exchanged = exchanged_of(collector.exchanged()[s], federation.traffic(SiteId{s}));
    }
    if (sites.size() > 1) {
      for (const Machine& site : whole_.sites) outcome.sites.push_back(site.name);
      if (options_.keep_jobs) outcome.site_of = collector.sites();
    }
    if (sites.size() == 1 && options_.keep_jobs) {
      outcome.machine = options_.machine;
      outcome.starts = starts_by_place();
    }
    leave_out_warm_up(workload_, outcome);
    add_log(outcome, log_);
    outcome.plan_hash = hash_of(sites, collector.sites());
    outcome.power = power_of(sites);
    sim::TaskUse tasks;
    for (std::uint32_t s = 0; s < sites.size(); ++s) tasks.add(federation.site(SiteId{s}).tasks(now));
    outcome.tasks = task_use(tasks, chain_.knobs().bind);
    outcome.cpu_seconds = cpu_seconds() - begin;
    result.summary = collector.total().conclude(outcome);
    result.summary.why_rejected = collector.why_rejected();
    add_sites(result.summary, std::move(sites));
    return result;
  }

  // Ids count in the order in which jobs came to the site.
  std::vector<StartNote> starts_by_place() {
    std::vector<StartNote> by_place(workload_.jobs.size());
    const std::vector<std::int64_t> numbers = starts_.numbers();
    std::vector<StartNote> notes = starts_.take_all();
    for (std::size_t id = 0; id < notes.size(); ++id) {
      const auto found = std::ranges::lower_bound(streams_.by_number, std::pair{numbers[id], std::size_t{0}});
      if (notes[id].started) by_place[found->second] = std::move(notes[id]);
    }
    return by_place;
  }

  report::Summary summary_of(const sim::FederatedSite& site, const Machine& machine, report::Tally& tally,
                             Instant now) const {
    report::Outcome outcome;
    outcome.workload = workload_.name;
    outcome.policy = chain_.text();
    outcome.processors = machine.processors;
    outcome.plan_hash = site.controller().plan_hash();
    outcome.power = power_use(site.consumption(now), metered() && !machine.nodes.empty() ? &machine : nullptr);
    outcome.tasks = task_use(site.tasks(now), chain_.knobs().bind);
    report::Summary summary = tally.conclude(outcome);
    summary.site = machine.name;
    return summary;
  }

  static report::Exchanged exchanged_of(report::Exchanged exchanged, const sim::Traffic& traffic) {
    exchanged.inputs_in = traffic.inputs_in;
    exchanged.inputs_out = traffic.inputs_out;
    exchanged.bytes_in = traffic.bytes_in;
    exchanged.bytes_out = traffic.bytes_out;
    return exchanged;
  }

  // Utilization at all sites over the same time.
  static void add_sites(report::Summary& total, std::vector<report::Summary> sites) {
    if (sites.size() < 2) return;
    for (report::Summary& site : sites) {
      if (site.utilization) *site.utilization *= to_seconds(site.makespan) / to_seconds(total.makespan);
      site.makespan = total.makespan;
      total.exchanged.jobs_in += site.exchanged.jobs_in;
      total.exchanged.inputs_in += site.exchanged.inputs_in;
      total.exchanged.bytes_in += site.exchanged.bytes_in;
    }
    total.exchanged.jobs_out = total.exchanged.jobs_in;
    total.exchanged.inputs_out = total.exchanged.inputs_in;
    total.exchanged.bytes_out = total.exchanged.bytes_in;
    total.sites = std::move(sites);
  }

  // For one site, what it would be without the others; else a hash of the sites' plans and of where each job ran.
  static std::uint64_t hash_of(const std::vector<report::Summary>& sites, const std::vector<SiteId>& ran_at) {
    if (sites.size() == 1) return sites.front().plan_hash;
    Hash hash;
    for (const report::Summary& site : sites) hash.mix(site.plan_hash);
    for (const SiteId site : ran_at) hash.mix(site.value);
    return hash.value();
  }

  // What a kilowatt-hour gives on average, where sites differ.
  static std::int64_t mean_rate(const std::vector<report::Summary>& sites, std::int64_t report::PowerUse::* rate) {
    double sum = 0;
    double energy = 0;
    for (const report::Summary& site : sites) {
      if (!site.power || (*site.power).*rate < 0) return -1;
      sum += static_cast<double>((*site.power).*rate) * static_cast<double>(site.power->energy);
      energy += static_cast<double>(site.power->energy);
    }
    return energy > 0 ? static_cast<std::int64_t>(sum / energy + 0.5) : (*sites.front().power).*rate;
  }

  // Told where each site tells it.
  static void add_cost(const std::optional<double>& cost, std::optional<double>& all) {
    all = cost && all ? std::optional(*all + *cost) : std::nullopt;
  }

  static std::optional<report::PowerUse> power_of(const std::vector<report::Summary>& sites) {
    std::optional<report::PowerUse> all;
    for (const report::Summary& site : sites) {
      if (!site.power) continue;
      if (!all) {
        all = site.power;
        continue;
      }
      all->work += site.power->work;
      all->idle += site.power->idle;
      all->off += site.power->off;
      all->energy = all->energy < 0 || site.power->energy < 0 ? -1 : all->energy + site.power->energy;
      all->always_on += site.power->always_on;
      all->jobs += site.power->jobs;
      all->cycles += site.power->cycles;
      all->most_cycles = std::max(all->most_cycles, site.power->most_cycles);
      all->failed_boots += site.power->failed_boots;
      all->most_switched = std::max(all->most_switched, site.power->most_switched);
      all->largest_step = std::max(all->largest_step, site.power->largest_step);
      all->nodes += site.power->nodes;
      add_cost(site.power->cost, all->cost);
      add_cost(site.power->always_on_cost, all->always_on_cost);
    }
    if (!all) return all;
    all->co2 = mean_rate(sites, &report::PowerUse::co2);
    return all;
  }

  const log::Workload& workload_;
  const Chain& chain_;
  const RehearseOptions& options_;
  const Machine& whole_;
  SiteTerms terms_;
  SiteStreams streams_;
  std::vector<WorkHistory> past_;  // at each site, where it is known beforehand
  GrantLog log_{counted_from(workload_)};
  StartLog starts_;  // of the one site, where there is one
  std::deque<Journal> journals_;
};

}  // namespace

Result<Rehearsed> rehearse_sites(const log::Workload& workload, const Chain& chain, const RehearseOptions& options) {
  if (workload.queue_floor >= 0) {
    return fail(workload.name +
                ": its header has a QueueFloor, which keeps one queue full; that is for one site. Leave it out of the "
                "header, or [[sites]] out of the cluster file.");
  }
  return SiteRehearsal(workload, chain, options).run();
}

}  // namespace rota
