#include "log/sacct_spread.h"

#include <algorithm>
#include <set>
#include <utility>

namespace rota::log {
namespace {

// The least that it has of its nodes' processors on one of them.
std::int64_t least_on_a_node(const SacctRow& job) {
  if (job.nodes == 0) return 1;
  return std::max<std::int64_t>(job.processors / std::int64_t{job.nodes}, 1);
}

// Whether no more of its memory is on a node than that has beside the processors that it has there.
bool modest(const SacctRow& job, std::int64_t beside) {
  if (job.start == kNoTime || job.node_memory <= 0) return true;
  if (job.by_processors) return job.processor_memory * 1024 <= beside;
  return job.node_memory / least_on_a_node(job) <= beside;
}

}  // namespace

void settle_spread(std::vector<SacctRow>& jobs, const SwfOptions& options) {
  using Alike = std::pair<std::int32_t, std::int32_t>;  // user, processors
  std::set<Alike> spread;
  for (const SacctRow& job : jobs)
    if (job.spread == SacctSpread::any) spread.emplace(job.user, job.processors);
  if (spread.empty()) return;
  const std::int64_t beside = options.memory_beside;
  const bool short_of_it =
      options.memory_counts &&
      (beside <= 0 || !std::ranges::all_of(jobs, [&](const SacctRow& job) { return modest(job, beside); }));
  for (SacctRow& job : jobs) {
    if (job.spread == SacctSpread::one && !spread.contains({job.user, job.processors})) continue;
    if (job.spread == SacctSpread::as_asked) continue;
    if (job.by_processors && short_of_it) {
      if (job.spread == SacctSpread::one) continue;
      job.nodes = job.given_nodes;
      job.spread = SacctSpread::kept;
      continue;
    }
    job.nodes = 0;
    if (job.by_processors && options.memory_counts) job.node_memory = 0;
    if (job.spread == SacctSpread::one) job.spread = SacctSpread::guessed;
  }
}

}  // namespace rota::log
