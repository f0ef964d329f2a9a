#include "study/power_frontier.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/in_parallel.h"
#include "base/random.h"
#include "base/text.h"
#include "log/log.h"
#include "rehearse/rehearse.h"
#include "report/formatted.h"

namespace rota::study {
namespace {

using report::formatted;
using Points = std::vector<std::pair<double, double>>;

constexpr std::int64_t kLongestDelay = 120;  // seconds by which a copy's jobs come later, at most

std::shared_ptr<const Machine> machine_of(std::int64_t nodes, std::int64_t processors) {
  Machine machine;
  machine.racks = {""};
  for (std::int64_t i = 0; i < nodes; ++i) {
    Node node;
    node.name = formatted("n%05lld", static_cast<long long>(i + 1));
    node.processors = static_cast<std::uint32_t>(processors / nodes);
    node.power.boot = seconds(300);
    machine.nodes.push_back(node);
  }
  machine.processors = processors;
  return std::make_shared<const Machine>(std::move(machine));
}

// The same jobs, each a little later; in order.
log::Workload delayed(const log::Workload& log, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::size_t> order(log.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Instant> submits;
  submits.reserve(log.jobs.size());
  for (const JobSpec& job : log.jobs) {
    submits.push_back(job.submit + seconds(random.between(0, kLongestDelay)));
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return submits[i]; });
  log::Workload copy = log;
  for (std::size_t i = 0; i < order.size(); ++i) {
    copy.jobs[i] = log.jobs[order[i]];
    copy.jobs[i].submit = submits[order[i]];
    copy.run_times[i] = log.run_times[order[i]];
  }
  return copy;
}

struct Found {
  double wait = 0;  // minutes, mean
  double off = 0;   // per cent
};

Result<Found> rehearse_on(const log::Workload& log, const Comparison& where, const std::string& policy) {
  const auto chain = TRY(Chain::parse(policy));
  RehearseOptions options;
  options.machine = where.machine;
  options.processors = where.machine->processors;
  options.ties = where.ties;
  const auto done = TRY(rehearse(log, chain, options));
  if (!done.summary.wait_mean) return fail("no job of the log {} ran.", log.name);
  const auto& power = done.summary.power;
  return Found{*done.summary.wait_mean / 60, power ? 100 * power->share(power->off) : 0};
}

// The standard error of the mean of n values, from their sum and the sum of their squares.
double standard_error(double sum, double squares, double n) {
  return n < 2 ? 0 : std::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1) / n);
}

// Fills in the points: means over the copies. Returns the standard error of a mean wait, on average.
double draw(std::vector<Curve>& curves, const std::vector<Found>& found, std::size_t copies) {
  const auto n = static_cast<double>(copies);
  double errors = 0;
  std::size_t at = copies;  // behind always on
  for (Curve& curve : curves) {
    for (std::size_t i = 0; i < curve.policies.size(); ++i) {
      double wait = 0, squares = 0, off = 0;
      for (std::size_t c = 0; c < copies; ++c, ++at) {
        const double added = found[at].wait - found[c].wait;
        wait += added;
        squares += added * added;
        off += found[at].off;
      }
      curve.points.emplace_back(wait / n, off / n);
      errors += standard_error(wait, squares, n);
    }
  }
  return errors / (static_cast<double>(at) / n - 1);
}

std::string table_of(const std::string& title, const std::vector<Curve>& curves, double error) {
  std::string out = fmt::format("{}{}added wait min   off %  policy\n", title,
                                formatted(" (standard error of a wait %.1f min)\n", error));
  for (const Curve& curve : curves) {
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      out += formatted("%14.2f  %6.2f  %s\n", curve.points[i].first, curve.points[i].second,
                       curve.policies[i].substr(1).c_str());
    }
  }
  return out;
}

report::Plot plot_of(const std::string& title, const std::vector<Curve>& curves) {
  report::Plot plot{title, "added wait, min", "off, %", {}};
  for (const Curve& curve : curves) {
    report::Plot::Line line{curve.name, curve.points};
    std::ranges::sort(line.points);
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

}  // namespace

std::vector<Curve> power_curves() {
  std::vector<Curve> all{
      {"idle-timeout", {}, {}}, {"load-factor", {}, {}}, {"demand", {}, {}}, {"demand without a wait", {}, {}}};
  for (const char* idle : {"12s", "1m", "2m", "3m", "5m", "10m", "20m", "40m", "80m", "120m"}) {
    all[0].policies.push_back(formatted("+power=idle-timeout+power-idle=%s", idle));
  }
  for (const int minutes : {5, 10, 15, 30, 60, 120, 240}) {
    all[1].policies.push_back(
        formatted("+power=load-factor+power-published=yes+power-history=log+power-interval=%dm", minutes));
  }
  for (const char* thrift : {"100ms", "300ms", "600ms", "1200ms", "3s", "6s", "12s", "30s", "1m", "2m", "3m", "5m",
                             "7m", "10m", "15m", "20m", "30m", "45m"}) {
    all[2].policies.push_back(formatted("+power=demand+power-thrift=%s", thrift));
  }
  for (const char* idle : {"1s", "12s", "1m", "3m", "10m"}) {
    all[3].policies.push_back(formatted("+power=demand+power-wait=0+power-idle=%s", idle));
  }
  return all;
}

double beyond(const Points& rival, const Points& ours) {
  Points all = ours;
  all.emplace_back(0, 0);  // always on
  std::ranges::sort(all);
  Points frontier;
  for (const auto& point : all) {
    if (frontier.empty() || point.second > frontier.back().second) frontier.push_back(point);
  }
  double most = -std::numeric_limits<double>::infinity();
  for (const auto& [x, off] : rival) {
    const auto next = std::ranges::upper_bound(frontier, x, {}, [](const auto& p) { return p.first; });
    double saved = 0;
    if (next != frontier.begin()) {
      const auto& [x0, y0] = *std::prev(next);
      saved = next == frontier.end() ? y0 : y0 + (next->second - y0) * (x - x0) / (next->first - x0);
    }
    most = std::max(most, off - saved);
  }
  return most;
}

Result<Frontier> find_frontier(const log::Workload& workload, const Comparison& wanted, std::size_t threads) {
  std::vector<Curve> curves = power_curves();
  std::vector<std::string> policies{wanted.scheduler};
  for (const Curve& curve : curves) {
    for (const std::string& policy : curve.policies) policies.push_back(wanted.scheduler + policy);
  }
  std::vector<log::Workload> logs{workload};
  for (std::size_t c = 1; c < wanted.copies; ++c) logs.push_back(delayed(workload, c));
  std::vector<Result<Found>> results(policies.size() * wanted.copies, Found{});
  in_parallel(results.size(), threads, [&](std::size_t i) {
    results[i] = rehearse_on(logs[i % wanted.copies], wanted, policies[i / wanted.copies]);
  });
  std::vector<Found> found;
  for (auto& result : results) {
    if (!result) return std::unexpected(result.error());
    found.push_back(*result);
  }
  const double error = draw(curves, found, wanted.copies);
  Frontier frontier{table_of(wanted.title, curves, error), {}, plot_of(wanted.title, curves)};
  Points ours = curves[2].points;
  ours.insert(ours.end(), curves[3].points.begin(), curves[3].points.end());
  for (std::size_t r = 0; r < 2; ++r) {
    frontier.cells.push_back({fmt::format("{}: {} beyond demand, points of off at most", wanted.title, curves[r].name),
                              beyond(curves[r].points, ours), -report::kAny, 0});
  }
  return frontier;
}

Result<Frontier> frontier_of_log(const std::string& file, std::int64_t nodes, std::size_t copies, std::size_t threads) {
  const auto log = TRY(log::read_log(file));
  if (nodes == 0) nodes = log.processors;
  if (nodes <= 0 || log.processors % nodes != 0) {
    return fail("--nodes is a number that divides the {} (MaxProcs) of {}.", amount(log.processors, "processor"), file);
  }
  const std::string title = formatted("%s, %lld nodes, EASY", log.name.c_str(), static_cast<long long>(nodes));
  return find_frontier(log, {title, "easy", machine_of(nodes, log.processors), sim::Ties::batch, copies}, threads);
}

}  // namespace rota::study
