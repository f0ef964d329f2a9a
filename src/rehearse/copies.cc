#include "rehearse/copies.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/random.h"

namespace rota {

log::Workload later_copy(const log::Workload& workload, std::uint64_t seed) {
  log::Workload copy = workload;
  copy.recorded.clear();
  Random random(seed);
  Instant before = kEpoch;
  for (JobSpec& spec : copy.jobs) {
    spec.submit += seconds(random.between(0, kMostDelay.count() / 1000));
    before = spec.submit = std::max(before, spec.submit);
  }
  return copy;
}

Result<std::vector<report::Summary>> rehearse_copies(const std::vector<log::Workload>& copies, const Chain& chain,
                                                     RehearseOptions options, std::size_t threads) {
  options.keep_jobs = options.keep_nodes = false;
  options.journals.clear();
  options.progress = {};
  std::vector<Result<Rehearsed>> results(copies.size(), Rehearsed{});
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < copies.size(); i = next++) results[i] = rehearse(copies[i], chain, options);
  };
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 1; i < std::min(threads, copies.size()); ++i) workers.emplace_back(work);
    work();
  }
  std::vector<report::Summary> summaries;
  summaries.reserve(results.size());
  for (Result<Rehearsed>& result : results) {
    if (!result) return std::unexpected(result.error());
    summaries.push_back(std::move(result->summary));
  }
  return summaries;
}

}  // namespace rota
