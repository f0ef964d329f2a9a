#include "policy/slurm/job_queue.h"

#include <algorithm>
#include <utility>

namespace rota {

SlurmPriorities::SlurmPriorities(const View& view, const SlurmWeights& weights) : view_(view), weights_(weights) {
  const Duration since = view.now() - kEpoch;
  reckoned_at_ = kEpoch + since / weights.calc_period * weights.calc_period;
  if (weights.fair_share == 0) return;
  std::vector<std::pair<std::int64_t, std::uint32_t>> by_use;
  for (const auto& [user, spent] : view.recent_use().all()) by_use.emplace_back(spent, user);
  std::sort(by_use.begin(), by_use.end());
  const auto users = static_cast<double>(by_use.size()) + 1.0;  // with those who have used nothing
  std::size_t rank = 0;
  for (std::size_t i = 0; i < by_use.size(); ++i) {
    if (i > 0 && by_use[i].first != by_use[i - 1].first) rank = i;  // equal use, equal rank
    fair_[by_use[i].second] = (users - 1.0 - static_cast<double>(rank)) / users;
  }
}

double SlurmPriorities::age_factor(const Job& job) const {
  const Duration age = std::clamp(reckoned_at_ - job.spec.submit, Duration{0}, weights_.max_age);
  return to_seconds(age) / to_seconds(weights_.max_age);
}

// The mean of what share of the nodes and of the processors it asks for, or leaves.
double SlurmPriorities::size_factor(const Job& job) const {
  const auto all = static_cast<double>(view_.options().processors);
  const double processors = std::min(static_cast<double>(job.spec.processors) / all, 1.0);
  double share = processors;
  if (!view_.nodes().counted()) {
    const double nodes = std::max(1.0, static_cast<double>(job.spec.nodes)) / static_cast<double>(view_.nodes().size());
    share = (processors + std::min(nodes, 1.0)) / 2.0;
  }
  return weights_.favor_small ? 1.0 - share : share;
}

double SlurmPriorities::fair_factor(std::uint32_t user) const {
  const auto found = fair_.find(user);
  return found == fair_.end() ? 1.0 : found->second;
}

std::int64_t SlurmPriorities::of(const Job& job) const {
  double sum = 0;
  if (weights_.age > 0) sum += static_cast<double>(weights_.age) * age_factor(job);
  if (weights_.job_size > 0) sum += static_cast<double>(weights_.job_size) * size_factor(job);
  if (weights_.fair_share > 0) sum += static_cast<double>(weights_.fair_share) * fair_factor(job.spec.user);
  return static_cast<std::int64_t>(sum);
}

SlurmQueue::SlurmQueue(const View& view, const SlurmKnobs& knobs) : view_(view), sorted_(!knobs.multifactor) {
  if (sorted_) return;
  const SlurmPriorities priorities(view, knobs.weights);
  struct Turn {
    std::int32_t tier;
    std::int64_t priority;
    std::uint32_t arrival;
    const WaitingEntry* entry;
    bool operator<(const Turn& o) const {
      if (tier != o.tier) return tier > o.tier;
      return priority != o.priority ? priority > o.priority : arrival < o.arrival;
    }
  };
  std::vector<Turn> turns;
  turns.reserve(view.waiting().size());
  view.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
    const Job& job = view.job(e.job);
    turns.push_back({job.spec.priority, priorities.of(job), job.sequence, &e});
    return true;
  });
  std::sort(turns.begin(), turns.end());
  for (const Turn& turn : turns) entries_.push_back(turn.entry);
}

const WaitingEntry* SlurmQueue::next() {
  if (!sorted_) return next_ < entries_.size() ? entries_[next_++] : nullptr;
  last_ = next_++ == 0 ? view_.waiting().head() : last_ ? view_.waiting().next(last_->place) : nullptr;
  return last_;
}

void SlurmQueue::rewind() {
  next_ = 0;
  last_ = nullptr;
}

}  // namespace rota
