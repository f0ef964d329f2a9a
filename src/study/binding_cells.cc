#include "study/binding_cells.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "report/formatted.h"

namespace rota::study {

using report::Cell;
using report::formatted;

void BindingCells::note(const Error& error) {
  if (!error_) error_ = error;
}

double BindingCells::run(const BindingCase& setting, Bind bind) {
  const auto found = speed_up(setting, bind);
  if (!found) note(found.error());
  return found.value_or(0);
}

double BindingCells::seconds_of(const BindingCase& setting, Bind bind) {
  const auto found = makespan(setting, bind);
  if (!found) note(found.error());
  return found ? to_seconds(*found) : 0;
}

Cell& BindingCells::expect(std::string claim, const BindingCase& setting, Bind bind, double expected) {
  return expect_speed_up(report::near(std::move(claim), run(setting, bind), expected, 1), setting, bind);
}

Cell& BindingCells::expect_speed_up(Cell cell, const BindingCase& setting, Bind bind) {
  used.push_back(setting);
  return cells.emplace_back(by_command(std::move(cell), command_of(setting, std::array{Bind::none, bind}),
                                       "makespan_s of the first policy over that of the second"));
}

Cell& BindingCells::expect_time(std::string claim, const BindingCase& setting, Bind bind, double expected) {
  used.push_back(setting);
  return cells.emplace_back(by_command(report::near(std::move(claim), seconds_of(setting, bind), expected, 1),
                                       command_of(setting, std::array{bind}), "makespan_s"));
}

void BindingCells::expect_of_two(Cell cell, const BindingCase& first, const BindingCase& second, Bind bind) {
  used.insert(used.end(), {first, second});
  const auto of = [&](const BindingCase& one) {
    return bind == Bind::none ? command_of(one, std::array{bind}) : command_of(one, std::array{Bind::none, bind});
  };
  std::string reads = std::move(cell.reads);
  cells.push_back(by_command(std::move(cell), fmt::format("{}\n{}", of(first), of(second)), std::move(reads)));
}

void BindingCells::expect_without_command(Cell cell, std::string why) {
  cells.push_back(without_command(std::move(cell), std::move(why)));
}

namespace {

void larger_clusters(BindingCells& compare) {
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
        .nodes = line.nodes, .speeds = equal_speeds(line.gpus), .tasks = 25 * line.nodes, .megabytes = 10};
    const std::string where = formatted(", %lld nodes, %zu GPUs", static_cast<long long>(line.nodes), line.gpus);
    const double better = compare.run(setting, Bind::late);
    compare.expect("LU, bind=node" + where, setting, Bind::node, line.node).better = better;
    compare.expect("LU, bind=container" + where, setting, Bind::container, line.container).better = better;
  }
}

void unequal_speeds(BindingCells& compare) {
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
                                {"1, 0.5, 0.5, 0.25", {1000, 500, 500, 250}, Bind::weighted, 4.93},
                                {"1, 0.5", {1000, 500}, Bind::node_weighted, 2.96},
                                {"1, 1, 0.5", {1000, 1000, 500}, Bind::node_weighted, 4.43},
                                {"1, 0.5, 0.5, 0.25", {1000, 500, 500, 250}, Bind::node_weighted, 2.22}};
  for (const Line& line : lines) {
    const BindingCase setting{.speeds = line.speeds, .megabytes = 10};
    const std::string claim = formatted("LU, bind=%s, speeds %s", std::string(name_of(line.bind)).c_str(), line.name);
    compare.expect(claim, setting, line.bind, line.expected).better = compare.run(setting, Bind::late);
  }
}

// Where nodes can be bound elsewhere: stacks by weight come near to tasks by weight.
void unequal_nodes(BindingCells& compare) {
  struct Line {
    Bind bind;
    double speeds;
    double devices;
  };
  constexpr std::array<Line, 4> kExpected{{{Bind::node, 1.11, 2.96},
                                           {Bind::container, 1.11, 4.43},
                                           {Bind::weighted, 1.85, 4.43},
                                           {Bind::node_weighted, 1.77, 4.43}}};
  const BindingCase speeds{.nodes = 12, .speeds = {1000, 1000, 500}, .tasks = 300};
  const BindingCase devices{.nodes = 6, .speeds = equal_speeds(2), .devices = {2, 1}, .tasks = 120};
  const double best_of_speeds = compare.run(speeds, Bind::late);
  const double best_of_devices = compare.run(devices, Bind::late);
  for (const Line& line : kExpected) {
    const std::string bind(name_of(line.bind));
    compare.expect(fmt::format("LU, bind={}, 12 nodes, speeds 1, 1, 0.5", bind), speeds, line.bind, line.speeds)
        .better = best_of_speeds;
    compare
        .expect(fmt::format("LU, bind={}, 6 nodes, one with 2 GPUs and one with 1", bind), devices, line.bind,
                line.devices)
        .better = best_of_devices;
  }
}

// Among the racks with 1 .. 6 balanced stacks of 0 .. 24 nodes in all: in how many stack sizes differ by more than one
// after another accelerator node has come.
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

// Processors that jobs hold are bound, not nodes: as the paper leaves for later, by Rota's rule.
void slots(BindingCells& compare) {
  struct Line {
    const char* where;
    BindingCase setting;
    std::vector<std::pair<Bind, double>> expected;
  };
  const std::vector<std::int64_t> unlike{10, 40, 10, 40};
  const std::vector<Line> lines{
      {"4 nodes of 8 processors, 2 GPUs", {.processors = 8, .speeds = equal_speeds(2)}, {{Bind::slot, 4.35}}},
      {"4 nodes of 8 processors, 3 GPUs", {.processors = 8, .speeds = equal_speeds(3)}, {{Bind::slot, 6.34}}},
      {"4 nodes of 8 processors, 4 GPUs", {.processors = 8, .speeds = equal_speeds(4)}, {{Bind::slot, 8.87}}},
      {"16 nodes of 8 processors, 11 GPUs",
       {.nodes = 16, .processors = 8, .speeds = equal_speeds(11), .tasks = 400},
       {{Bind::slot, 5.84}}},
      {"4 nodes of 8 processors, 3 GPUs, a binding takes 10 s",
       {.processors = 8, .speeds = equal_speeds(3), .bind_time = seconds(10)},
       {{Bind::slot, 6.06}}},
      {"4 nodes of 8 processors, 3 GPUs, speeds 1, 1, 0.5",
       {.processors = 8, .speeds = {1000, 1000, 500}},
       {{Bind::slot, 3.47}}},
      {"4 nodes, 2 GPUs, jobs of 10, 40, 10 and 40 tasks",
       {.speeds = equal_speeds(2), .of_jobs = unlike},
       {{Bind::node, 4.44}, {Bind::container, 7.10}, {Bind::slot, 6.82}}},
  };
  for (const Line& line : lines) {
    const double better = compare.run(line.setting, Bind::late);
    for (const auto& [bind, expected] : line.expected) {
      const std::string claim = fmt::format("LU, bind={}, {}", name_of(bind), line.where);
      compare.expect(claim, line.setting, bind, expected).better = better;
    }
  }
}

void racks(BindingCells& compare) {
  const std::string why = "nodes join racks, and no job runs";
  const auto unbalanced = [](NodeBinding::Stop stop) { return static_cast<double>(unbalanced_racks(stop)); };
  compare.expect_without_command(
      {"racks of 150 that the printed stop test unbalances", unbalanced(NodeBinding::Stop::literal), 37, 37}, why);
  compare.expect_without_command(
      {"racks of 150 that bind=node unbalances", unbalanced(NodeBinding::Stop::balanced), 0, 0}, why);
}

}  // namespace

void add_cells_beyond_the_paper(BindingCells& cells) {
  larger_clusters(cells);
  unequal_speeds(cells);
  unequal_nodes(cells);
  slots(cells);
  racks(cells);
}

}  // namespace rota::study
