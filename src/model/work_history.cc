#include "model/work_history.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/spread.h"

namespace rota {

WorkHistory::WorkHistory(const Machine* machine) {
  if (machine == nullptr || machine->nodes.empty()) return;
  per_node_ = std::max<std::int64_t>(1, machine->processors / static_cast<std::int64_t>(machine->nodes.size()));
}

std::uint32_t WorkHistory::nodes_of(const JobSpec& spec) const {
  const auto filled = static_cast<std::uint32_t>((spec.processors + per_node_ - 1) / per_node_);
  return std::max(filled, Spread(spec).nodes);
}

std::size_t WorkHistory::class_of(std::uint32_t nodes) {
  return nodes <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(nodes - 1));
}

void WorkHistory::add(const JobSpec& spec, Duration run) {
  const std::uint32_t nodes = nodes_of(spec);
  const double use = static_cast<double>(nodes) * static_cast<double>(run.count());
  sums_[class_of(nodes)].add({1, use, use * use});
  longest_limit_ = std::max(longest_limit_, spec.limit);
}

std::vector<WorkKept> WorkHistory::kept() const {
  std::vector<WorkKept> all;
  for (std::uint32_t k = 0; k < kClasses; ++k) {
    const Sums& sums = sums_[k];
    if (sums.jobs > 0) all.push_back({k, sums.jobs, sums.use, sums.squares, longest_limit_});
  }
  return all;
}

void WorkHistory::put_back(const WorkKept& kept) {
  sums_[kept.size_class % kClasses] = {kept.jobs, kept.use, kept.squares};
  longest_limit_ = kept.longest_limit;
}

std::array<WorkHistory::Use, WorkHistory::kClasses> WorkHistory::uses(std::int64_t least) const {
  struct Group {
    std::size_t first;
    std::size_t end;  // exclusive
    Sums sums;
  };
  std::vector<Group> groups;
  Group open{0, 0, {}};
  for (std::size_t k = 0; k < kClasses; ++k) {
    open.end = k + 1;
    open.sums.add(sums_[k]);
    if (open.sums.jobs < least || open.sums.jobs == 0) continue;
    groups.push_back(open);
    open = {k + 1, k + 1, {}};
  }
  if (groups.empty()) {
    groups.push_back(open);
  } else {
    groups.back().end = kClasses;
    groups.back().sums.add(open.sums);
  }
  std::array<Use, kClasses> uses;
  for (const Group& g : groups) {
    Use use;
    use.jobs = g.sums.jobs;
    const auto n = static_cast<double>(use.jobs);
    if (use.jobs > 0) use.mean = g.sums.use / n;
    const double squares = g.sums.squares - n * use.mean * use.mean;
    if (use.jobs > 1) use.deviation = std::sqrt(std::max(0.0, squares) / (n - 1));
    for (std::size_t k = g.first; k < g.end; ++k) uses[k] = use;
  }
  return uses;
}

}  // namespace rota
