#include "study/migration_case.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "base/random.h"
#include "rehearse/rehearse.h"
#include "report/formatted.h"
#include "study/inputs.h"
#include "study/mersenne_stream.h"

namespace rota::study {
namespace {

using report::formatted;

constexpr Duration kMinute = seconds(60);

double minutes_of(Duration time) { return to_seconds(time) / 60; }

Machine two_hosts(const MigrationCase& setting) {
  Machine machine = Machine::counted(2 * setting.slots);
  Node node;
  node.processors = setting.slots;
  node.name = "fast";
  node.cpu_factor = setting.ratio;
  machine.nodes.push_back(node);
  node.name = "slow";
  node.cpu_factor = 1000;
  machine.nodes.push_back(node);
  machine.racks = {""};
  return machine;
}

// A job of one slot that would take so long on the slow host, and is known to.
void add_job(log::Workload& workload, const MigrationCase& setting, Duration submit, Duration slow) {
  JobSpec spec;
  spec.number = static_cast<std::int64_t>(workload.jobs.size()) + 1;
  spec.submit = kEpoch + submit;
  spec.limit = slow;
  spec.restart = setting.restart;
  spec.restart_cost = setting.cost * kMinute;
  workload.jobs.push_back(spec);
  workload.run_times.push_back(slow);
}

// Log-normal work (median 2 h, from 5 min to 50 h) and Poisson arrivals.
void add_stream(log::Workload& workload, const MigrationCase& setting, std::int64_t seed) {
  MersenneStream random(static_cast<std::uint32_t>(seed));
  std::array<double, kStreamJobs> work{};
  double sum = 0;
  for (double& w : work) sum += w = std::clamp(std::exp(std::log(120.0) + 1.2 * random.normal()), 5.0, 3000.0);
  Random errors(static_cast<std::uint64_t>(seed));
  const double slots = static_cast<double>(setting.slots) * (1 + setting.ratio / 1000.0);
  double at = 0;
  for (const double w : work) {
    at += random.exponential(sum / kStreamJobs / (setting.load * slots));
    add_job(workload, setting, Duration{std::llround(at * 60'000)}, Duration{std::llround(w * 60'000)});
    if (setting.error == 0) continue;
    JobSpec& job = workload.jobs.back();
    const double told = to_seconds(job.limit) * std::exp(errors.normal(0.0, setting.error));
    job.limit = std::max(seconds(1), Duration{std::llround(told * 1000)});
  }
}

// Each is submitted once the one before is surely over, behind a job that takes the fast host and stays there.
void add_one_after_another(log::Workload& workload, const MigrationCase& setting) {
  std::vector<std::int64_t> jobs(static_cast<std::size_t>(setting.times), setting.slow);
  if (setting.last > 0) jobs.push_back(setting.last);
  Duration submit{0};
  for (const std::int64_t slow : jobs) {
    add_job(workload, setting, submit, setting.taken * kMinute * setting.ratio / 1000);
    workload.jobs.back().restart = Restart::once;
    add_job(workload, setting, submit, slow * kMinute);
    submit += (setting.taken + setting.slow) * kMinute;
  }
}

bool only_takes_the_fast_host(const MigrationCase& setting, const JobSpec& spec) {
  return setting.taken > 0 && spec.restart == Restart::once;
}

log::Workload workload_of(const MigrationCase& setting, std::int64_t seed) {
  log::Workload workload;
  workload.name = setting.name;
  workload.processors = 2 * setting.slots;
  if (setting.slow == 0) {
    add_stream(workload, setting, seed);
  } else if (setting.taken > 0) {
    add_one_after_another(workload, setting);
  } else {
    for (std::uint32_t i = 0; i < 2 * setting.slots; ++i)
      add_job(workload, setting, Duration{0}, setting.slow * kMinute);
  }
  return workload;
}

// ---- how the figures are made again

std::string policy_of(const std::string& knobs) { return "fcfs+overrun=run-on" + knobs; }

std::string cluster_file_of(const MigrationCase& setting) {
  return formatted("hosts-%u-slots-%d.toml", setting.slots, setting.ratio);
}

std::string cluster_text_of(const MigrationCase& setting) {
  const auto host = [&](const char* name, double factor) {
    return formatted("[[nodes]]\nnames = \"%s\"\nprocessors = %u\ncpu_factor = %.3f\n", name, setting.slots, factor);
  };
  return fmt::format("{}\n{}", host("fast", setting.ratio / 1000.0), host("slow", 1));
}

std::string log_file_of(const MigrationCase& setting, std::int64_t seed) {
  std::string name;
  for (const char c : setting.name) {
    if (c == ' ' && !name.ends_with('-')) name += '-';
    if (c != ' ' && c != ',') name += c;
  }
  if (setting.error > 0) name += formatted("-limits-%.1f", setting.error);
  if (setting.slow == 0) name += formatted("-seed-%lld", static_cast<long long>(seed));
  return name + ".jsonl";
}

}  // namespace

std::int64_t seeds_of(const MigrationCase& setting, const MigrationStudy& study) {
  return setting.slow == 0 ? study.seeds : 1;
}

std::string command_of(const MigrationCase& setting, const MigrationStudy& study,
                       std::initializer_list<std::string> all_knobs) {
  std::vector<std::string> files;
  for (std::int64_t i = 0; i < seeds_of(setting, study); ++i)
    files.push_back(log_file_of(setting, study.first_seed + i));
  std::vector<std::string> policies;
  for (const std::string& knobs : all_knobs) policies.push_back(policy_of(knobs));
  return simulate_command(files, "--cluster " + cluster_file_of(setting), policies);
}

std::vector<StudyFile> files_of(const std::vector<MigrationCase>& cases, const MigrationStudy& study) {
  std::vector<StudyFile> files;
  const auto add = [&](StudyFile file) {
    if (std::ranges::find(files, file.name, &StudyFile::name) == files.end()) files.push_back(std::move(file));
  };
  for (const MigrationCase& one : cases) {
    add({cluster_file_of(one), cluster_text_of(one)});
    for (std::int64_t i = 0; i < seeds_of(one, study); ++i) {
      const std::int64_t seed = study.first_seed + i;
      add({log_file_of(one, seed), json_text(workload_of(one, seed))});
    }
  }
  return files;
}

Result<MigrationTotals> migrate_case(const MigrationCase& setting, const std::string& knobs, std::int64_t seed) {
  const auto chain = TRY(Chain::parse(policy_of(knobs)));
  const log::Workload workload = workload_of(setting, seed);
  RehearseOptions options;
  options.processors = workload.processors;
  options.machine = std::make_shared<const Machine>(two_hosts(setting));
  options.keep_jobs = true;
  const auto rehearsed = TRY(rehearse(workload, chain, options));
  MigrationTotals totals;
  totals.minutes = minutes_of(rehearsed.outcome.lost_work);
  for (const Job& job : rehearsed.outcome.jobs) {
    if (only_takes_the_fast_host(setting, job.spec)) continue;
    totals.minutes += minutes_of(job.run_time());
    totals.moves += job.migrations;
  }
  return totals;
}

}  // namespace rota::study
