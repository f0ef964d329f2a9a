#include "study/migration_study.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "report/formatted.h"

namespace rota::study {
namespace {

using report::formatted;
using report::within;

constexpr const char* kNone = "";
constexpr const char* kPublished = "+migrate=cpu-factor";
constexpr const char* kGain = "+migrate=gain";

double change(const MigrationTotals& from, const MigrationTotals& to) { return 100 * (to.minutes / from.minutes - 1); }

// Rehearses on demand and remembers the first error.
class Cases {
 public:
  explicit Cases(const MigrationStudy& study) : study_(study) {}

  const std::optional<Error>& error() const { return error_; }

  MigrationRow row(const MigrationCase& setting) {
    MigrationRow row{setting, {}, {}, {}, command(setting, {kNone, kPublished, kGain})};
    const std::int64_t seeds = seeds_of(setting, study_);
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
  double minutes(const MigrationCase& setting, const std::string& knobs) { return run(setting, knobs, 0).minutes; }

  // The cell, whose figure is of no moves and of these knobs in a case.
  report::Cell made_by(report::Cell cell, const MigrationCase& setting, const std::string& knobs, std::string reads) {
    return by_command(std::move(cell), command(setting, {kNone, knobs}), std::move(reads));
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
    return command_of(setting, study_, all_knobs);
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

// What the paper says of two models beside its eight copies. On how many hosts, and how fast, is not printed: assumed
// is a fast host like that of Job3, which other jobs have for an hour as each of these begins. How long the modal
// analysis takes is assumed, too.
constexpr std::int64_t kTaken = 60;
const MigrationCase kSol111{.name = "SOL111", .ratio = 1930, .slots = 1, .slow = 26 * 60, .taken = kTaken};
const MigrationCase kSatellite{
    .name = "satellite", .ratio = 1930, .slots = 1, .slow = 12 * 60, .taken = kTaken, .times = 10, .last = 2 * 60};

// Eight copies of a job that takes so long on the slow host, between Job2 and Job3 in how much faster the fast one is.
MigrationCase of_size(std::int64_t hours) {
  return {.name = formatted("copies of %lld h", static_cast<long long>(hours)), .ratio = 1950, .slow = hours * 60};
}
constexpr std::array<std::int64_t, 12> kSizes{1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24};  // hours

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

void add_models(std::vector<report::Cell>& cells, Cases& cases) {
  const auto hours_of = [](const MigrationCase& setting, int which) {
    const std::int64_t jobs = setting.times + (setting.last > 0 ? 1 : 0);
    return formatted(
        "of the %s policy, (utilization x processors x makespan_s + lost_work_processor_s) / 3600, less %lld h in "
        "which "
        "other jobs have the fast host",
        which == 0 ? "first" : "second", static_cast<long long>(jobs * setting.taken / 60));
  };
  const auto sol111 = [&](std::string claim, const MigrationCase& setting) {
    auto cell = within(std::move(claim), cases.minutes(setting, kPublished) / 60, 10, 0.5, "10");
    cell.better = cases.minutes(setting, kGain) / 60;
    cells.push_back(cases.made_by(std::move(cell), setting, kPublished, hours_of(setting, 1)));
  };
  sol111("SOL111, 26 h on the slow host: hours with moves", kSol111);
  MigrationCase faster = kSol111;
  faster.ratio = 2600;
  faster.name += ", 2.6 times";
  sol111("the same, the fast host 2.6 times as fast: hours", faster);
  const auto days = [&](std::string claim, const char* knobs, double wanted, const char* paper) {
    return cases.made_by(within(std::move(claim), cases.minutes(kSatellite, knobs) / 60 / 24, wanted, 0.25, paper),
                         kSatellite, kPublished, hours_of(kSatellite, knobs == kNone ? 0 : 1) + ", all that by 24");
  };
  cells.push_back(days("satellite, ten of 12 h and one of 2 h: days without moves", kNone, 5, "5"));
  cells.push_back(days("the same, with moves", kPublished, 3.5, "3.5"));
  cells.back().better = cases.minutes(kSatellite, kGain) / 60 / 24;
}

// The paper's second figure: what is saved, over the size of the job.
report::Plot add_sizes(std::vector<report::Cell>& cells, Cases& cases) {
  report::Plot::Line published{"published", {}};
  report::Plot::Line gain{"gain", {}};
  report::Plot::Line paper{"in the paper", {{66, 0}, {395, 12.6}, {892, 15.27}}};
  for (auto& [minutes, saved] : paper.points) minutes /= 60;
  double least_minutes = report::kAny;
  double least_share = report::kAny;
  double minutes_before = 0;
  double share_before = 0;
  for (const std::int64_t hours : kSizes) {
    const MigrationCase setting = of_size(hours);
    const double none = cases.minutes(setting, kNone);
    const double saved = none - cases.minutes(setting, kPublished);
    const double share = 100 * saved / none;
    published.points.emplace_back(hours, share);
    gain.points.emplace_back(hours, 100 * (1 - cases.minutes(setting, kGain) / none));
    if (hours > 4) least_minutes = std::min(least_minutes, saved - minutes_before);
    if (hours > 4 && hours <= 8) least_share = std::min(least_share, share - share_before);
    minutes_before = saved;
    share_before = share;
  }
  const auto grows = [&](const char* claim, double least) {
    constexpr double kAbove = 1e-9;
    cells.push_back(report::without_command({claim, least, kAbove, report::kAny, "it grows with the job (figure 2)"},
                                            "it compares jobs of several sizes"));
  };
  grows("copies of 4 to 24 h: least growth of what is saved, minutes", least_minutes);
  grows("copies of 4 to 8 h: the same, points", least_share);
  return {"Eight copies", "run time on the slow host, h", "run time saved, %", {published, gain, paper}};
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

Result<MigrationFindings> study_migration(const MigrationStudy& study) {
  Cases cases(study);
  MigrationFindings findings;
  for (const MigrationCase& copies : kCopies) {
    for (const std::int64_t cost : {0, 5}) findings.rows.push_back(cases.row(with_cost(copies, cost)));
  }
  for (const MigrationCase& model : {kSol111, kSatellite}) findings.rows.push_back(cases.row(model));
  for (const double load : {0.5, 0.7, 0.85}) {
    for (const std::int64_t cost : {0, 5, 15, 30}) {
      findings.rows.push_back(cases.row(stream(load, cost, Restart::checkpoint)));
    }
    findings.rows.push_back(cases.row(stream(load, 5, Restart::from_start)));
  }
  add_copies(findings.cells, cases);
  add_models(findings.cells, cases);
  findings.plots.push_back(add_sizes(findings.cells, cases));
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
            auto found = TRY(study_migration(*study));
            return Findings{table_of(found.rows, study->seeds),
                            json_of(found.rows, study->seeds),
                            "eight copies of a job on two hosts, then streams",
                            std::move(found.cells),
                            std::move(found.plots),
                            [used = found.used, study = *study] { return files_of(used, study); }};
          }};
}

}  // namespace rota::study
