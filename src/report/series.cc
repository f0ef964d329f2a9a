#include "report/series.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/text.h"
#include "report/metrics.h"

namespace rota::report {
namespace {

// Adds up weighted intervals into the means over equal slices, each interval in O(1).
class Slices {
 public:
  Slices(Span span, std::size_t n)
      : from_(static_cast<double>(span.from.time_since_epoch().count())),
        width_(static_cast<double>((span.to - span.from).count()) / static_cast<double>(n)),
        part_(n + 1),
        whole_(n + 1) {}

  void add(Instant from, Instant to, double weight) {
    const double a = place(from);
    const double b = place(to);
    if (b <= a) return;
    const auto first = static_cast<std::size_t>(a);
    const auto last = static_cast<std::size_t>(b);
    if (first == last) {
      part_[first] += weight * (b - a);
      return;
    }
    part_[first] += weight * (static_cast<double>(first + 1) - a);
    part_[last] += weight * (b - static_cast<double>(last));
    whole_[first + 1] += weight;
    whole_[last] -= weight;
  }

  std::vector<double> means() const {
    std::vector<double> result(part_.size() - 1);
    double level = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      level += whole_[i];
      result[i] = std::max(0.0, level + part_[i]);
    }
    return result;
  }

 private:
  // In slices from the start.
  double place(Instant at) const {
    const auto ms = static_cast<double>(at.time_since_epoch().count());
    return std::clamp((ms - from_) / width_, 0.0, static_cast<double>(part_.size() - 1));
  }

  double from_;
  double width_;  // milliseconds
  std::vector<double> part_;
  std::vector<double> whole_;
};

std::size_t class_of(std::uint32_t processors, const std::vector<SizeClass>& classes) {
  const auto at = std::ranges::find_if(classes, [&](const SizeClass& c) { return processors <= c.most; });
  return at == classes.end() ? classes.size() - 1 : static_cast<std::size_t>(at - classes.begin());
}

// The sums that a load is made of.
class LoadSums {
 public:
  LoadSums(Span span, std::size_t slices) : last_(span.to), busy_(span, slices), waiting_(span, slices) {}

  void add(const Job& job, const std::vector<EarlierRun>& runs) {
    waiting_.add(job.spec.submit, std::min(job.start, last_), 1);
    if (!job.ended()) return;
    add_use(job, {job.start, job.end, job.end - job.start - job.stood}, 0);
    Duration elsewhen = job.done;
    for (const EarlierRun& run : runs) {
      add_use(job, run, 1);
      elsewhen -= run.kept;
    }
    if (elsewhen > Duration{0}) add_use(job, {job.spec.submit, job.start, elsewhen}, 1);
  }

  Load means() const { return {busy_.means(), waiting_.means()}; }

 private:
  // `waited`: so much of the same time counts as waiting otherwise.
  void add_use(const Job& job, const EarlierRun& run, double waited) {
    if (run.to <= run.from) return;
    const double share = static_cast<double>(run.kept.count()) / static_cast<double>((run.to - run.from).count());
    busy_.add(run.from, run.to, share * job.spec.processors);
    waiting_.add(run.from, run.to, -share * waited);
  }

  Instant last_;
  Slices busy_;
  Slices waiting_;
};

}  // namespace

Span span_of(const Outcome& outcome) {
  Span span{kNever, kEpoch};
  for (const Job& job : outcome.jobs) {
    if (job.state == JobState::rejected) continue;
    span.from = std::min(span.from, job.spec.submit);
    span.to = std::max({span.to, job.spec.submit, job.ended() ? job.end : job.spec.submit});
  }
  if (span.from == kNever) return {};
  return span;
}

Load load_over(const Outcome& outcome, Span span, std::size_t slices) {
  if (span.to <= span.from) return {std::vector<double>(slices), std::vector<double>(slices)};
  LoadSums sums(span, slices);
  static const std::vector<EarlierRun> kUnknown;
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    const Job& job = outcome.jobs[i];
    const bool told = !outcome.recorded || job.start != kNever;
    if (job.state == JobState::rejected || !told) continue;
    sums.add(job, i < outcome.starts.size() ? outcome.starts[i].runs : kUnknown);
  }
  return sums.means();
}

namespace {

// What jobs hold on each of their nodes beside processors; `amount` of a job's spec.
template <class Amount>
std::vector<double> held_over(const Outcome& outcome, Span span, std::size_t slices, const Amount& amount) {
  const auto holds = [&](const Job& job) { return job.ended() && job.start != kNever && amount(job.spec) > 0; };
  if (std::ranges::none_of(outcome.jobs, holds)) return {};
  Slices held(span, slices);
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    const Job& job = outcome.jobs[i];
    if (!holds(job)) continue;
    held.add(job.start, job.end, static_cast<double>(nodes_of(outcome, i)) * static_cast<double>(amount(job.spec)));
  }
  return held.means();
}

}  // namespace

std::vector<double> accelerators_over(const Outcome& outcome, Span span, std::size_t slices) {
  return held_over(outcome, span, slices, [](const JobSpec& spec) { return std::int64_t{spec.accelerators}; });
}

std::vector<double> memory_over(const Outcome& outcome, Span span, std::size_t slices) {
  return held_over(outcome, span, slices, [](const JobSpec& spec) { return spec.memory; });
}

NodeStates sum_of(const std::vector<NodeStates>& sites) {
  NodeStates all;
  for (const NodeStates& site : sites) {
    if (site.bins.empty()) continue;
    if (all.bins.empty()) {
      all = site;
      continue;
    }
    if (site.from != all.from || site.width != all.width || site.length != all.length) return {};
    for (std::size_t i = 0; i < all.bins.size(); ++i) all.bins[i] += site.bins[i];
  }
  return all;
}

std::vector<double> wait_marks(Duration longest) {
  std::vector<double> marks{0, 1};
  for (int tenth = 1; marks.back() < to_seconds(longest); ++tenth) marks.push_back(std::pow(10.0, tenth / 10.0));
  return marks;
}

std::vector<double> wait_shares(const Outcome& outcome, const std::vector<double>& marks) {
  std::vector<std::int64_t> counts(marks.size() + 1);
  std::int64_t ended = 0;
  for (const Job& job : outcome.jobs) {
    if (!job.ended()) continue;
    const double wait = to_seconds(job.wait());
    ++counts[static_cast<std::size_t>(std::ranges::lower_bound(marks, wait) - marks.begin())];
    ++ended;
  }
  std::vector<double> shares;
  std::int64_t so_far = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    so_far += counts[i];
    shares.push_back(ended == 0 ? 0 : static_cast<double>(so_far) / static_cast<double>(ended));
  }
  return shares;
}

std::string SizeClass::label() const {
  return least == most ? grouped(least) : fmt::format("{}\xe2\x80\x93{}", grouped(least), grouped(most));
}

std::vector<SizeClass> size_classes(std::int64_t processors) {
  const auto top = static_cast<std::uint32_t>(std::clamp<std::int64_t>(processors, 1, UINT32_MAX));
  const unsigned shift = std::bit_width(top) > 10 ? 2 : 1;
  std::vector<SizeClass> classes{{1, 1}};
  while (classes.back().most < top) {
    const std::uint64_t most = std::uint64_t{classes.back().most} << shift;
    classes.push_back({classes.back().most + 1, static_cast<std::uint32_t>(std::min<std::uint64_t>(most, top))});
  }
  return classes;
}

std::vector<ClassFigures> by_size(const Outcome& outcome, const std::vector<SizeClass>& classes) {
  std::vector<ClassFigures> figures(classes.size());
  for (const Job& job : outcome.jobs) {
    if (!job.ended()) continue;
    ClassFigures& one = figures[class_of(job.spec.processors, classes)];
    ++one.jobs;
    one.bounded_slowdown += bounded_slowdown(job.wait(), job.run_time());
    one.wait += to_seconds(job.wait());
  }
  for (ClassFigures& one : figures) {
    if (one.jobs == 0) continue;
    one.bounded_slowdown /= static_cast<double>(one.jobs);
    one.wait /= static_cast<double>(one.jobs);
  }
  return figures;
}

}  // namespace rota::report
