#include "study/migration_study.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "base/random.h"
#include "rehearse/rehearse.h"
#include "report/formatted.h"
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

double change(const MigrationTotals& from, const MigrationTotals& to) { return 100 * (to.minutes / from.minutes - 1); }

// Rehearses on demand and remembers the first error.
class Cases {
 public:
  explicit Cases(std::int64_t seeds) : seeds_(seeds) {}

  const std::optional<Error>& error() const { return error_; }

  MigrationRow row(const MigrationCase& setting) {
    MigrationRow row{setting, {}, {}, {}};
    const std::int64_t seeds = setting.slow == 0 ? seeds_ : 1;
    row.published.worst = row.gain.worst = -100;
    for (std::int64_t seed = 0; seed < seeds; ++seed) {
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

 private:
  MigrationTotals run(const MigrationCase& setting, const std::string& knobs, std::int64_t seed) {
    auto totals = migrate_case(setting, knobs, seed);
    if (totals) return *totals;
    if (!error_) error_ = totals.error();
    return {};
  }
  static void add(MigrationTotals& sum, const MigrationTotals& one, const MigrationTotals& none) {
    sum.minutes += one.minutes;
    sum.moves += one.moves;
    sum.worst = std::max(sum.worst, change(none, one));
  }

  std::int64_t seeds_;
  std::optional<Error> error_;
};

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
    cells.push_back(cell);
    cells.push_back(within(kCopies[i].name + ": moves", cases.moves(kCopies[i], kPublished), w.moves, 0));
  }
  std::string every_five(kPublished);
  every_five += "+poll=5m";
  cells.push_back(within("Job2, looks every 5 min: minutes saved", cases.saved(kCopies[1], every_five), 281, 5));
  cells.push_back(within("Job3, looks every 5 min: minutes saved", cases.saved(kCopies[2], every_five), 809, 8));
  const MigrationCase costly = with_cost(kCopies[1], 5);
  auto cell = within("Job2, cost 5 min: minutes saved", cases.saved(costly, kPublished), 280, 5);
  cell.better = cases.saved(costly, kGain);
  cells.push_back(cell);
  cells.push_back(within("Job3, cost 5 min: minutes saved", cases.saved(with_cost(kCopies[2], 5), kPublished), 804, 8));
  using report::kAny;
  cells.push_back({"gain, Job2: minutes saved", cases.saved(kCopies[1], kGain), 380, kAny});
  cells.push_back({"gain, Job3: minutes saved", cases.saved(kCopies[2], kGain), 824, kAny});
  cells.push_back({"gain, Job2, cost 5 min: minutes saved", cases.saved(costly, kGain), 362, kAny});
}

void add_streams(std::vector<report::Cell>& cells, Cases& cases) {
  using report::kAny;
  const MigrationRow kept = cases.row(stream(0.7, 5, Restart::checkpoint));
  auto published =
      within("stream at 0.70, cost 5 min: total run time, %", change(kept.none, kept.published), -4.4, 0.5);
  published.better = change(kept.none, kept.gain);
  cells.push_back(published);
  cells.push_back({"the same, gain", change(kept.none, kept.gain), -kAny, -6.7});
  const MigrationRow lost = cases.row(stream(0.7, 5, Restart::from_start));
  auto harm = within("the same, jobs that start over, %", change(lost.none, lost.published), 7.1, 0.5);
  harm.better = change(lost.none, lost.gain);
  cells.push_back(harm);
  for (const double load : {0.5, 0.7, 0.85}) {
    const MigrationRow row = cases.row(stream(load, 5, Restart::from_start));
    cells.push_back(
        {formatted("gain, jobs that start over, load %.2f, %%", load), change(row.none, row.gain), -kAny, 0});
  }
  for (const double error : {0.5, 1.0}) {
    for (const Restart restart : {Restart::checkpoint, Restart::from_start}) {
      MigrationCase setting = stream(0.7, 5, restart);
      setting.error = error;
      const MigrationRow row = cases.row(setting);
      cells.push_back({formatted("gain, limits log-normal (%.1f) about the run time%s, load 0.70, %%", error,
                                 restart == Restart::from_start ? ", jobs that start over" : ""),
                       change(row.none, row.gain), -kAny, 0});
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
    out += "}";
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
  const auto chain = Chain::parse("fcfs+overrun=run-on" + knobs);
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
  Cases cases(study.seeds);
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
  if (cases.error()) return std::unexpected(*cases.error());
  return findings;
}

Study migration_study() {
  auto study = std::make_shared<MigrationStudy>();
  return {"migration",
          "running jobs move to faster nodes (Wang et al. 2018)",
          {{"--seeds", "streams of each kind, with seeds 0, 1, 2, ...", &study->seeds, 1, 10'000}},
          [study]() -> Result<Findings> {
            auto found = study_migration(*study);
            if (!found) return std::unexpected(found.error());
            return Findings{table_of(found->rows, study->seeds), json_of(found->rows, study->seeds),
                            "eight copies of a job on two hosts, then streams", std::move(found->cells),
                            std::move(found->plots)};
          }};
}

}  // namespace rota::study
