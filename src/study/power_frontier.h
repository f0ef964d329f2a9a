// What rules that switch nodes save against what they make jobs wait, each over the knob that trades one for the other:
// Slurm's idle timeout, the published load factor, and power=demand over its thrift, or over its timeout where no job
// waits for nodes to come free. A rule is dominated where another one saves more for less waiting.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/sim/engine.h"
#include "log/workload.h"
#include "model/machine.h"
#include "report/cells.h"
#include "report/plot.h"

namespace rota::study {

struct Curve {
  std::string name;
  std::vector<std::string> policies;              // without the scheduler: "+power=demand+power-thrift=5m"
  std::vector<std::pair<double, double>> points;  // added mean wait in minutes, off in per cent; as the policies
};

// idle-timeout, load-factor, demand and demand without a wait, in this order; without points. The load factor knows the
// whole log beforehand.
std::vector<Curve> power_curves();

// By how many points of off share the rival saves more than `ours` for the same waiting, where that is the most; below
// 0: nowhere more. Between its points, and between always on and its first, a rule is taken to be mixed. Noise is not
// taken off.
double beyond(const std::vector<std::pair<double, double>>& rival, const std::vector<std::pair<double, double>>& ours);

// Where the rules are compared: all of them on the workload itself and on copies of it in which each job comes up to
// two minutes later, because one rehearsal's mean wait says little: it depends on which jobs happened to meet.
struct Comparison {
  std::string title;
  std::string scheduler;
  std::shared_ptr<const Machine> machine;
  sim::Ties ties = sim::Ties::batch;
  std::size_t copies = 3;  // the workload itself is the first
};
struct Frontier {
  std::string table;
  std::vector<report::Cell> cells;  // neither rival is anywhere beyond demand
  report::Plot plot;
};
Result<Frontier> find_frontier(const log::Workload& workload, const Comparison& wanted, std::size_t threads);

// The frontier of a job log under EASY, on so many equal nodes; 0: as many as its header says processors.
Result<Frontier> frontier_of_log(const std::string& file, std::int64_t nodes, std::size_t copies, std::size_t threads);

}  // namespace rota::study
