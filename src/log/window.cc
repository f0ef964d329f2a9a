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
  const auto waits = [](const auto& of) { return !of.second.after.empty(); };
  if ((begin > 0 || end < all) && std::ranges::any_of(workload.terms, waits))
    return fail(workload.name + ": jobs of this log wait for each other, so that none can be left out.");
  tell(workload, kBefore, begin);
  tell(workload, kAfter, all - end);
  const auto keep = [&](auto& of) {
    of.erase(of.begin() + static_cast<std::ptrdiff_t>(end), of.end());
    of.erase(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(begin));
  };
  keep(workload.jobs);
  keep(workload.run_times);
  if (!workload.recorded.empty()) keep(workload.recorded);
  std::map<std::uint32_t, JobTerms> terms;
  for (auto& [place, own] : workload.terms)
    if (place >= begin && place < end) terms.emplace(place - static_cast<std::uint32_t>(begin), std::move(own));
  workload.terms = std::move(terms);
  workload.report.kept = static_cast<std::int64_t>(workload.jobs.size());
  if (workload.jobs.empty()) return fail(workload.name + ": no job was submitted in that time.");
  if (window.warm_up <= Duration{0}) return {};
  const Instant first = std::max(window.from, workload.jobs.front().submit);
  workload.warm_up = static_cast<std::uint32_t>(first_from(workload, first + window.warm_up));
  if (workload.warm_up == workload.jobs.size())
    return fail(workload.name + ": every job of that time falls into the warm-up, so that none is left to be counted.");
  return {};
}

}  // namespace rota::log
