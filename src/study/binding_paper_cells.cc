// What Li, Zhu, Liu and Qian (2016) measured, tell in words or give as their reason.
#include <algorithm>
#include <array>
#include <cmath>

#include "report/formatted.h"
#include "study/binding_cells.h"

namespace rota::study {
namespace {

using report::Cell;
using report::formatted;

constexpr std::array<std::int64_t, 4> kIntensities{1, 2, 4, 8};
constexpr std::array<std::int64_t, 5> kMegabytes{1, 5, 10, 20, 50};
constexpr Duration kStartUp = seconds(40);
// Assumed: the paper prints neither. LU and Cholesky take longer than this on a CPU only at intensity 8.
constexpr Duration kTaskLimit = seconds(400);

// Rows of kExpected: application by rule; columns: 2, 3 and 4 GPUs.
void published_table(BindingCells& compare) {
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
      const BindingCase setting{.application = line.application, .speeds = equal_speeds(g)};
      Cell& cell = compare.expect(
          formatted("%s, bind=%s, 4 nodes, %zu GPUs", line.application, std::string(name_of(line.bind)).c_str(), g),
          setting, line.bind, line.expected[g - 2]);
      if (line.bind != Bind::node) continue;
      cell.paper = kPaper[g - 2];
      cell.better = compare.run(setting, Bind::late);
    }
  }
}

BindingCase started(std::string_view application, std::int64_t intensity, std::size_t gpus = 4) {
  return {.application = std::string(application),
          .speeds = equal_speeds(gpus),
          .intensity = intensity,
          .start_up = kStartUp};
}

void intensities(BindingCells& compare) {
  constexpr std::array<std::array<double, 4>, 3> kExpected{
      {{7.26, 7.97, 8.39, 8.62}, {15.55, 16.04, 16.29, 16.42}, {6.75, 7.30, 7.61, 7.78}}};
  for (std::size_t a = 0; a < kDecompositions.size(); ++a) {
    const std::string name(kDecompositions[a].name);
    double before = 0;
    bool rises = true;
    for (std::size_t i = 0; i < kIntensities.size(); ++i) {
      const BindingCase setting = started(name, kIntensities[i]);
      Cell& cell = compare.expect(formatted("%s, bind=node, 4 GPUs, start-up 40 s, intensity %lld", name.c_str(),
                                            static_cast<long long>(kIntensities[i])),
                                  setting, Bind::node, kExpected[a][i]);
      cell.paper = "rises with intensity";
      cell.better = compare.run(setting, Bind::late);
      rises = rises && cell.found > before;
      before = cell.found;
    }
    compare.expect_without_command({"each of these above the one before (1: yes)", rises ? 1.0 : 0.0, 1, 1, "yes"},
                                   "it compares the four above");
  }
}

// Two GPUs do as well as three.
void fewer_gpus(BindingCells& compare) {
  bool rises = true;
  double apart = 0;
  for (const Application& app : kDecompositions) {
    double before = 0;
    for (const std::int64_t intensity : kIntensities) {
      const double two = compare.run(started(app.name, intensity, 2), Bind::node);
      const double three = compare.run(started(app.name, intensity, 3), Bind::node);
      rises = rises && two > before;
      before = two;
      apart = std::max(apart, 100 * std::abs(three / two - 1));
    }
  }
  const std::string why = "it compares twelve rehearsals on two GPUs and twelve on three";
  compare.expect_without_command(
      {"the same on 2 GPUs, all three applications (1: yes)", rises ? 1.0 : 0.0, 1, 1, "yes"}, why);
  compare.expect_without_command(
      {"3 GPUs against 2, all applications and intensities: farthest apart, %", apart, 0, 1, "as with 2 GPUs"}, why);
}

void pipelines(BindingCells& compare) {
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
    const BindingCase setting{.speeds = equal_speeds(line.gpus), .megabytes = line.megabytes, .overlap = line.overlap};
    compare.expect(formatted("LU, bind=node, %zu GPUs, %lld MB, %s", line.gpus, static_cast<long long>(line.megabytes),
                             line.overlap ? "pipelined" : "one after the other"),
                   setting, Bind::node, line.expected);
  }
}

void payloads(BindingCells& compare) {
  constexpr std::array<std::array<double, 5>, 3> kExpected{{{8.870, 8.866, 8.861, 8.851, 8.822},
                                                            {16.556, 16.554, 16.551, 16.546, 16.532},
                                                            {7.960, 7.957, 7.953, 7.946, 7.925}}};
  for (std::size_t a = 0; a < kDecompositions.size(); ++a) {
    const std::string name(kDecompositions[a].name);
    for (std::size_t m = 0; m < kMegabytes.size(); ++m) {
      if (name == "LU" && kMegabytes[m] == 50) continue;  // among the pipelines
      const BindingCase setting{.application = name, .speeds = equal_speeds(4), .megabytes = kMegabytes[m]};
      compare
          .expect(formatted("%s, bind=node, 4 GPUs, %lld MB, pipelined", name.c_str(),
                            static_cast<long long>(kMegabytes[m])),
                  setting, Bind::node, kExpected[a][m])
          .paper = "no clear dependence";
    }
    for (const std::size_t gpus : {2U, 4U}) {
      const BindingCase little{.application = name, .speeds = equal_speeds(gpus), .megabytes = 1};
      BindingCase much = little;
      much.megabytes = 50;
      const double loss = 100 * (1 - compare.run(much, Bind::node) / compare.run(little, Bind::node));
      compare.expect_of_two({.claim = formatted("%s, %zu GPUs: what 50 MB cost more than 1 MB, %%", name.c_str(), gpus),
                             .found = loss,
                             .low = 0,
                             .high = 1,
                             .paper = "no clear dependence",
                             .reads = "100 x (1 - the speed-up by the second command over that by the first)"},
                            little, much, Bind::node);
    }
  }
}

// At intensity 8 tasks on CPUs are at the limit of a single task: those of 4-0 are begun twice, those of GPUs are not.
void limits(BindingCells& compare) {
  for (const Application& app : kDecompositions) {
    BindingCase setting = started(app.name, 8);
    setting.limit = kTaskLimit;
    Cell cell{std::string(app.name) + ", bind=node, 4 GPUs, start-up 40 s, intensity 8, task limit 400 s",
              compare.run(setting, Bind::node)};
    const double of_device = static_cast<double>(app.cpu.count()) / static_cast<double>(app.accelerator.count());
    const bool beyond = app.name != "QR";
    (beyond ? cell.low : cell.high) = of_device;
    cell.paper = beyond ? "above one GPU over one node" : "only LU and Cholesky are above it";
    compare.expect_speed_up(std::move(cell), setting, Bind::node);
  }
  BindingCase short_enough = started("LU", 4);
  short_enough.limit = kTaskLimit;
  compare.expect("LU, bind=node, 4 GPUs, start-up 40 s, intensity 4, task limit 400 s", short_enough, Bind::node, 8.39);
  BindingCase without = started("LU", 8, 0);
  BindingCase with = without;
  with.limit = kTaskLimit;
  const double longer = 100 * (compare.seconds_of(with, Bind::none) / compare.seconds_of(without, Bind::none) - 1);
  Cell cell = report::near("LU, 4-0, start-up 40 s, intensity 8: what a task limit of 400 s adds, %", longer, 90.58, 1);
  cell.reads = "100 x (makespan_s of the second command over that of the first - 1)";
  compare.expect_of_two(std::move(cell), without, with, Bind::none);
}

// Figure 6: features of 50,000 images in the map, on GPUs; k-means in the reduce, on CPUs.
void images(BindingCells& compare) {
  struct Line {
    std::size_t gpus;
    double map;
    const char* paper;
  };
  constexpr std::array<Line, 4> kExpected{
      {{0, 165.0, ""}, {2, 72.10, "sooner than 4-0"}, {3, 72.10, "as 4-2"}, {4, 56.48, "sooner than 4-3"}}};
  constexpr Duration kReduce = seconds(60);
  for (const Line& line : kExpected) {
    const BindingCase map{
        .application = "images", .speeds = equal_speeds(line.gpus), .megabytes = 50, .start_up = kStartUp};
    BindingCase both = map;
    both.reduce = kReduce;
    const Bind bind = line.gpus == 0 ? Bind::none : Bind::node;
    compare.expect_time(formatted("50,000 images on 4-%zu, map: s", line.gpus), map, bind, line.map).paper = line.paper;
    Cell reduce = report::near(formatted("50,000 images on 4-%zu, reduce: s", line.gpus),
                               compare.seconds_of(both, bind) - compare.seconds_of(map, bind), to_seconds(kReduce), 1);
    reduce.reads = "makespan_s of the last policy of the second command less that of the first";
    compare.expect_of_two(std::move(reduce), map, both, bind);
  }
}

}  // namespace

void add_cells_of_the_paper(BindingCells& cells) {
  published_table(cells);
  intensities(cells);
  fewer_gpus(cells);
  pipelines(cells);
  payloads(cells);
  limits(cells);
  images(cells);
}

}  // namespace rota::study
