#include "study/power_study.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <sstream>
#include <thread>

#include "base/check.h"
#include "base/in_parallel.h"
#include "generate/x64_blades.h"
#include "rehearse/rehearse.h"
#include "report/formatted.h"
#include "study/inputs.h"
#include "study/power_frontier.h"

namespace rota::study {
namespace {

using report::Cell;
using report::formatted;
using report::within;

constexpr std::array<std::int64_t, 3> kSizes{320, 240, 160};
constexpr std::array<std::int64_t, 5> kIntervals{0, 30, 60, 120, 240};  // minutes; 0: always on
constexpr std::string_view kDemand = "+power=demand";
constexpr sim::Ties kTies = sim::Ties::one_by_one;

// As printed, by size and interval; the column of waits says minutes and means hours.
struct Printed {
  double minutes, work, idle, off, wait;
};
constexpr std::array<std::array<Printed, 5>, 3> kPaper{{{{{48915, 57.41, 42.59, 0.00, 0.68},
                                                          {48915, 57.41, 2.93, 39.66, 1.53},
                                                          {48917, 57.41, 3.86, 38.73, 1.55},
                                                          {48915, 57.41, 5.52, 37.07, 1.80},
                                                          {48915, 57.41, 11.83, 30.76, 2.27}}},
                                                        {{{49401, 75.80, 24.20, 0.00, 2.73},
                                                          {49486, 75.67, 3.32, 21.01, 3.43},
                                                          {49456, 75.71, 3.83, 20.46, 3.45},
                                                          {49509, 75.63, 5.15, 19.21, 3.62},
                                                          {49391, 75.81, 8.22, 15.97, 3.57}}},
                                                        {{{62034, 90.54, 9.46, 0.00, 56.53},
                                                          {62257, 90.22, 4.23, 5.56, 57.97},
                                                          {62221, 90.27, 4.22, 5.51, 58.30},
                                                          {62100, 90.45, 4.44, 5.12, 57.25},
                                                          {62142, 90.39, 5.20, 4.42, 57.37}}}}};

// What an independent program, kept simple, finds on the same streams.
struct AllOn {
  double idle, wait;
};
constexpr std::array<AllOn, 3> kSkipping{{{42.62, 0.607}, {24.03, 2.707}, {9.43, 33.54}}};
constexpr std::array<AllOn, 3> kStrict{{{42.64, 0.66}, {24.49, 2.74}, {9.51, 74.17}}};
constexpr std::array<std::array<double, 4>, 3> kOff{
    {{38.9, 37.2, 34.8, 31.9}, {20.8, 19.7, 18.6, 16.4}, {6.1, 5.9, 5.6, 5.2}}};

// A tenth of a per cent, or what two decimals leave open.
double wait_may_differ(const AllOn& wanted) { return std::max(0.001 * wanted.wait, 0.005); }

std::string cluster_file_of(std::int64_t nodes) { return formatted("nodes-%lld.toml", static_cast<long long>(nodes)); }

std::string log_file_of(X64Stream stream) { return stream == X64Stream::skipping ? "skipping.swf" : "strict.swf"; }

std::string command_of(std::span<const std::string> logs, std::int64_t nodes, const std::string& seeds,
                       std::span<const std::string> policies) {
  return simulate_command(logs, fmt::format("--cluster {} --ties one-by-one{}", cluster_file_of(nodes), seeds),
                          policies);
}

std::string command_of(const PowerCase& setting) {
  return command_of(std::array{log_file_of(setting.stream)}, setting.nodes, "", std::array{setting.policy});
}

// How figures are read from what the commands print. The study reckons from the start of the log.
struct Readings {
  std::string idle, off, total;
  explicit Readings(std::int64_t first) {
    const std::string span = formatted("makespan_s / (makespan_s + %lld)", static_cast<long long>(first));
    idle = fmt::format("100 x (1 - utilization x {})", span);
    off = "100 x power.off_share x " + span;
    total = formatted("makespan_s + %lld", static_cast<long long>(first));
  }
};

Result<Readings> readings_of(X64Stream stream) {
  const auto workload = TRY(x64_stream(stream));
  return Readings((workload.jobs.front().submit - kEpoch) / seconds(1));
}

constexpr const char* kWait = "wait_mean_s / 3600";

Result<PowerRow> rehearse_one(const PowerCase& setting, const log::Workload& workload) {
  const auto chain = TRY(Chain::parse(setting.policy));
  RehearseOptions options;
  options.machine = x64_machine(setting.nodes);
  options.processors = options.machine->processors;
  options.ties = kTies;
  const auto done = TRY(rehearse(workload, chain, options));
  const report::Summary& found = done.summary;
  const report::PowerUse power = found.power.value_or(report::PowerUse{});  // always on: nothing is metered
  const Duration first = workload.jobs.front().submit - kEpoch;
  const auto nodes = static_cast<double>(setting.nodes);
  // The paper reckons from the start of the log; before the first job all nodes are idle.
  const double all = 8 * nodes * static_cast<double>((found.makespan + first).count());
  const double work = *found.utilization * to_seconds(found.makespan) / to_seconds(found.makespan + first);
  PowerRow row{setting,
               to_seconds(found.makespan + first) / 60,
               100 * work,
               0,
               100 * static_cast<double>(power.off) / all,
               *found.wait_mean / 3600,
               power.cycles_per_node_day(),
               100 * power.share(power.off)};
  row.idle = 100 - row.work - row.off;
  return row;
}

const char* scheduler_of(X64Stream stream) { return stream == X64Stream::skipping ? "fcfs-skip" : "fcfs"; }

// All that the study rehearses: rows[stream][size][interval], then the better rule by size.
struct Runs {
  std::vector<PowerRow> rows;
  std::size_t at(std::size_t size, std::size_t interval) const { return size * kIntervals.size() + interval; }
  const PowerRow& published(std::size_t size, std::size_t interval) const { return rows[at(size, interval)]; }
  const PowerRow& strict(std::size_t size) const { return rows[15 + size]; }
  const PowerRow& demand(std::size_t size) const { return rows[18 + size]; }
};

Result<Runs> run_all(std::size_t threads) {
  std::vector<PowerCase> cases;
  for (const std::int64_t nodes : kSizes) {
    for (const std::int64_t minutes : kIntervals) {
      cases.push_back({X64Stream::skipping, nodes, load_factor_policy(X64Stream::skipping, minutes)});
    }
  }
  for (const std::int64_t nodes : kSizes) cases.push_back({X64Stream::strict, nodes, "fcfs"});
  for (const std::int64_t nodes : kSizes) {
    cases.push_back({X64Stream::skipping, nodes, "fcfs-skip" + std::string(kDemand)});
  }
  auto rows = TRY(rehearse_power(cases, threads));
  return Runs{std::move(rows)};
}

void always_on(const Runs& runs, const Readings& skips, const Readings& in_order, std::vector<Cell>& cells) {
  for (std::size_t s = 0; s < kSizes.size(); ++s) {
    const std::string where = formatted(", %lld nodes always on", static_cast<long long>(kSizes[s]));
    const PowerRow& skipping = runs.published(s, 0);
    const PowerRow& strict = runs.strict(s);
    const auto add = [&](Cell cell, const PowerRow& row, const std::string& reads) {
      cells.push_back(by_command(std::move(cell), command_of(row.setting), reads));
    };
    add(within(fmt::format("FCFS that skips{}: idle %", where), skipping.idle, kSkipping[s].idle, 0.1,
               formatted("%.2f", kPaper[s][0].idle)),
        skipping, skips.idle);
    add(within(fmt::format("FCFS that skips{}: wait h", where), skipping.wait, kSkipping[s].wait,
               wait_may_differ(kSkipping[s]), formatted("%.2f", kPaper[s][0].wait)),
        skipping, kWait);
    add(within(fmt::format("strict FCFS{}: idle %", where), strict.idle, kStrict[s].idle, 0.1,
               formatted("%.2f", kPaper[s][0].idle)),
        strict, in_order.idle);
    add(within(fmt::format("strict FCFS{}: wait h", where), strict.wait, kStrict[s].wait, wait_may_differ(kStrict[s]),
               formatted("%.2f", kPaper[s][0].wait)),
        strict, kWait);
  }
}

// The command that makes the rows at these places of one size.
std::string command_of(const Runs& runs, std::size_t size, std::initializer_list<std::size_t> intervals) {
  std::vector<std::string> policies;
  for (const std::size_t i : intervals) policies.push_back(runs.published(size, i).setting.policy);
  return command_of(std::array{log_file_of(X64Stream::skipping)}, kSizes[size], "", policies);
}

void switched(const Runs& runs, const Readings& reads, std::vector<Cell>& cells) {
  double squares = 0;
  double work_differs = 0;
  double longer = 0;
  bool falls = true;
  for (std::size_t s = 0; s < kSizes.size(); ++s) {
    for (std::size_t i = 1; i < kIntervals.size(); ++i) {
      const PowerRow& row = runs.published(s, i);
      cells.push_back(within(formatted("load-factor, %lld nodes, every %lld min: off %%",
                                       static_cast<long long>(kSizes[s]), static_cast<long long>(kIntervals[i])),
                             row.off, kOff[s][i - 1], 0.5, formatted("%.2f", kPaper[s][i].off)));
      cells.back().better = runs.demand(s).off;
      cells.back() = by_command(std::move(cells.back()), command_of(row.setting), reads.off);
      squares += std::pow(row.off - kPaper[s][i].off, 2);
      const PowerRow& all_on = runs.published(s, 0);
      work_differs = std::max(work_differs, std::abs(row.work - all_on.work));
      longer = std::max(longer, std::abs(row.minutes / all_on.minutes - 1));
      if (i == 1 || s == 2) continue;
      const PowerRow& before = runs.published(s, i - 1);
      falls = falls && row.off < before.off && row.idle > before.idle;
    }
  }
  std::string all;
  for (std::size_t s = 0; s < kSizes.size(); ++s) all += (s == 0 ? "" : "\n") + command_of(runs, s, {0, 1, 2, 3, 4});
  const auto add = [&](Cell cell, std::string command, std::string how) {
    cells.push_back(by_command(std::move(cell), std::move(command), std::move(how)));
  };
  const double most = std::max({runs.published(2, 1).off, runs.published(2, 2).off, runs.published(2, 3).off});
  add({"the 12 off shares, rms from the paper, points", std::sqrt(squares / 12), 0, 1.5}, all,
      fmt::format("the root of the mean of the squares of the 12 differences of {} from the paper's", reads.off));
  add({"work share against always on, points at most", work_differs, 0, 0.3, "0.32"}, all,
      fmt::format("the greatest difference of 100 - ({}) to the first policy", reads.idle));
  add({"total time against always on, % at most", 100 * longer, 0, 0.5, "0.36"}, all,
      fmt::format("the greatest change of {} against the first policy, in per cent", reads.total));
  add({"320 and 240 nodes: off falls and idle rises with the interval (1: yes)", falls ? 1.0 : 0.0, 1, 1, "yes"}, all,
      reads.off + "; what is neither off nor in use is idle");
  add({"320 nodes, every 30 min: off, of what is idle when always on",
       runs.published(0, 1).off / runs.published(0, 0).idle, 0.85, 0.95, "0.93"},
      command_of(runs, 0, {0, 1}), fmt::format("{} of the second policy over {} of the first", reads.off, reads.idle));
  add({"160 nodes: off % at most", most, 0, 6.5, "5.56"}, command_of(runs, 2, {1, 2, 3}), "the most of " + reads.off);
}

void better_rule(const Runs& runs, const Readings& reads, std::vector<Cell>& cells) {
  const PowerRow& all_on = runs.published(0, 0);
  const PowerRow& rule = runs.published(0, 1);
  const PowerRow& demand = runs.demand(0);
  const std::string command = command_of(std::array{log_file_of(X64Stream::skipping)}, kSizes[0], "",
                                         std::array{all_on.setting.policy, rule.setting.policy, demand.setting.policy});
  const auto add = [&](Cell cell, const std::string& how) {
    cells.push_back(by_command(std::move(cell), command, how));
  };
  add({"demand, 320 nodes: off %, at least that of load-factor every 30 min", demand.off, rule.off},
      reads.off + " of the third policy");
  add({"demand, 320 nodes: added wait min, at most half of that of load-factor", 60 * (demand.wait - all_on.wait),
       -report::kAny, 30 * (rule.wait - all_on.wait)},
      "wait_mean_s of the third policy less that of the first, / 60");
  add({"demand, 320 nodes: times that a node is sent to sleep in a day", demand.cycles, 0, 3},
      "power.cycles_per_node_day of the third policy");
}

// Streams on which no constant of the rule was chosen.
struct FreshStreams {
  std::string name;
  std::vector<generate::X64Blades> made;  // with seeds that follow each other
  std::string file;                       // of the first

  std::string seeds() const {
    if (made.size() == 1) return "";
    return formatted(" --seeds %lld-%lld", static_cast<long long>(made.front().seed),
                     static_cast<long long>(made.back().seed));
  }
};

std::vector<FreshStreams> fresh_streams() {
  FreshStreams seeds{"4 fresh streams", {}, "fresh.swf"};
  for (const std::int64_t seed : {101, 102, 103, 104}) seeds.made.emplace_back().seed = seed;
  FreshStreams brief{"a stream of many short jobs", {}, "short-jobs.swf"};
  generate::X64Blades& many = brief.made.emplace_back();
  many.seed = 201;
  many.run_mean = 5;
  many.full = 0.05;
  return {std::move(seeds), std::move(brief)};
}

// The better rule's three claims again, where nothing was chosen: each a mean over the streams.
Result<void> judge_on(const FreshStreams& streams, std::size_t threads, std::vector<Cell>& cells) {
  const std::array<std::string, 3> policies{"fcfs-skip", load_factor_policy(X64Stream::skipping, 30),
                                            "fcfs-skip" + std::string(kDemand)};
  std::vector<Result<PowerRow>> results(streams.made.size() * policies.size(), PowerRow{});
  std::vector<log::Workload> workloads;
  for (generate::X64Blades blades : streams.made) {
    const auto recipe = TRY(blades.recipe());
    workloads.push_back(generate::generate(recipe));
  }
  in_parallel(results.size(), threads, [&](std::size_t i) {
    results[i] = rehearse_one({X64Stream::skipping, 320, policies[i % 3]}, workloads[i / 3]);
  });
  std::array<PowerRow, 3> sums;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) return std::unexpected(results[i].error());
    PowerRow& sum = sums[i % 3];
    const auto n = static_cast<double>(workloads.size());
    sum.off += results[i]->off_share / n;
    sum.wait += results[i]->wait / n;
    sum.cycles += results[i]->cycles / n;
  }
  const auto& [all_on, rule, demand] = sums;
  const std::string command = command_of(std::array{streams.file}, 320, streams.seeds(), policies);
  const std::string of = streams.made.size() > 1 ? "the interval " : "the table's ";
  const auto add = [&](Cell cell, const std::string& how) {
    cells.push_back(by_command(std::move(cell), command, of + how));
  };
  add({streams.name + ": off %, demand, at least that of load-factor", demand.off, rule.off},
      "`share of all processor time: off` of the third policy, in per cent");
  add({streams.name + ": added wait min, demand, at most half of that of load-factor", 60 * (demand.wait - all_on.wait),
       -report::kAny, 30 * (rule.wait - all_on.wait)},
      "`wait before the start: mean` of the third policy less that of the first, in minutes");
  add({streams.name + ": times that a node is sent to sleep in a day, demand", demand.cycles, 0, 3},
      "`sent to sleep: a day` of the third policy");
  return {};
}

std::string table_of(const Runs& runs) {
  std::string out =
      "FCFS that skips; per cent of the nodes' time, waits in hours (the paper's column says minutes)\n"
      "                  |------------ paper ------------|  |------------- Rota -------------|\n"
      "nodes  every min     total   work   idle    off  wait     total   work   idle    off  wait  sleeps a day\n";
  const auto line = [&](const std::string& what, const Printed* p, const PowerRow& r) {
    out += formatted("%5lld  %-9s", static_cast<long long>(r.setting.nodes), what.c_str());
    out += p ? formatted("  %8.0f %6.2f %6.2f %6.2f %5.2f", p->minutes, p->work, p->idle, p->off, p->wait)
             : std::string(37, ' ');
    out += formatted("  %8.0f %6.2f %6.2f %6.2f %5.2f  %12.2f\n", r.minutes, r.work, r.idle, r.off, r.wait, r.cycles);
  };
  for (std::size_t s = 0; s < kSizes.size(); ++s) {
    for (std::size_t i = 1; i < kIntervals.size(); ++i) {
      line(std::to_string(kIntervals[i]), &kPaper[s][i], runs.published(s, i));
    }
    line("always on", &kPaper[s][0], runs.published(s, 0));
    line("demand", nullptr, runs.demand(s));
  }
  return out;
}

std::string json_of(const Runs& runs) {
  std::string out = "\"rows\": [";
  const char* separator = "\n";
  for (const PowerRow& r : runs.rows) {
    out += separator + formatted(R"(    {"stream": "%s", "nodes": %lld, "policy": "%s", "total_min": %.6g, )",
                                 r.setting.stream == X64Stream::skipping ? "pf" : "pc",
                                 static_cast<long long>(r.setting.nodes), r.setting.policy.c_str(), r.minutes);
    out += formatted(R"("work": %.6g, "idle": %.6g, "off": %.6g, "wait_h": %.6g, "cycles_per_node_day": %.6g, )",
                     r.work, r.idle, r.off, r.wait, r.cycles) +
           R"("command": ")" + command_of(r.setting) + "\"}";
    separator = ",\n";
  }
  return out + "\n  ]";
}

report::Plot shares_plot(const Runs& runs) {
  report::Plot plot{"Nodes switched off by load-factor (the paper's figure 1)", "interval, min", "off, %", {}};
  for (std::size_t s = 0; s < kSizes.size(); ++s) {
    report::Plot::Line paper{formatted("%lld nodes, paper", static_cast<long long>(kSizes[s])), {}};
    report::Plot::Line rota{formatted("%lld nodes, Rota", static_cast<long long>(kSizes[s])), {}};
    for (std::size_t i = 1; i < kIntervals.size(); ++i) {
      const auto minutes = static_cast<double>(kIntervals[i]);
      paper.points.emplace_back(minutes, kPaper[s][i].off);
      rota.points.emplace_back(minutes, runs.published(s, i).off);
    }
    plot.lines.push_back(std::move(paper));
    plot.lines.push_back(std::move(rota));
  }
  return plot;
}

std::vector<StudyFile> files() {
  std::vector<StudyFile> all;
  for (const std::int64_t nodes : kSizes) all.push_back({cluster_file_of(nodes), x64_cluster_text(nodes)});
  for (const X64Stream stream : {X64Stream::skipping, X64Stream::strict}) {
    const auto workload = x64_stream(stream);
    CHECK(workload.has_value(), "the study has rehearsed it");
    all.push_back({log_file_of(stream), swf_text(*workload)});
  }
  for (FreshStreams& streams : fresh_streams()) {
    const auto recipe = streams.made.front().recipe();
    CHECK(recipe.has_value(), "the study has rehearsed it");
    std::ostringstream text;
    generate::write_generated(text, *recipe);
    all.push_back({streams.file, std::move(text).str()});
  }
  return all;
}

void add(Frontier frontier, Findings& findings) {
  for (Cell& cell : frontier.cells) {
    cell = without_command(std::move(cell), "it lies between the points of the table above, of copies of its own");
  }
  findings.tables += "\n" + frontier.table;
  findings.cells.insert(findings.cells.end(), frontier.cells.begin(), frontier.cells.end());
  findings.plots.push_back(std::move(frontier.plot));
}

// What is saved against what it costs, on 320 nodes.
Result<void> add_frontiers(std::size_t threads, Findings& findings) {
  for (const auto& [stream, place] :
       {std::pair{X64Stream::skipping, "FCFS that skips"}, std::pair{X64Stream::strict, "strict FCFS"}}) {
    const auto workload = TRY(x64_stream(stream));
    const Comparison where{formatted("320 nodes, %s", place), scheduler_of(stream), x64_machine(320), kTies};
    auto frontier = TRY(find_frontier(workload, where, threads));
    add(std::move(frontier), findings);
  }
  return {};
}

// The log that the user names, if any.
struct OwnLog {
  std::string file;
  std::int64_t nodes = 0;
  std::int64_t copies = 3;
};

}  // namespace

std::string load_factor_policy(X64Stream stream, std::int64_t minutes) {
  std::string policy = scheduler_of(stream);
  if (minutes == 0) return policy;
  return policy + formatted("+power=load-factor+power-published=yes+power-history=log+power-interval=%lldm",
                            static_cast<long long>(minutes));
}

Result<std::vector<PowerRow>> rehearse_power(const std::vector<PowerCase>& cases, std::size_t threads) {
  const auto skipping = TRY(x64_stream(X64Stream::skipping));
  const auto strict = TRY(x64_stream(X64Stream::strict));
  std::vector<Result<PowerRow>> results(cases.size(), PowerRow{});
  in_parallel(cases.size(), threads, [&](std::size_t i) {
    results[i] = rehearse_one(cases[i], cases[i].stream == X64Stream::skipping ? skipping : strict);
  });
  std::vector<PowerRow> rows;
  for (auto& result : results) {
    if (!result) return std::unexpected(result.error());
    rows.push_back(std::move(*result));
  }
  return rows;
}

Study power_study() {
  auto log = std::make_shared<OwnLog>();
  return {"power",
          "nodes that are switched off and on by a load factor (Cao, Cao, Dai, Zhu and Chi 2011)",
          {{.name = "--log",
            .about = "a job log on which the rules are compared too, under EASY",
            .value = &log->file,
            .shows = "FILE"},
           {.name = "--nodes",
            .about = "equal nodes of the log's cluster",
            .value = &log->nodes,
            .least = 1,
            .most = 1'000'000,
            .needs = "--log",
            .otherwise = "as many as processors"},
           {.name = "--copies",
            .about = "the log and so many less one in which jobs come a little later",
            .value = &log->copies,
            .least = 1,
            .most = 1000,
            .needs = "--log"}},
          [log]() -> Result<Findings> {
            const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
            const auto runs = TRY(run_all(threads));
            Findings findings{table_of(runs), json_of(runs), "shares of the nodes' time, and waits", {}, {}, {}};
            const auto skips = TRY(readings_of(X64Stream::skipping));
            const auto in_order = TRY(readings_of(X64Stream::strict));
            findings.files = files;
            always_on(runs, skips, in_order, findings.cells);
            switched(runs, skips, findings.cells);
            better_rule(runs, skips, findings.cells);
            for (const FreshStreams& streams : fresh_streams()) {
              TRY(judge_on(streams, threads, findings.cells));
            }
            findings.plots = {shares_plot(runs)};
            TRY(add_frontiers(threads, findings));
            if (log->file.empty()) return findings;
            auto on_log = TRY(frontier_of_log(log->file, log->nodes, static_cast<std::size_t>(log->copies), threads));
            // nothing is claimed of a log that was never tried: reported, not judged
            for (report::Cell& cell : on_log.cells) cell.high = report::kAny;
            add(std::move(on_log), findings);
            return findings;
          }};
}

}  // namespace rota::study
