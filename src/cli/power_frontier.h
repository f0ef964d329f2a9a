// What rules that switch nodes save against what they make jobs wait, each over the knob that trades one for the other:
// Slurm's idle timeout, the published load factor, and power=demand over its thrift. A rule is dominated where another
// one saves more for less waiting.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "report/cells.h"
#include "report/plot.h"

namespace rota::cli {

struct Curve {
  std::string name;
  std::vector<std::string> policies;              // without the scheduler: "+power=demand+power-thrift=5m"
  std::vector<std::pair<double, double>> points;  // added mean wait in minutes, off in per cent; as the policies
};

// idle-timeout, load-factor and demand, in this order; without points. The load factor knows the whole log beforehand.
std::vector<Curve> power_curves();
constexpr std::size_t kShortIntervals = 3;  // the first policies of load-factor look more often than in the paper

// By how many points of off share the rival saves more than `ours` for the same waiting, where that is the most; below
// 0: nowhere more. Between its points, and between always on and its first, a rule is taken to be mixed. Waits within
// `slack` minutes count as equal.
double beyond(const std::vector<std::pair<double, double>>& rival, const std::vector<std::pair<double, double>>& ours,
              double slack);

report::Plot frontier_plot(std::string title, const std::vector<Curve>& curves);

// The curves of a job log under EASY, on so many equal nodes; 0: as many as its header says processors.
struct LogFrontier {
  std::string log;
  std::int64_t nodes = 0;
  int copies = 3;  // the log itself, and some in which each job comes up to two minutes later
};
struct LogFindings {
  std::string table;
  std::vector<report::Cell> cells;
  report::Plot plot;
};
Result<LogFindings> frontier_of_log(const LogFrontier& wanted, std::size_t threads);

// each(i) for all i below count, on so many threads.
template <class Each>
void in_parallel(std::size_t count, std::size_t threads, const Each& each) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) each(i);
  };
  std::vector<std::jthread> workers;
  for (std::size_t i = 1; i < std::min(threads, count); ++i) workers.emplace_back(work);
  work();
}

}  // namespace rota::cli
