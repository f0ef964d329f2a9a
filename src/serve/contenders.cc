#include "serve/contenders.h"

#include <algorithm>

namespace rota::serve {
namespace {

constexpr std::size_t kMostLooked = 1000;

}  // namespace

JobId Contenders::before(const View& view, const Machine& machine, const Job& job, const Competes& competes) {
  look(view, machine, competes);
  const WaitingEntry::Key own = view.waiting().queue_place(job);
  for (const First& first : first_) {
    if (!(first.place < own)) break;
    if (share_nodes(machine, first.partition, job.spec.partition)) return first.job;
  }
  return {};
}

void Contenders::look(const View& view, const Machine& machine, const Competes& competes) {
  if (sequence_ == view.sequence()) return;
  sequence_ = view.sequence();
  first_.clear();
  std::size_t looked = 0;
  const WaitingEntry* entry = view.waiting().head();
  while (entry != nullptr && looked++ < kMostLooked && first_.size() <= machine.partitions.size()) {
    const Job& job = view.job(entry->job);
    const JobSpec& spec = job.spec;
    const bool is_new = std::ranges::find(first_, spec.partition, &First::partition) == first_.end();
    if (is_new && (job.promise != kNever || competes(spec)))
      first_.push_back({spec.partition, entry->place, entry->job});
    entry = view.waiting().next(entry->place);
  }
}

bool Contenders::share_nodes(const Machine& machine, PartitionId a, PartitionId b) {
  if (a == b || !a.valid() || !b.valid()) return true;
  const auto [known, is_new] = shared_.try_emplace({std::min(a, b), std::max(a, b)}, true);
  if (!is_new) return known->second;
  const auto& own = machine.partitions[a.value].nodes;
  const auto& theirs = machine.partitions[b.value].nodes;
  const bool counted = machine.nodes.empty();  // then every partition has all processors
  known->second =
      counted || std::ranges::any_of(own, [&](NodeId node) { return std::ranges::binary_search(theirs, node); });
  return known->second;
}

}  // namespace rota::serve
