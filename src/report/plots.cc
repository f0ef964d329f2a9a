#include "report/plots.h"

#include <algorithm>
#include <map>
#include <utility>

#include "report/metrics.h"
#include "report/series.h"

namespace rota::report {
namespace {

constexpr std::size_t kSlices = 240;  // of time: a pixel or two each
constexpr int kLastPercent = 99;      // the longest waits of all would leave no room for the others

struct Unit {
  const char* name;
  double seconds;
};

Unit unit_for(double seconds) {
  if (seconds < 600) return {"s", 1};
  if (seconds < 4 * 3600.0) return {"min", 60};
  if (seconds < 5 * 86400.0) return {"h", 3600};
  return {"days", 86400};
}

NamedPlot waits_of(std::span<const Outcome* const> outcomes) {
  std::vector<std::vector<double>> waits;  // by percent of the jobs that ended
  double longest = 0;
  for (const Outcome* outcome : outcomes) {
    std::vector<std::int64_t> all;
    for (const Job& job : outcome->jobs)
      if (job.ended()) all.push_back((job.start - job.spec.submit).count());
    std::vector<double>& at = waits.emplace_back();
    for (int percent = 0; !all.empty() && percent <= kLastPercent; ++percent)
      at.push_back(quantile(all, 0, percent / 100.0) / 1000);
    if (!at.empty()) longest = std::max(longest, at.back());
  }
  const Unit unit = unit_for(longest);
  NamedPlot out{"waits",
                {"Waits", "per cent of jobs that waited no longer", std::string("wait (") + unit.name + ")", {}}};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    Plot::Line& line = out.plot.lines.emplace_back(Plot::Line{outcomes[i]->name(), {}, false});
    for (std::size_t percent = 0; percent < waits[i].size(); ++percent)
      line.points.emplace_back(static_cast<double>(percent), waits[i][percent] / unit.seconds);
  }
  return out;
}

// What all of them are drawn over.
Span span_of_all(std::span<const Outcome* const> outcomes) {
  Span all{kNever, kEpoch};
  for (const Outcome* outcome : outcomes) {
    const Span span = span_of(*outcome);
    if (span.to > span.from) all = {std::min(all.from, span.from), std::max(all.to, span.to)};
  }
  return all.to < all.from ? Span{} : all;
}

}  // namespace

std::vector<NamedPlot> plots_of(std::span<const Outcome* const> outcomes) {
  std::vector<NamedPlot> all{waits_of(outcomes)};
  const Span span = span_of_all(outcomes);
  const double length = to_seconds(span.to - span.from);
  const Unit unit = unit_for(length);
  const std::string time = std::string("time (") + unit.name + ")";
  const auto over_time = [&](const char* name, const char* title, const char* what, const auto& means_of) {
    NamedPlot out{name, {title, time, what, {}}};
    bool any = false;
    for (const Outcome* outcome : outcomes) {
      Plot::Line& line = out.plot.lines.emplace_back(Plot::Line{outcome->name(), {}, false});
      const std::vector<double> means = means_of(*outcome);
      any = any || !means.empty();
      for (std::size_t s = 0; s < means.size(); ++s) {
        const double at = length * (static_cast<double>(s) + 0.5) / static_cast<double>(means.size());
        line.points.emplace_back(at / unit.seconds, means[s]);
      }
    }
    if (any) all.push_back(std::move(out));
  };
  std::map<const Outcome*, Load> loads;
  for (const Outcome* outcome : outcomes) loads[outcome] = load_over(*outcome, span, kSlices);
  over_time("waiting", "Jobs that wait", "jobs", [&](const Outcome& of) { return loads[&of].waiting; });
  over_time("processors", "Processors in use", "processors", [&](const Outcome& of) { return loads[&of].busy; });
  over_time("accelerators", "Accelerators that jobs hold", "accelerators",
            [&](const Outcome& of) { return accelerators_over(of, span, kSlices); });
  over_time("memory", "Memory that jobs hold", "GiB", [&](const Outcome& of) {
    auto means = memory_over(of, span, kSlices);
    for (double& mean : means) mean /= 1 << 30;
    return means;
  });
  return all;
}

}  // namespace rota::report
