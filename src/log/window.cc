#include "log/window.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace rota::log {
namespace {

constexpr const char* kBefore = "submitted before the window: left out";
constexpr const char* kAfter = "submitted after the window: left out";

// Where the first job stands that was not submitted before that instant.
std::size_t first_from(const Workload& workload, Instant at) {
  const auto found = std::ranges::lower_bound(workload.jobs, at, {}, &JobSpec::submit);
  return static_cast<std::size_t>(found - workload.jobs.begin());
}

// In which lines they stand is not known any more.
void tell(Workload& workload, const char* what, std::size_t jobs) {
  if (jobs == 0) return;
  workload.report.findings.push_back({.what = what, .rows = static_cast<std::int64_t>(jobs), .dropped = true});
}

// Keeps the terms of the jobs from `begin` to `end`, as places from there on. A job that waited for one that is left
// out does not wait for it.
void keep_terms(Workload& workload, std::size_t begin, std::size_t end) {
  const auto kept = [&](std::uint32_t place) { return place >= begin && place < end; };
  std::map<std::uint32_t, JobTerms> all;
  std::size_t alone = 0;
  for (auto& [place, terms] : workload.terms) {
    if (!kept(place)) continue;
    if (std::erase_if(terms.after, [&](const Dependency& d) { return !kept(d.on.value); }) > 0) ++alone;
    for (Dependency& dependency : terms.after) dependency.on.value -= static_cast<std::uint32_t>(begin);
    all.emplace(place - static_cast<std::uint32_t>(begin), std::move(terms));
  }
  workload.terms = std::move(all);
  if (alone == 0) return;
  workload.report.findings.push_back({.what = "waited for a job that is left out: taken as if it had ended",
                                      .rows = static_cast<std::int64_t>(alone)});
}

bool has_finding(const Workload& workload, std::string_view what) {
  return std::ranges::find(workload.report.findings, what, &ImportReport::Finding::what) !=
         workload.report.findings.end();
}

}  // namespace

bool cut_before(const Workload& workload) { return has_finding(workload, kBefore); }
bool cut_anywhere(const Workload& workload) { return cut_before(workload) || has_finding(workload, kAfter); }

Result<void> cut(Workload& workload, const Window& window) {
  const std::size_t begin = first_from(workload, window.from);
  const std::size_t end = std::max(begin, first_from(workload, window.until));
  const std::size_t all = workload.jobs.size();
  keep_terms(workload, begin, end);
  const Instant first = all > 0 ? std::max(window.from, workload.jobs.front().submit) : window.from;
  tell(workload, kBefore, begin);
  tell(workload, kAfter, all - end);
  const auto keep = [&](auto& of) {
    of.erase(of.begin() + static_cast<std::ptrdiff_t>(end), of.end());
    of.erase(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(begin));
  };
  keep(workload.jobs);
  keep(workload.run_times);
  if (!workload.recorded.empty()) keep(workload.recorded);
  workload.report.kept = static_cast<std::int64_t>(workload.jobs.size());
  if (workload.jobs.empty()) return fail(workload.name + ": no job was submitted in that time.");
  if (window.warm_up <= Duration{0}) return {};
  workload.warm_up = static_cast<std::uint32_t>(first_from(workload, first + window.warm_up));
  if (workload.warm_up == workload.jobs.size())
    return fail(workload.name + ": every job of that time falls into the warm-up, so that none is left to be counted.");
  return {};
}

}  // namespace rota::log
