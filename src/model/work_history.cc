#include "model/work_history.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/random.h"
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
  const std::size_t size_class = class_of(nodes);
  keep(size_class, static_cast<std::int64_t>(std::min(use, 9e18)));
  sums_[size_class].add({1, use, use * use});
  longest_limit_ = std::max(longest_limit_, spec.limit);
}

// The drawn ones by Vitter's algorithm R (ACM TOMS 11, 1985), with a random number that depends on the class and on how
// many have ended alone: a replay draws the same.
void WorkHistory::keep(std::size_t size_class, std::int64_t use) {
  Kept& kept = kept_[size_class];
  const auto before = static_cast<std::size_t>(sums_[size_class].jobs);
  if (before < kKept) {
    kept.latest.push_back(use);
    kept.drawn.push_back(use);
    return;
  }
  kept.latest[before % kKept] = use;
  Random random(before * kClasses + size_class);
  const auto place = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(before)));
  if (place < kKept) kept.drawn[place] = use;
}

WorkHistory::Sums WorkHistory::sample_of(std::size_t size_class, WorkSample sample, std::size_t window) const {
  const Sums& all = sums_[size_class];
  const Kept& kept = kept_[size_class];
  const std::size_t count = std::min(window, kept.latest.size());
  Sums sums;
  if (sample == WorkSample::all || static_cast<std::size_t>(all.jobs) <= count) return all;
  if (sample == WorkSample::latest) {
    const auto last = static_cast<std::size_t>(all.jobs - 1);
    for (std::size_t back = 0; back < count; ++back) sums.add(Sums::of(kept.latest[(last - back) % kKept]));
    return sums;
  }
  // Places of the drawn are no matter of chance: the first jobs have the first. So these are drawn once more.
  std::vector<std::int64_t> drawn = kept.drawn;
  Random random(static_cast<std::uint64_t>(all.jobs) * kClasses + size_class);
  for (std::size_t i = 0; i < count; ++i) {
    const auto other = random.between(static_cast<std::int64_t>(i), static_cast<std::int64_t>(drawn.size()) - 1);
    std::swap(drawn[i], drawn[static_cast<std::size_t>(other)]);
    sums.add(Sums::of(drawn[i]));
  }
  return sums;
}

std::vector<WorkKept> WorkHistory::kept() const {
  std::vector<WorkKept> all;
  for (std::uint32_t k = 0; k < kClasses; ++k) {
    const Sums& sums = sums_[k];
    if (sums.jobs > 0)
      all.push_back({k, sums.jobs, sums.use, sums.squares, longest_limit_, kept_[k].latest, kept_[k].drawn});
  }
  return all;
}

void WorkHistory::put_back(const WorkKept& kept) {
  const std::size_t size_class = kept.size_class % kClasses;
  const std::int64_t jobs = std::max<std::int64_t>(0, kept.jobs);
  sums_[size_class] = {jobs, kept.use, kept.squares};
  kept_[size_class] = {kept.latest, kept.drawn};
  // A state that an older Rota kept knows the sums alone: what is drawn from begins with their mean.
  const auto known = std::min(kKept, static_cast<std::size_t>(jobs));
  const std::int64_t mean = jobs > 0 ? std::llround(kept.use / static_cast<double>(jobs)) : 0;
  kept_[size_class].latest.resize(known, mean);
  kept_[size_class].drawn.resize(known, mean);
  longest_limit_ = kept.longest_limit;
}

std::array<WorkHistory::Use, WorkHistory::kClasses> WorkHistory::uses(std::int64_t least, WorkSample sample,
                                                                      std::int64_t window) const {
  struct Group {
    std::size_t first;
    std::size_t end;  // exclusive
    Sums sums;
  };
  std::vector<Group> groups;
  Group open{0, 0, {}};
  for (std::size_t k = 0; k < kClasses; ++k) {
    open.end = k + 1;
    open.sums.add(sample_of(k, sample, static_cast<std::size_t>(window)));
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
