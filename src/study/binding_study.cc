#include "study/binding_study.h"

#include <array>
#include <span>
#include <string>

#include "report/formatted.h"
#include "study/binding_cells.h"

namespace rota::study {
namespace {

using report::formatted;

constexpr std::array<Bind, 6> kRules{Bind::none,      Bind::node,     Bind::node_literal,
                                     Bind::container, Bind::weighted, Bind::late};
constexpr std::span<const Bind> kBinds = std::span(kRules).subspan(1);  // that are compared with the first

Result<BindingRow> row_of(const BindingCase& setting) {
  BindingRow row{setting, {}};
  for (const Bind bind : kBinds) {
    const auto found = TRY(speed_up(setting, bind));
    row.speed_ups.emplace_back(bind, found);
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
    out += R"(, "command": ")" + command_of(row.setting, kRules) + "\"}";
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

report::Plot intensity_plot(BindingCells& cells, const Application& app) {
  report::Plot plot{std::string(app.name) + " on 4 nodes, node binding, start-up 40 s", "intensity", "speed-up", {}};
  for (std::size_t gpus = 2; gpus <= 4; ++gpus) {
    report::Plot::Line line{formatted("%zu GPUs", gpus), {}};
    for (const std::int64_t i : {1, 2, 4, 8}) {
      const BindingCase setting{
          .application = std::string(app.name), .speeds = equal_speeds(gpus), .intensity = i, .start_up = seconds(40)};
      line.points.emplace_back(i, cells.run(setting, Bind::node));
    }
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

report::Plot transfer_plot(BindingCells& cells, const Application& app) {
  report::Plot plot{std::string(app.name) + " on 4 nodes, node binding", "MB each way", "speed-up", {}};
  for (const std::size_t gpus : {2U, 4U}) {
    for (const bool overlap : {true, false}) {
      report::Plot::Line line{formatted("%zu GPUs, %s", gpus, overlap ? "pipeline" : "in turn"), {}};
      for (const std::int64_t mb : {1, 5, 10, 20, 50}) {
        const BindingCase setting{
            .application = std::string(app.name), .speeds = equal_speeds(gpus), .megabytes = mb, .overlap = overlap};
        line.points.emplace_back(mb, cells.run(setting, Bind::node));
      }
      plot.lines.push_back(std::move(line));
    }
  }
  return plot;
}

}  // namespace

Result<BindingFindings> study_binding() {
  BindingFindings findings;
  for (const Application& app : kDecompositions) {
    for (std::size_t gpus = 1; gpus <= 4; ++gpus) {
      auto row = TRY(row_of({.application = std::string(app.name), .speeds = equal_speeds(gpus)}));
      findings.rows.push_back(std::move(row));
    }
  }
  BindingCells cells;
  add_cells_of_the_paper(cells);
  add_cells_beyond_the_paper(cells);
  for (const Application& app : kDecompositions) findings.plots.push_back(plot_of(app, findings.rows));
  for (const Application& app : kDecompositions) findings.plots.push_back(intensity_plot(cells, app));
  for (const Application& app : kDecompositions) findings.plots.push_back(transfer_plot(cells, app));
  if (cells.error()) return std::unexpected(*cells.error());
  findings.cells = std::move(cells.cells);
  findings.used = std::move(cells.used);
  for (const BindingRow& row : findings.rows) findings.used.push_back(row.setting);
  return findings;
}

Study binding_study() {
  return {
      "binding", "nodes and tasks bound to accelerators (Li, Zhu, Liu and Qian 2016)", {}, []() -> Result<Findings> {
        auto found = TRY(study_binding());
        return Findings{table_of(found.rows),   json_of(found.rows),    "speed-up, and what comes with it",
                        std::move(found.cells), std::move(found.plots), [used = found.used] { return files_of(used); }};
      }};
}

}  // namespace rota::study
