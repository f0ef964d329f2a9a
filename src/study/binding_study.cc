#include "study/binding_study.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>

#include "rehearse/rehearse.h"
#include "report/formatted.h"
#include "study/inputs.h"

namespace rota::study {
namespace {

using report::Cell;
using report::formatted;

constexpr std::int64_t kLink = 117'000'000;  // bytes a second: gigabit Ethernet
constexpr std::array<Bind, 5> kBinds{Bind::node, Bind::node_literal, Bind::container, Bind::weighted, Bind::late};

// Measured in the paper for a matrix of 10,000 x 10,000: on one CPU node, on its GPU.
struct Application {
  std::string_view name;
  Duration cpu;
  Duration accelerator;
};
constexpr std::array<Application, 3> kApplications{{{"LU", Duration{55'000}, Duration{6'200}},
                                                    {"QR", Duration{384'100}, Duration{23'200}},
                                                    {"Cholesky", Duration{60'500}, Duration{7'600}}}};

std::shared_ptr<const Machine> machine_of(const BindingCase& setting) {
  Machine machine = Machine::counted(setting.nodes);
  machine.racks = {""};
  machine.nodes.resize(static_cast<std::size_t>(setting.nodes));
  for (std::size_t i = 0; i < machine.nodes.size(); ++i) {
    Node& node = machine.nodes[i];
    node.name = formatted("node %zu", i + 1);
    if (i >= setting.speeds.size()) continue;
    node.accelerators = 1;
    node.accelerator_speed = setting.speeds[i];
    node.accelerator_link = kLink;
  }
  return std::make_shared<const Machine>(std::move(machine));
}

TaskSpec tasks_of(const BindingCase& setting) {
  const auto* const app = std::ranges::find(kApplications, setting.application, &Application::name);
  TaskSpec tasks;
  tasks.count = static_cast<std::uint32_t>(setting.tasks);
  tasks.cpu = app->cpu * setting.intensity;
  tasks.accelerator = app->accelerator * setting.intensity;
  tasks.start_up = setting.start_up;
  tasks.transfer = setting.megabytes * 1'000'000;
  return tasks;
}

std::string policy_of(Bind bind) { return "fcfs+bind=" + std::string(name_of(bind)); }

// One job that has all nodes, and nothing else to do than its tasks.
log::Workload workload_of(const BindingCase& setting) {
  log::Workload workload;
  workload.name = setting.application;
  workload.processors = setting.nodes;
  JobSpec& job = workload.jobs.emplace_back();
  job.number = 1;
  job.processors = static_cast<std::uint32_t>(setting.nodes);
  job.limit = kLongest;
  workload.run_times.push_back(kLongest);  // its tasks say when it ends
  return workload;
}

Result<Duration> run_time(const BindingCase& setting, Bind bind) {
  const auto chain = Chain::parse(policy_of(bind));
  if (!chain) return std::unexpected(chain.error());
  const log::Workload workload = workload_of(setting);
  TaskTable table;
  table.of_others = tasks_of(setting);
  RehearseOptions options;
  options.processors = setting.nodes;
  options.machine = machine_of(setting);
  options.tasks = std::make_shared<const TaskTable>(std::move(table));
  options.containers = {{.overlap = setting.overlap}, true};
  options.keep_jobs = true;
  const auto rehearsed = rehearse(workload, *chain, options);
  if (!rehearsed) return std::unexpected(rehearsed.error());
  return rehearsed->outcome.jobs.front().run_time();
}

std::vector<std::int32_t> equal(std::size_t accelerators) {
  return std::vector<std::int32_t>(accelerators, kUnitSpeed);
}

// ---- how the figures are made again

std::string cluster_file_of(const BindingCase& setting) {
  std::string name = formatted("nodes-%lld", static_cast<long long>(setting.nodes));
  name += formatted("-gpus-%zu", setting.speeds.size());
  const auto slower = std::ranges::find_if(setting.speeds, [](std::int32_t speed) { return speed != kUnitSpeed; });
  for (auto speed = slower == setting.speeds.end() ? slower : setting.speeds.begin(); speed != setting.speeds.end();
       ++speed) {
    name += formatted("-%.2f", *speed / 1000.0);
  }
  return name + ".toml";
}

std::string cluster_text_of(const BindingCase& setting) {
  std::string text;
  for (std::size_t i = 0; i < setting.speeds.size(); ++i) {
    text += formatted("[[nodes]]\nnames = \"gpu%zu\"\naccelerators = 1\naccelerator_speed = %.3f\n", i + 1,
                      setting.speeds[i] / 1000.0) +
            formatted("accelerator_link = %lld\n\n", static_cast<long long>(kLink));
  }
  const auto others = setting.nodes - static_cast<std::int64_t>(setting.speeds.size());
  if (others > 0) text += formatted("[[nodes]]\nnames = \"node[1-%lld]\"\n", static_cast<long long>(others));
  return text;
}

std::string log_file_of(const BindingCase& setting) {
  return setting.application + formatted("-nodes-%lld", static_cast<long long>(setting.nodes)) +
         formatted("-work-%lld-MB-%lld", static_cast<long long>(setting.intensity),
                   static_cast<long long>(setting.megabytes)) +
         formatted("-start-%lld.jsonl", static_cast<long long>(setting.start_up / seconds(1)));
}

std::string command_of(const BindingCase& setting, std::span<const Bind> binds) {
  const std::array workload{log_file_of(setting)};
  std::vector<std::string> policies{policy_of(Bind::none)};
  for (const Bind bind : binds) policies.push_back(policy_of(bind));
  return simulate_command(workload,
                          "--cluster " + cluster_file_of(setting) + " --container-copies all" +
                              (setting.overlap ? "" : " --container-stages in-turn"),
                          policies);
}

std::string command_of(const BindingCase& setting, Bind bind) { return command_of(setting, std::array{bind}); }

std::vector<StudyFile> files_of(const std::vector<BindingCase>& cases) {
  std::vector<StudyFile> files;
  const auto add = [&](StudyFile file) {
    if (std::ranges::find(files, file.name, &StudyFile::name) == files.end()) files.push_back(std::move(file));
  };
  for (const BindingCase& one : cases) {
    const TaskSpec tasks = tasks_of(one);
    add({log_file_of(one), json_text(workload_of(one), &tasks)});
    add({cluster_file_of(one), cluster_text_of(one)});
  }
  return files;
}

constexpr const char* kSpeedUp = "makespan_s of the first policy over that of the second";

// Runs cases and turns them into cells; the first error stays.
class Comparison {
 public:
  double run(const BindingCase& setting, Bind bind) {
    const auto found = speed_up(setting, bind);
    if (!found && !error_) error_ = found.error();
    return found.value_or(0);
  }

  // A cell within one per cent of what is expected; to be used before the next one is made.
  Cell& expect(std::string claim, const BindingCase& setting, Bind bind, double expected) {
    used.push_back(setting);
    return cells.emplace_back(by_command(report::near(std::move(claim), run(setting, bind), expected, 1),
                                         command_of(setting, bind), kSpeedUp));
  }

  void expect_between(std::string claim, double found, double low, double high, std::string paper = "") {
    cells.push_back({std::move(claim), found, low, high, std::move(paper)});
  }

  std::vector<Cell> cells;
  std::vector<BindingCase> used;  // in the cells' commands
  const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

// Rows of kExpected: application by rule; columns: 2, 3 and 4 GPUs.
void published_table(Comparison& compare) {
  struct Line {
    const char* application;
    Bind bind;
    std::array<double, 3> expected;
  };
  static constexpr std::array<Line, 9> kExpected{{{"LU", Bind::node, {4.44, 4.44, 8.87}},
                                                  {"LU", Bind::container, {4.44, 6.52, 8.87}},
                                                  {"LU", Bind::late, {5.28, 7.39, 9.64}},
                                                  {"QR", Bind::node, {8.28, 8.28, 16.56}},
                                                  {"QR", Bind::container, {8.28, 12.17, 16.56}},
                                                  {"QR", Bind::late, {9.00, 12.93, 17.25}},
                                                  {"Cholesky", Bind::node, {3.98, 3.98, 7.96}},
                                                  {"Cholesky", Bind::container, {3.98, 5.85, 7.96}},
                                                  {"Cholesky", Bind::late, {4.98, 6.63, 8.65}}}};
  constexpr std::array<const char*, 3> kPaper{"", "as with 2 GPUs", "twice that of 2 GPUs"};
  for (const Line& line : kExpected) {
    for (std::size_t g = 2; g <= 4; ++g) {
      const BindingCase setting{.application = line.application, .speeds = equal(g)};
      Cell& cell = compare.expect(
          formatted("%s, bind=%s, 4 nodes, %zu GPUs", line.application, std::string(name_of(line.bind)).c_str(), g),
          setting, line.bind, line.expected[g - 2]);
      if (line.bind != Bind::node) continue;
      cell.paper = kPaper[g - 2];
      cell.better = compare.run(setting, Bind::late);
    }
  }
}

void start_up(Comparison& compare) {
  constexpr std::array<double, 4> kExpected{7.26, 7.97, 8.39, 8.62};
  double before = 0;
  bool rises = true;
  for (std::size_t i = 0; i < kExpected.size(); ++i) {
    const BindingCase setting{.speeds = equal(4), .intensity = std::int64_t{1} << i, .start_up = seconds(40)};
    Cell& cell = compare.expect(formatted("LU, bind=node, 4 GPUs, start-up 40 s, intensity %d", 1 << i), setting,
                                Bind::node, kExpected[i]);
    cell.paper = "rises with intensity";
    cell.better = compare.run(setting, Bind::late);
    rises = rises && cell.found > before;
    before = cell.found;
  }
  compare.expect_between("each of these above the one before (1: yes)", rises ? 1 : 0, 1, 1, "yes");
  compare.cells.back().reads = "it compares the four above";
}

void transfers(Comparison& compare) {
  struct Line {
    std::size_t gpus;
    std::int64_t megabytes;
    bool overlap;
    double expected;
  };
  constexpr std::array<Line, 6> kExpected{{{2, 1, true, 4.44},
                                           {2, 1, false, 4.42},
                                           {2, 50, true, 4.42},
                                           {2, 50, false, 3.90},
                                           {4, 50, true, 8.82},
                                           {4, 50, false, 7.80}}};
  for (const Line& line : kExpected) {
    const BindingCase setting{.speeds = equal(line.gpus), .megabytes = line.megabytes, .overlap = line.overlap};
    compare.expect(formatted("LU, bind=node, %zu GPUs, %lld MB, %s", line.gpus, static_cast<long long>(line.megabytes),
                             line.overlap ? "pipelined" : "one after the other"),
                   setting, Bind::node, line.expected);
  }
  for (const std::size_t gpus : {2U, 4U}) {
    const BindingCase little{.speeds = equal(gpus), .megabytes = 1};
    const BindingCase much{.speeds = equal(gpus), .megabytes = 50};
    const double small = compare.run(little, Bind::node);
    const double large = compare.run(much, Bind::node);
    compare.expect_between(formatted("LU, %zu GPUs: what 50 MB cost more than 1 MB, %%", gpus),
                           100 * (1 - large / small), 0, 1, "no clear dependence");
    compare.used.insert(compare.used.end(), {little, much});
    compare.cells.back() = by_command(std::move(compare.cells.back()),
                                      command_of(little, Bind::node) + "\n" + command_of(much, Bind::node),
                                      "100 x (1 - the speed-up by the second command over that by the first)");
  }
}

void larger_clusters(Comparison& compare) {
  struct Line {
    std::int64_t nodes;
    std::size_t gpus;
    double node;
    double container;
  };
  constexpr std::array<Line, 6> kExpected{{{8, 3, 2.96, 3.31},
                                           {8, 5, 4.43, 5.54},
                                           {16, 5, 2.22, 2.77},
                                           {16, 11, 4.43, 5.99},
                                           {32, 12, 2.96, 3.31},
                                           {64, 24, 2.96, 3.31}}};
  for (const Line& line : kExpected) {
    const BindingCase setting{
        .nodes = line.nodes, .speeds = equal(line.gpus), .tasks = 25 * line.nodes, .megabytes = 10};
    const std::string where = formatted(", %lld nodes, %zu GPUs", static_cast<long long>(line.nodes), line.gpus);
    const double better = compare.run(setting, Bind::late);
    compare.expect("LU, bind=node" + where, setting, Bind::node, line.node).better = better;
    compare.expect("LU, bind=container" + where, setting, Bind::container, line.container).better = better;
  }
}

void unequal_speeds(Comparison& compare) {
  struct Line {
    const char* name;
    std::vector<std::int32_t> speeds;
    Bind bind;
    double expected;
  };
  const std::vector<Line> lines{{"1, 0.5", {1000, 500}, Bind::node, 2.22},
                                {"1, 0.5", {1000, 500}, Bind::weighted, 3.31},
                                {"1, 1, 0.5", {1000, 1000, 500}, Bind::node, 4.43},
                                {"1, 1, 0.5", {1000, 1000, 500}, Bind::container, 3.36},
                                {"1, 1, 0.5", {1000, 1000, 500}, Bind::weighted, 5.54},
                                {"1, 0.5, 0.5, 0.25", {1000, 500, 500, 250}, Bind::node, 2.22},
                                {"1, 0.5, 0.5, 0.25", {1000, 500, 500, 250}, Bind::weighted, 4.93}};
  for (const Line& line : lines) {
    const BindingCase setting{.speeds = line.speeds, .megabytes = 10};
    const std::string claim = formatted("LU, bind=%s, speeds %s", std::string(name_of(line.bind)).c_str(), line.name);
    compare.expect(claim, setting, line.bind, line.expected).better = compare.run(setting, Bind::late);
  }
}

void racks(Comparison& compare) {
  compare.expect_between("racks of 150 that the printed stop test unbalances",
                         static_cast<double>(unbalanced_racks(NodeBinding::Stop::literal)), 37, 37);
  compare.expect_between("racks of 150 that bind=node unbalances",
                         static_cast<double>(unbalanced_racks(NodeBinding::Stop::balanced)), 0, 0);
  for (auto cell = compare.cells.end() - 2; cell != compare.cells.end(); ++cell)
    cell->reads = "nodes join racks, and no job runs";
}

Result<BindingRow> row_of(const BindingCase& setting) {
  BindingRow row{setting, {}};
  for (const Bind bind : kBinds) {
    const auto found = speed_up(setting, bind);
    if (!found) return std::unexpected(found.error());
    row.speed_ups.emplace_back(bind, *found);
  }
  return row;
}

std::string table_of(const std::vector<BindingRow>& rows) {
  std::string out = "Speed-up over the CPUs of 4 nodes, 100 tasks, 1 MB each way, start-up 0 s\n";
  out += formatted("%-12s %5s", "application", "GPUs");
  for (const Bind bind : kBinds) out += formatted("%14s", std::string(name_of(bind)).c_str());
  out += "\n";
  for (const BindingRow& row : rows) {
    out += formatted("%-12s %5zu", row.setting.application.c_str(), row.setting.speeds.size());
    for (const auto& [bind, found] : row.speed_ups) out += formatted("%14.2f", found);
    out += "\n";
  }
  return out;
}

std::string json_of(const std::vector<BindingRow>& rows) {
  std::string out = "\"rows\": [";
  const char* separator = "\n";
  for (const BindingRow& row : rows) {
    out += separator + formatted(R"(    {"application": "%s", "nodes": %lld, "gpus": %zu)",
                                 row.setting.application.c_str(), static_cast<long long>(row.setting.nodes),
                                 row.setting.speeds.size());
    for (const auto& [bind, found] : row.speed_ups) {
      out += formatted(R"(, "%s": %.9g)", std::string(name_of(bind)).c_str(), found);
    }
    out += R"(, "command": ")" + command_of(row.setting, kBinds) + "\"}";
    separator = ",\n";
  }
  return out + "\n  ]";
}

// Speed-up over the accelerators of the cluster.
report::Plot plot_of(const Application& app, const std::vector<BindingRow>& rows) {
  report::Plot plot{std::string(app.name) + " on 4 nodes", "GPUs", "speed-up", {}};
  for (std::size_t b = 0; b < kBinds.size(); ++b) {
    if (kBinds[b] == Bind::node_literal || kBinds[b] == Bind::weighted) continue;  // as node and container, here
    report::Plot::Line line{"bind=" + std::string(name_of(kBinds[b])), {}};
    for (const BindingRow& row : rows) {
      if (row.setting.application != app.name) continue;
      line.points.emplace_back(static_cast<double>(row.setting.speeds.size()), row.speed_ups[b].second);
    }
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

report::Plot intensity_plot(Comparison& compare) {
  report::Plot plot{"LU on 4 nodes, node binding, start-up 40 s", "intensity", "speed-up", {}};
  for (std::size_t gpus = 2; gpus <= 4; ++gpus) {
    report::Plot::Line line{formatted("%zu GPUs", gpus), {}};
    for (const std::int64_t i : {1, 2, 4, 8}) {
      const BindingCase setting{.speeds = equal(gpus), .intensity = i, .start_up = seconds(40)};
      line.points.emplace_back(i, compare.run(setting, Bind::node));
    }
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

report::Plot transfer_plot(Comparison& compare) {
  report::Plot plot{"LU on 4 nodes, node binding", "MB each way", "speed-up", {}};
  for (const std::size_t gpus : {2U, 4U}) {
    for (const bool overlap : {true, false}) {
      report::Plot::Line line{formatted("%zu GPUs, %s", gpus, overlap ? "pipeline" : "in turn"), {}};
      for (const std::int64_t mb : {1, 5, 10, 20, 50}) {
        const BindingCase setting{.speeds = equal(gpus), .megabytes = mb, .overlap = overlap};
        line.points.emplace_back(mb, compare.run(setting, Bind::node));
      }
      plot.lines.push_back(std::move(line));
    }
  }
  return plot;
}

}  // namespace

Result<double> speed_up(const BindingCase& setting, Bind bind) {
  const auto on_cpus = run_time(setting, Bind::none);
  if (!on_cpus) return std::unexpected(on_cpus.error());
  const auto bound = run_time(setting, bind);
  if (!bound) return std::unexpected(bound.error());
  return to_seconds(*on_cpus) / to_seconds(*bound);
}

std::int64_t unbalanced_racks(NodeBinding::Stop stop) {
  std::int64_t unbalanced = 0;
  for (std::uint32_t stacks = 1; stacks <= 6; ++stacks) {
    for (std::uint32_t nodes = 0; nodes <= 24; ++nodes) {
      NodeBinding binding(stop);
      for (std::uint32_t i = 0; i < stacks; ++i) binding.join(NodeId{i}, RackId{0}, true);
      for (std::uint32_t i = 0; i < nodes; ++i) binding.join(NodeId{stacks + i}, RackId{0}, false);
      const NodeId last{stacks + nodes};
      binding.join(last, RackId{0}, true);
      std::vector<std::size_t> sizes{binding.stack(last).size()};
      for (std::uint32_t i = 0; i < stacks; ++i) sizes.push_back(binding.stack(NodeId{i}).size());
      const auto [least, most] = std::ranges::minmax(sizes);
      unbalanced += most - least > 1 ? 1 : 0;
    }
  }
  return unbalanced;
}

Result<BindingFindings> study_binding() {
  BindingFindings findings;
  for (const Application& app : kApplications) {
    for (std::size_t gpus = 1; gpus <= 4; ++gpus) {
      auto row = row_of({.application = std::string(app.name), .speeds = equal(gpus)});
      if (!row) return std::unexpected(row.error());
      findings.rows.push_back(std::move(*row));
    }
  }
  Comparison compare;
  published_table(compare);
  start_up(compare);
  transfers(compare);
  larger_clusters(compare);
  unequal_speeds(compare);
  racks(compare);
  for (const Application& app : kApplications) findings.plots.push_back(plot_of(app, findings.rows));
  findings.plots.push_back(intensity_plot(compare));
  findings.plots.push_back(transfer_plot(compare));
  if (compare.error()) return std::unexpected(*compare.error());
  findings.cells = std::move(compare.cells);
  findings.used = std::move(compare.used);
  for (const BindingRow& row : findings.rows) findings.used.push_back(row.setting);
  return findings;
}

Study binding_study() {
  return {
      "binding", "nodes and tasks bound to accelerators (Li, Zhu, Liu and Qian 2016)", {}, []() -> Result<Findings> {
        auto found = study_binding();
        if (!found) return std::unexpected(found.error());
        return Findings{
            table_of(found->rows),   json_of(found->rows),    "speed-up, and what comes with it",
            std::move(found->cells), std::move(found->plots), [used = found->used] { return files_of(used); }};
      }};
}

}  // namespace rota::study
