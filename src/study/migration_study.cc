#include "study/migration_study.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "base/random.h"
#include "rehearse/rehearse.h"
#include "report/formatted.h"
#include "study/inputs.h"
#include "study/mersenne_stream.h"

namespace rota::study {
namespace {

using report::formatted;
using report::within;

constexpr std::int64_t kStreamJobs = 250;
constexpr Duration kMinute = seconds(60);

constexpr const char* kNone = "";
constexpr const char* kPublished = "+migrate=cpu-factor";
constexpr const char* kGain = "+migrate=gain";

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

log::Workload workload_of(const MigrationCase& setting, std::int64_t seed) {
  log::Workload workload;
  workload.name = setting.name;
  workload.processors = 2 * setting.slots;
  if (setting.slow == 0) {
    add_stream(workload, setting, seed);
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
  return host("fast", setting.ratio / 1000.0) + "\n" + host("slow", 1);
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

std::vector<StudyFile> files_of(const std::vector<MigrationCase>& cases, const MigrationStudy& study) {
  std::vector<StudyFile> files;
  const auto add = [&](StudyFile file) {
    if (std::ranges::find(files, file.name, &StudyFile::name) == files.end()) files.push_back(std::move(file));
  };
  for (const MigrationCase& one : cases) {
    add({cluster_file_of(one), cluster_text_of(one)});
    for (std::int64_t i = 0; i < (one.slow == 0 ? study.seeds : 1); ++i) {
      const std::int64_t seed = study.first_seed + i;
      add({log_file_of(one, seed), json_text(workload_of(one, seed))});
    }
  }
  return files;
}

double change(const MigrationTotals& from, const MigrationTotals& to) { return 100 * (to.minutes / from.minutes - 1); }

// Rehearses on demand and remembers the first error.
class Cases {
 public:
  explicit Cases(const MigrationStudy& study) : study_(study) {}

  const std::optional<Error>& error() const { return error_; }

  MigrationRow row(const MigrationCase& setting) {
    MigrationRow row{setting, {}, {}, {}, command(setting, {kNone, kPublished, kGain})};
    const std::int64_t seeds = setting.slow == 0 ? study_.seeds : 1;
    row.published.worst = row.gain.worst = -100;
    for (std::int64_t seed = study_.first_seed; seed < study_.first_seed + seeds; ++seed) {
      const MigrationTotals none = run(setting, kNone, seed);
      add(row.none, none, none);
      add(row.published, run(setting, kPublished, seed), none);
      add(row.gain, run(setting, kGain, seed), none);
    }
    return row;
  }

  // Minutes saved by a rule in a case of copies.
  double saved(const MigrationCase& setting, const std::string& knobs) {
    return run(setting, kNone, 0).minutes - run(setting, knobs, 0).minutes;
  }
  double moves(const MigrationCase& setting, const std::string& knobs) { return run(setting, knobs, 0).moves; }

  // The cell, whose figure is of no moves and of these knobs in a case.
  report::Cell made_by(report::Cell cell, const MigrationCase& setting, const std::string& knobs, const char* reads) {
    return by_command(std::move(cell), command(setting, {kNone, knobs}), reads);
  }
  const std::vector<MigrationCase>& used() const { return used_; }  // in commands

 private:
  MigrationTotals run(const MigrationCase& setting, const std::string& knobs, std::int64_t seed) {
    auto totals = migrate_case(setting, knobs, seed);
    if (totals) return *totals;
    if (!error_) error_ = totals.error();
    return {};
  }
  std::string command(const MigrationCase& setting, std::initializer_list<std::string> all_knobs) {
    used_.push_back(setting);
    std::vector<std::string> files;
    for (std::int64_t i = 0; i < (setting.slow == 0 ? study_.seeds : 1); ++i)
      files.push_back(log_file_of(setting, study_.first_seed + i));
    std::vector<std::string> policies;
    for (const std::string& knobs : all_knobs) policies.push_back(policy_of(knobs));
    return simulate_command(files, "--cluster " + cluster_file_of(setting), policies);
  }
  static void add(MigrationTotals& sum, const MigrationTotals& one, const MigrationTotals& none) {
    sum.minutes += one.minutes;
    sum.moves += one.moves;
    sum.worst = std::max(sum.worst, change(none, one));
  }

  const MigrationStudy& study_;
  std::optional<Error> error_;
  std::vector<MigrationCase> used_;
};

// How figures are read from what the commands print.
constexpr const char* kSaved =
    "first policy less second, each (utilization x processors x makespan_s + lost_work_processor_s) / 60";
constexpr const char* kMoves = "`migrations` of the second policy";
constexpr const char* kChange =
    "in per cent, second policy against first, each the sum over the workloads of utilization x processors x "
    "makespan_s + lost_work_processor_s";

const std::array<MigrationCase, 3> kCopies{{{.name = "Job1", .ratio = 1100, .slow = 66},
                                            {.name = "Job2", .ratio = 1970, .slow = 395},
                                            {.name = "Job3", .ratio = 1930, .slow = 892}}};

MigrationCase with_cost(MigrationCase setting, std::int64_t cost) {
  setting.cost = cost;
  setting.name += formatted(", cost %lld", static_cast<long long>(cost));
  return setting;
}

MigrationCase stream(double load, std::int64_t cost, Restart restart) {
  return {.name = formatted("load %.2f, cost %lld%s", load, static_cast<long long>(cost),
                            restart == Restart::from_start ? ", starts over" : ""),
          .slots = 12,
          .load = load,
          .cost = cost,
          .restart = restart};
}

void add_copies(std::vector<report::Cell>& cells, Cases& cases) {
  struct Wanted {
    double saved;
    double tolerance;
    double moves;
    const char* paper;
  };
  constexpr std::array<Wanted, 3> kWanted{{{0, 0, 0, "no change"}, {300, 5, 4, "300"}, {824, 8, 4, "827"}}};
  for (std::size_t i = 0; i < kCopies.size(); ++i) {
    const Wanted& w = kWanted[i];
    auto cell =
        within(kCopies[i].name + ": minutes saved", cases.saved(kCopies[i], kPublished), w.saved, w.tolerance, w.paper);
    cell.better = cases.saved(kCopies[i], kGain);
    cells.push_back(cases.made_by(cell, kCopies[i], kPublished, kSaved));
    cell = within(kCopies[i].name + ": moves", cases.moves(kCopies[i], kPublished), w.moves, 0);
    cells.push_back(cases.made_by(cell, kCopies[i], kPublished, kMoves));
  }
  const std::string every_five = std::string(kPublished) + "+poll=5m";
  const auto add = [&](const char* claim, const MigrationCase& setting, const std::string& knobs, double wanted,
                       double tolerance) {
    cells.push_back(
        cases.made_by(within(claim, cases.saved(setting, knobs), wanted, tolerance), setting, knobs, kSaved));
  };
  add("Job2, looks every 5 min: minutes saved", kCopies[1], every_five, 281, 5);
  add("Job3, looks every 5 min: minutes saved", kCopies[2], every_five, 809, 8);
  const MigrationCase costly = with_cost(kCopies[1], 5);
  add("Job2, cost 5 min: minutes saved", costly, kPublished, 280, 5);
  cells.back().better = cases.saved(costly, kGain);
  add("Job3, cost 5 min: minutes saved", with_cost(kCopies[2], 5), kPublished, 804, 8);
  const auto gain = [&](const char* claim, const MigrationCase& setting, double least) {
    cells.push_back(cases.made_by({claim, cases.saved(setting, kGain), least, report::kAny}, setting, kGain, kSaved));
  };
  gain("gain, Job2: minutes saved", kCopies[1], 380);
  gain("gain, Job3: minutes saved", kCopies[2], 824);
  gain("gain, Job2, cost 5 min: minutes saved", costly, 362);
}

void add_streams(std::vector<report::Cell>& cells, Cases& cases) {
  using report::kAny;
  const MigrationCase keeps = stream(0.7, 5, Restart::checkpoint);
  const MigrationRow kept = cases.row(keeps);
  auto published =
      within("stream at 0.70, cost 5 min: total run time, %", change(kept.none, kept.published), -4.4, 0.5);
  published.better = change(kept.none, kept.gain);
  cells.push_back(cases.made_by(published, keeps, kPublished, kChange));
  cells.push_back(cases.made_by({"the same, gain", change(kept.none, kept.gain), -kAny, -6.7}, keeps, kGain, kChange));
  const MigrationCase loses = stream(0.7, 5, Restart::from_start);
  const MigrationRow lost = cases.row(loses);
  auto harm = within("the same, jobs that start over, %", change(lost.none, lost.published), 7.1, 0.5);
  harm.better = change(lost.none, lost.gain);
  cells.push_back(cases.made_by(harm, loses, kPublished, kChange));
  // Where an independent program has found a figure, that and half a point; else no more than without moves.
  const auto gain = [&](std::string claim, const MigrationCase& setting, std::optional<double> wanted) {
    const MigrationRow row = cases.row(setting);
    const double found = change(row.none, row.gain);
    auto cell =
        wanted ? within(std::move(claim), found, *wanted, 0.5) : report::Cell{std::move(claim), found, -kAny, 0};
    cells.push_back(cases.made_by(std::move(cell), setting, kGain, kChange));
  };
  for (const auto& [load, wanted] : {std::pair<double, std::optional<double>>{0.5, {}}, {0.7, -4.2}, {0.85, -2.2}}) {
    gain(formatted("gain, jobs that start over, load %.2f, %%", load), stream(load, 5, Restart::from_start), wanted);
  }
  for (const double error : {0.5, 0.7, 1.0}) {
    for (const Restart restart : {Restart::checkpoint, Restart::from_start}) {
      MigrationCase setting = stream(0.7, 5, restart);
      setting.error = error;
      gain(formatted("gain, limits log-normal (%.1f) about the run time%s, load 0.70, %%", error,
                     restart == Restart::from_start ? ", jobs that start over" : ""),
           setting, error == 0.7 && restart == Restart::checkpoint ? std::optional(-6.5) : std::nullopt);
    }
  }
}

std::string table_of(const std::vector<MigrationRow>& rows, std::int64_t seeds) {
  std::string out = formatted(
      "Time that all jobs hold a slot (and a licence each), streams: %lld seeds of %lld jobs\n"
      "%-34s %12s | %9s %7s %12s | %9s %7s %12s\n",
      static_cast<long long>(seeds), static_cast<long long>(kStreamJobs), "case", "no moves, h", "published", "moves",
      "hours freed", "gain", "moves", "hours freed");
  for (const MigrationRow& row : rows) {
    out += formatted("%-34s %12.1f", row.setting.name.c_str(), row.none.minutes / 60);
    for (const MigrationTotals* t : {&row.published, &row.gain}) {
      out +=
          formatted(" | %+7.1f %% %7.0f %12.1f", change(row.none, *t), t->moves, (row.none.minutes - t->minutes) / 60);
    }
    out += "\n";
  }
  return out;
}

std::string json_of(const std::vector<MigrationRow>& rows, std::int64_t seeds) {
  std::string out = formatted("\"seeds\": %lld,\n  \"rows\": [", static_cast<long long>(seeds));
  const char* separator = "\n";
  for (const MigrationRow& row : rows) {
    out += separator + formatted(R"(    {"case": "%s", "minutes": %.9g)", row.setting.name.c_str(), row.none.minutes);
    for (const auto& [name, t] : {std::pair{"published", &row.published}, std::pair{"gain", &row.gain}}) {
      out += formatted(R"(, "%s": {"minutes": %.9g, "moves": %.9g, "change": %.9g, "licence_hours_freed": %.9g})", name,
                       t->minutes, t->moves, change(row.none, *t), (row.none.minutes - t->minutes) / 60);
    }
    out += R"(, "command": ")" + row.command + "\"}";
    separator = ",\n";
  }
  return out + "\n  ]";
}

report::Plot plot_of(const std::vector<MigrationRow>& rows, double load) {
  report::Plot plot{formatted("Stream at a load of %.2f", load), "cost of a move, min", "run time saved, %", {}};
  report::Plot::Line published{"published", {}};
  report::Plot::Line gain{"gain", {}};
  for (const MigrationRow& row : rows) {
    if (row.setting.slow != 0 || row.setting.load != load || row.setting.restart == Restart::from_start) continue;
    published.points.emplace_back(row.setting.cost, -change(row.none, row.published));
    gain.points.emplace_back(row.setting.cost, -change(row.none, row.gain));
  }
  plot.lines = {published, gain};
  return plot;
}

}  // namespace

Result<MigrationTotals> migrate_case(const MigrationCase& setting, const std::string& knobs, std::int64_t seed) {
  const auto chain = Chain::parse(policy_of(knobs));
  if (!chain) return std::unexpected(chain.error());
  const log::Workload workload = workload_of(setting, seed);
  RehearseOptions options;
  options.processors = workload.processors;
  options.machine = std::make_shared<const Machine>(two_hosts(setting));
  options.keep_jobs = true;
  const auto rehearsed = rehearse(workload, *chain, options);
  if (!rehearsed) return std::unexpected(rehearsed.error());
  MigrationTotals totals;
  totals.minutes = minutes_of(rehearsed->outcome.lost_work);
  for (const Job& job : rehearsed->outcome.jobs) {
    totals.minutes += minutes_of(job.run_time());
    totals.moves += job.migrations;
  }
  return totals;
}

Result<MigrationFindings> study_migration(const MigrationStudy& study) {
  Cases cases(study);
  MigrationFindings findings;
  for (const MigrationCase& copies : kCopies) {
    for (const std::int64_t cost : {0, 5}) findings.rows.push_back(cases.row(with_cost(copies, cost)));
  }
  for (const double load : {0.5, 0.7, 0.85}) {
    for (const std::int64_t cost : {0, 5, 15, 30}) {
      findings.rows.push_back(cases.row(stream(load, cost, Restart::checkpoint)));
    }
    findings.rows.push_back(cases.row(stream(load, 5, Restart::from_start)));
  }
  add_copies(findings.cells, cases);
  add_streams(findings.cells, cases);
  for (const double load : {0.5, 0.7, 0.85}) findings.plots.push_back(plot_of(findings.rows, load));
  findings.used = cases.used();
  if (cases.error()) return std::unexpected(*cases.error());
  return findings;
}

Study migration_study() {
  auto study = std::make_shared<MigrationStudy>();
  return {"migration",
          "running jobs move to faster nodes (Wang et al. 2018)",
          {{"--seeds", "streams of each kind: how many, with seeds from 0 on, or the first and the last seed",
            SeedsChosen{&study->seeds, &study->first_seed}, 1, 10'000, "N|FIRST-LAST"}},
          [study]() -> Result<Findings> {
            auto found = study_migration(*study);
            if (!found) return std::unexpected(found.error());
            return Findings{table_of(found->rows, study->seeds),
                            json_of(found->rows, study->seeds),
                            "eight copies of a job on two hosts, then streams",
                            std::move(found->cells),
                            std::move(found->plots),
                            [used = found->used, study = *study] { return files_of(used, study); }};
          }};
}

}  // namespace rota::study
