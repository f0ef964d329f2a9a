#include "cli/journals.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "trace/cluster_file.h"

namespace rota::cli {
namespace {

constexpr std::string_view kSite = "site ";

std::string name_of(const std::string& path, const std::string& site) {
  if (site.empty()) return path;
  const std::size_t slash = path.rfind('/');
  std::size_t dot = path.find('.', slash == std::string::npos ? 0 : slash + 1);
  if (dot == std::string::npos) dot = path.size();
  return path.substr(0, dot) + "-" + site + path.substr(dot);
}

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

}  // namespace

Result<RehearsalJournals> RehearsalJournals::create(const std::string& path, const Chain& chain,
                                                    const RehearseOptions& options, const trace::Workload& workload,
                                                    const std::string& cluster) {
  const PowerKnobs& power = chain.knobs().power;
  if (power.rule == Power::load_factor && power.from_log) {
    return fail("a journal holds all that a policy knows, and with power-from-log " + rota::quoted(chain.text()) +
                " knows the whole log beforehand. Leave out --journal or power-from-log.");
  }
  RehearsalJournals journals;
  store::JournalHead head{.rota = ROTA_VERSION,
                          .policy = chain.text(),
                          .processors = options.processors,
                          .ties = name_of(options.ties),
                          .cluster = cluster,
                          .workload = workload.name,
                          .settings = {}};
  const bool sites = options.machine && !options.machine->sites.empty();
  for (std::size_t s = 0; s < (sites ? options.machine->sites.size() : 1); ++s) {
    const std::string site = sites ? options.machine->sites[s].name : "";
    if (sites) head.processors = options.machine->sites[s].processors;
    if (sites) head.settings = std::string(kSite) + site;
    auto file = store::JournalFile::create(name_of(path, site), head, store::Durability::streamed, true);
    if (!file) return std::unexpected(file.error());
    journals.files_.push_back(std::move(*file));
  }
  return journals;
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

Result<JournalSetting> setting_of(const store::JournalHead& head, const std::string& shown) {
  auto chain = Chain::parse(head.policy);
  if (!chain) return fail(shown + ": its policy is not known: " + chain.error().message);
  JournalSetting setting{nullptr, std::move(*chain), {}};
  setting.options.processors = head.processors;
  if (head.ties == "submit-first") setting.options.engine.ties = sim::Ties::submit_first;
  if (head.ties == "one-by-one") setting.options.engine.ties = sim::Ties::one_by_one;
  if (head.processors <= 0) return fail(shown + ": its head does not say how many processors the cluster has.");
  if (head.cluster.empty()) return setting;
  auto machine = trace::parse_cluster(head.cluster, shown + " (the cluster file in its head)");
  if (!machine) return std::unexpected(machine.error());
  if (!head.settings.starts_with(kSite)) {
    setting.machine = std::make_shared<const Machine>(std::move(*machine));
  } else {
    const std::string name = head.settings.substr(kSite.size());
    const auto site = std::ranges::find(machine->sites, name, &Machine::name);
    if (site == machine->sites.end()) return fail(shown + ": its cluster file has no site " + rota::quoted(name) + ".");
    setting.machine = std::make_shared<const Machine>(*site);
  }
  setting.options.machine = setting.machine.get();
  return setting;
}

Result<trace::Workload> workload_of(const std::vector<Fact>& facts, const JournalSetting& setting,
                                    const std::string& shown) {
  trace::Workload workload;
  workload.name = shown;
  workload.processors = setting.options.processors;
  Cluster cluster(sim::cluster_options(setting.options, setting.chain));
  std::map<JobId, std::pair<JobSpec, Duration>> jobs;  // in order of submission
  const Machine* machine = setting.machine.get();
  std::int64_t number = 0;
  for (const Fact& fact : facts) {
    ++number;
    if (auto why = cluster.objection(fact)) {
      return fail(shown + ": fact " + std::to_string(fact.sequence) + " contradicts those before it: " + *why);
    }
    if (std::holds_alternative<CycleClosed>(fact.what)) {
      for (const JobId id : cluster.gone()) {
        const Job& job = cluster.job(id);
        ++workload.report.rows;
        if (job.state == JobState::rejected || !job.ended()) {
          workload.report.note("job cancelled or rejected: left out", number);
          continue;
        }
        jobs[id] = {cluster.request(id), std::max(job.run_time(), Duration{1})};
      }
    }
    cluster.fold(fact);
  }
  cluster.for_each_job([&](JobId, const Job&) {
    ++workload.report.rows;
    workload.report.note("job that had not ended when the journal ends: left out", number);
  });
  for (auto& [id, job] : jobs) {
    JobSpec& spec = job.first;
    if (machine && spec.partition.valid()) {  // what a rehearsal adds by itself
      spec.priority -= machine->partitions[spec.partition.value].priority;
      workload.partitions[spec.partition.value] = machine->partitions[spec.partition.value].name;
    }
    workload.jobs.push_back(spec);
    workload.run_times.push_back(job.second);
    ++workload.report.kept;
  }
  std::vector<std::size_t> order(workload.jobs.size());
  if (workload.jobs.empty()) return fail(shown + ": no job has ended in it, so there is nothing to rehearse.");
  const auto by_submit = [](const JobSpec& a, const JobSpec& b) { return a.submit < b.submit; };
  if (!std::ranges::is_sorted(workload.jobs, by_submit)) {
    return fail(shown + ": its jobs are not in order of submission; it was changed by hand.");
  }
  return workload;
}

}  // namespace rota::cli
