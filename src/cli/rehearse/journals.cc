#include "cli/rehearse/journals.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "control/replay.h"
#include "model/cpu_factor.h"
#include "report/readable.h"
#include "site/cluster_file.h"

namespace rota::cli {
namespace {

constexpr std::string_view kSite = "site ";
constexpr std::string_view kLive = "live";
constexpr std::size_t kLongestShares = store::kMostHead / 4;

const char* name_of(sim::Ties ties) {
  switch (ties) {
    case sim::Ties::submit_first:
      return "submit-first";
    case sim::Ties::one_by_one:
      return "one-by-one";
    default:
      return "";
  }
}

std::string shares_of(const log::Workload& workload, const Machine* machine) {
  if (machine == nullptr || machine->accounts.empty()) return "";
  return text_of(sharers_of(machine->accounts, workload.users, workload.groups, workload.jobs));
}

std::string limits_of(const log::Workload& workload, const Machine* machine) {
  if (machine == nullptr || machine->limits.empty()) return "";
  return text_of(limit_names(*machine, workload.users, workload.groups));
}

}  // namespace

std::vector<std::string> journal_paths(const std::string& path, const Machine* machine) {
  if (machine == nullptr || machine->sites.empty()) return {path};
  std::vector<std::string> paths;
  for (const Machine& site : machine->sites) paths.push_back(marked_path(path, site.name));
  return paths;
}

Result<RehearsalJournals> RehearsalJournals::create(const std::string& path, const Chain& chain,
                                                    const RehearseOptions& options, const log::Workload& workload,
                                                    const std::string& cluster) {
  if (chain.knobs().power.knows_the_log()) {
    return fail(
        "a journal holds all that a policy knows, and with power-history=log {} knows the whole log beforehand. Leave "
        "out --journal or power-history=log.",
        rota::quoted(chain.text()));
  }
  RehearsalJournals journals;
  store::JournalHead head{.rota = ROTA_VERSION,
                          .policy = chain.text(),
                          .processors = options.processors,
                          .ties = name_of(options.ties),
                          .cluster = cluster,
                          .workload = workload.name,
                          .settings = {},
                          .unix_start = workload.unix_start,
                          .shares = shares_of(workload, options.machine.get()),
                          .limits = limits_of(workload, options.machine.get()),
                          .tasks = options.tasks && !options.tasks->empty()};
  if (head.shares.size() > kLongestShares || head.limits.size() > kLongestShares) {
    return fail(
        "a journal keeps whose share of [[accounts]] each user of a log has, and whom [[limits]] name, and here are "
        "too "
        "many. Leave out --journal or these tables.");
  }
  const bool sites = options.machine && !options.machine->sites.empty();
  const std::vector<std::string> paths = journal_paths(path, options.machine.get());
  for (std::size_t s = 0; s < paths.size(); ++s) {
    if (sites) head.processors = options.machine->sites[s].processors;
    if (sites) head.settings = std::string(kSite) + options.machine->sites[s].name;
    auto file = store::JournalFile::create(paths[s], head, store::Durability::streamed, true);
    if (!file) {
      journals.remove();
      return std::unexpected(file.error());
    }
    journals.files_.push_back(std::move(*file));
  }
  return journals;
}

RehearsalJournals::~RehearsalJournals() {
  if (std::ranges::any_of(files_, [](const auto& file) { return file->failed(); })) remove();
}

void RehearsalJournals::remove() {
  for (const auto& file : files_) file->remove();
}

std::vector<Store*> RehearsalJournals::stores() const {
  std::vector<Store*> stores;
  for (const auto& file : files_) stores.push_back(file.get());
  return stores;
}

Result<void> RehearsalJournals::close() {
  for (const auto& file : files_) {
    if (auto done = file->close(); !done) return done;
  }
  return {};
}

Result<KeptJournal> KeptJournal::open(const std::string& path) {
  const auto kept = [](auto reader) -> Result<KeptJournal> {
    if (!reader) return std::unexpected(reader.error());
    return KeptJournal(Reader(std::move(*reader)));
  };
  return store::is_database(path) ? kept(store::SqliteReader::open(path)) : kept(store::read_journal(path));
}

const store::JournalHead& KeptJournal::head() const {
  return std::visit([](const auto& reader) -> const store::JournalHead& { return reader.head(); }, reader_);
}

Result<void> KeptJournal::visit(const FactVisitor& visitor) {
  return std::visit([&](auto& reader) { return reader.visit(visitor); }, reader_);
}

std::string KeptJournal::note() const {
  const auto* file = std::get_if<store::JournalReader>(&reader_);
  return file != nullptr ? file->note() : "";
}

ClusterOptions JournalSetting::cluster_options() const {
  ClusterOptions cluster = sim::cluster_options(options, chain);
  cluster.confirms_starts = live;
  if (chain.knobs().slurm.by_shares()) cluster.use.shares = shares.get();
  cluster.limits = limits.get();
  return cluster;
}

Result<JournalSetting> setting_of(const store::JournalHead& head, const std::string& shown) {
  auto chain = Chain::parse(head.policy);
  if (!chain) return fail("{}: its policy is not known: {}", shown, chain.error().message);
  JournalSetting setting{.machine = nullptr, .chain = std::move(*chain), .options = {}};
  setting.options.processors = head.processors;
  setting.unix_start = head.unix_start;
  setting.tasks = head.tasks;
  setting.live = head.settings.starts_with(kLive);
  if (!head.ties.empty() && head.ties != "batch" && head.ties != "submit-first" && head.ties != "one-by-one") {
    return fail("{}: its head says ties {}, which this Rota does not know.", shown, rota::quoted(head.ties));
  }
  if (head.ties == "submit-first") setting.options.engine.ties = sim::Ties::submit_first;
  if (head.ties == "one-by-one") setting.options.engine.ties = sim::Ties::one_by_one;
  if (head.processors <= 0) return fail(shown + ": its head does not say how many processors the cluster has.");
  if (head.processors > kMostProcessors) {
    return fail(
        "{}: its head says that the cluster has {} processors, and more than {} cannot be; it is not as Rota wrote it.",
        shown, grouped(head.processors), grouped(kMostProcessors));
  }
  if (head.cluster.empty()) return setting;
  auto machine = TRY(site::parse_cluster(head.cluster, shown + " (the cluster file in its head)"));
  if (!head.settings.starts_with(kSite)) {
    setting.machine = std::make_shared<const Machine>(std::move(machine));
  } else {
    const std::string name = head.settings.substr(kSite.size());
    const auto site = std::ranges::find(machine.sites, name, &Machine::name);
    if (site == machine.sites.end()) return fail("{}: its cluster file has no site {}.", shown, rota::quoted(name));
    setting.machine = std::make_shared<const Machine>(*site);
  }
  if (setting.machine->processors != head.processors) {
    return fail(
        "{}: its head says that the cluster has {}, and the cluster file in it describes {}; it is not as Rota wrote "
        "it.",
        shown, amount(head.processors, "processor"), grouped(setting.machine->processors));
  }
  setting.options.machine = setting.machine.get();
  if (!setting.machine->limits.empty()) {
    auto names = parse_limit_names(head.limits);
    if (!names) return fail(shown + ": its head names whom limits are for in another way than Rota wrote it.");
    setting.limit_names = std::make_shared<const LimitNames>(std::move(*names));
    setting.limits = std::make_shared<const LimitBook>(*setting.machine, *setting.limit_names);
  }
  if (head.shares.empty()) return setting;
  const auto sharers = parse_sharers(head.shares, setting.machine->accounts);
  if (!sharers) {
    return fail(shown +
                ": its head says that jobs use shares of its cluster which cannot be; it is not as Rota wrote it.");
  }
  setting.shares = std::make_shared<const ShareTree>(setting.machine->accounts, *sharers);
  return setting;
}

namespace {

// The jobs that ended in a journal, each with what it asked for and the work that it did.
class JobsOfJournal {
 public:
  explicit JobsOfJournal(const JournalSetting& setting) : setting_(setting), cluster_(setting.cluster_options()) {
    if (!setting.machine) return;
    for (std::uint32_t i = 0; i < setting.machine->qos.size(); ++i) {
      workload_.qos.push_back(i);
      workload_.queues[i] = setting.machine->qos[i].name;
    }
  }

  Result<void> read_fact(const Fact& fact) {
    if (auto follows = check_next(cluster_, fact); !follows) return follows;
    ++number_;
    if (const auto* started = std::get_if<Started>(&fact.what)) note_speed(started->job, started->where);
    if (const auto* moved = std::get_if<Migrated>(&fact.what)) note_speed(moved->job, moved->where);
    if (const auto* amended = std::get_if<Amended>(&fact.what)) with_terms_.insert(amended->job);
    if (const auto* asked = std::get_if<TasksAsked>(&fact.what)) asked_.try_emplace(asked->job, *asked);  // at first
    if (std::holds_alternative<CycleClosed>(fact.what)) {
      for (const JobId id : cluster_.gone()) note_end(id, cluster_.job(id));
    }
    cluster_.fold(fact);
    return {};
  }

  // By submission, those of one instant by id.
  log::Workload workload() {
    cluster_.for_each_job([&](JobId, const Job&) { note("job that had not ended when the journal ends: left out"); });
    std::vector<std::pair<JobSpec, Duration>> jobs;
    for (const auto& [id, job] : ended_) jobs.push_back(job);
    std::ranges::stable_sort(jobs, {}, [](const auto& job) { return job.first.submit; });
    for (const auto& [spec, time] : jobs) {
      workload_.jobs.push_back(spec);
      workload_.run_times.push_back(time);
      ++workload_.report.kept;
    }
    workload_.report.rows += workload_.report.kept;
    return std::move(workload_);
  }
  std::shared_ptr<const TaskTable> tasks() const {
    return tasks_.empty() ? nullptr : std::make_shared<const TaskTable>(tasks_);
  }

 private:
  void note(const char* what) {
    ++workload_.report.rows;
    workload_.report.note(what, number_);
  }
  void note_speed(JobId id, const Placement& where) {
    if (cluster_.nodes().counted() || where.shares.empty()) return;
    const std::int32_t factor = cluster_.nodes().cpu_factor(where);
    const auto [known, fresh] = factors_.try_emplace(id, factor);
    if (!fresh && known->second != factor) several_speeds_.insert(id);
    known->second = factor;
  }
  void note_end(JobId id, const Job& job) {
    if (job.state != JobState::completed && job.state != JobState::timed_out && job.state != JobState::failed) {
      return note("job rejected, cancelled or lost with its node: left out");
    }
    if (job.start == kNever) return note("job that could not be launched: left out");
    if (job.state == JobState::timed_out)
      workload_.report.note("job stopped at its limit: taken to have been done then", number_);
    if (with_terms_.contains(id)) {
      workload_.report.note("job with a begin time, dependencies or other terms of its own: they are left out",
                            number_);
    }
    if (several_speeds_.contains(id)) {
      workload_.report.note("job that ran on nodes of several speeds: its work is an estimate", number_);
    }
    JobSpec spec = cluster_.request(id);
    spec.processors = job.spec.processors;  // that it held
    spec.nodes = job.spec.nodes;
    spec.memory = job.spec.memory;
    copy_licences(job.spec, spec);
    if (setting_.machine && spec.partition.valid()) {  // what a rehearsal adds by itself
      const Partition& partition = setting_.machine->partitions[spec.partition.value];
      spec.priority -= partition.priority;
      workload_.partitions[spec.partition.value] = partition.name;
    }
    const auto factor = factors_.find(id);
    // Pauses after moves, and after checkpoints that the job wrote by itself, are no work.
    const bool pauses = setting_.chain.knobs().preempt == Preemption::requeue && spec.restart == Restart::checkpoint;
    const std::int64_t restarts = job.migrations + (pauses ? job.preemptions : 0);
    const Duration time = job.run_time() - spec.restart_cost * restarts;
    const Duration work = factor == factors_.end() ? time : work_in(time, factor->second);
    ended_[id] = {spec, std::max(work, Duration{1})};
    const auto asked = asked_.find(id);
    if (asked == asked_.end()) return;
    tasks_.of_named[spec.number] = asked->second.tasks;
    if (asked->second.on_cpus > Duration{0}) ended_[id].second = asked->second.on_cpus;
  }

  const JournalSetting& setting_;
  Cluster cluster_;
  log::Workload workload_;
  std::map<JobId, std::pair<JobSpec, Duration>> ended_;
  std::map<JobId, std::int32_t> factors_;  // of the latest nodes of each job, where nodes are described
  std::set<JobId> several_speeds_;
  std::set<JobId> with_terms_;
  std::map<JobId, TasksAsked> asked_;
  TaskTable tasks_;  // of those that have ended
  std::int64_t number_ = 0;
};

}  // namespace

std::string begun_anew(const Fact& fact, std::int64_t unix_start) {
  const auto* kept = std::get_if<StateKept>(&fact.what);
  if (kept == nullptr || kept->next_job == JobId{0}) return "";
  return report::readable(fact.at, unix_start) + (unix_start != 0 ? " (UTC)" : "");
}

Result<EndedJobs> ended_jobs_of(const std::vector<Fact>& facts, const JournalSetting& setting,
                                const std::string& shown) {
  JobsOfJournal ended(setting);
  for (const Fact& fact : facts) {
    if (auto taken = ended.read_fact(fact); !taken) return fail("{}: {}", shown, taken.error().message);
  }
  EndedJobs jobs{ended.workload(), ended.tasks()};
  log::Workload& workload = jobs.workload;
  if (workload.jobs.empty()) return fail("{}: no job has ended in it, so there is nothing to rehearse.", shown);
  workload.name = shown;
  workload.processors = setting.options.processors;
  workload.unix_start = setting.unix_start;
  return jobs;
}

}  // namespace rota::cli
