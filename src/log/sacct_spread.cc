#include "log/sacct_spread.h"

#include <algorithm>
#include <set>
#include <utility>

namespace rota::log {
namespace {

// The least that it has of its nodes' processors on one of them, wherever it goes.
std::int64_t least_on_a_node(const SacctRow& job) {
  if (job.spread == SacctSpread::any || job.spread == SacctSpread::one || job.nodes == 0) return 1;
  return std::max<std::int64_t>(job.processors / std::int64_t{job.nodes}, 1);
}

// Whether no more of its memory is on a node than that has beside the processors that it has there.
bool modest(const SacctRow& job, std::int64_t beside) {
  if (job.start == kNoTime || job.node_memory <= 0) return true;
  if (job.by_processors) return job.processor_memory * 1024 <= beside;
  return job.node_memory / least_on_a_node(job) <= beside;
}

std::int32_t size_of(const SacctRow& job) {
  return job.requested_processors > 0 ? job.requested_processors : job.processors;
}

}  // namespace

void suit_to(const Machine& machine, SwfOptions& options) {
  options.memory_counts = std::ranges::any_of(machine.nodes, &Node::memory);
  options.memory_beside = 0;
  for (const Node& node : machine.nodes) {
    if (node.memory <= 0 || node.processors == 0) continue;
    const std::int64_t beside = node.memory / node.processors;
    options.memory_beside = options.memory_beside == 0 ? beside : std::min(options.memory_beside, beside);
  }
}

void settle_spread(std::vector<SacctRow>& jobs, const SwfOptions& options) {
  using Alike = std::pair<std::int32_t, std::int32_t>;  // user, processors
  std::set<Alike> spread;
  for (const SacctRow& job : jobs)
    if (job.spread == SacctSpread::any) spread.emplace(job.user, size_of(job));
  if (spread.empty()) return;
  const std::int64_t beside = options.memory_beside;
  const bool short_of_it =
      options.memory_counts &&
      (beside <= 0 || !std::ranges::all_of(jobs, [&](const SacctRow& job) { return modest(job, beside); }));
  for (SacctRow& job : jobs) {
    if (job.spread == SacctSpread::one && (job.user < 0 || !spread.contains({job.user, size_of(job)}))) continue;
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
