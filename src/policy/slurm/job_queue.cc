#include "policy/slurm/job_queue.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "model/same_turn.h"
#include "model/share_tree.h"

namespace rota {

SlurmPriorities::SlurmPriorities(const View& view, const SlurmWeights& weights) : view_(view), weights_(weights) {
  by_resources_ = weights.processors > 0 || weights.memory > 0 || weights.nodes > 0 || weights.accelerators > 0;
  reckoned_at_ = weights.reckoned_at(view.now());
  if (weights.fair_share > 0 && !view.options().use.shares) rank_users();
  whole_.processors = view.options().processors;
  if (const Machine* machine = view.options().machine) rank_whole(*machine);
}

// Few partitions and QOS.
void SlurmPriorities::rank_whole(const Machine& machine) {
  for (const Partition& p : machine.partitions) most_job_factor_ = std::max(most_job_factor_, p.job_factor);
  for (const Qos& qos : machine.qos) most_qos_ = std::max(most_qos_, qos.priority);
  whole_.memory = machine.memory;
  whole_.accelerators = machine.accelerators;
}

void SlurmPriorities::rank_users() {
  std::vector<std::pair<std::int64_t, std::uint32_t>> by_use;
  for (const auto& [user, spent] : view_.use().recent().all()) by_use.emplace_back(spent, user);
  std::sort(by_use.begin(), by_use.end());
  const auto users = static_cast<double>(by_use.size()) + 1.0;  // with the users that have no use
  std::size_t rank = 0;
  for (std::size_t i = 0; i < by_use.size(); ++i) {
    if (i > 0 && by_use[i].first != by_use[i - 1].first) rank = i;  // equal use, equal rank
    fair_[by_use[i].second] = (users - 1.0 - static_cast<double>(rank)) / users;
  }
}

double SlurmPriorities::age_factor(const Job& job) const {
  // A job that gave way is as young as one that comes when it is looked at again.
  const Instant since = job.preemptions > 0 ? job.end + view_.options().requeue_delay : job.spec.submit;
  const Duration age = std::clamp(reckoned_at_ - since, Duration{0}, weights_.max_age);
  return to_seconds(age) / to_seconds(weights_.max_age);
}

// What share of the processors it asks for, or has on as many nodes of mean size, for each minute of its limit.
double SlurmPriorities::size_by_time(const JobSpec& spec) const {
  const auto all = static_cast<double>(view_.options().processors);
  auto processors = static_cast<double>(spec.processors);
  if (!view_.nodes().counted()) {
    const double mean = all / static_cast<double>(view_.nodes().size());
    processors = std::max(processors, std::max(1.0, static_cast<double>(spec.nodes)) * mean);
  }
  const Duration::rep minutes = std::max<Duration::rep>(1, (spec.limit.count() + 59'999) / 60'000);
  return processors / static_cast<double>(minutes) / all;
}

// The mean of what share of the nodes and of the processors it asks for, or leaves.
double SlurmPriorities::size_factor(const Job& job) const {
  const auto all = static_cast<double>(view_.options().processors);
  if (weights_.relative_to_time) {
    const double share = size_by_time(job.spec);
    return weights_.favor_small ? 1.0 - share : share;
  }
  const double processors = std::min(static_cast<double>(job.spec.processors) / all, 1.0);
  double share = processors;
  if (!view_.nodes().counted()) {
    const double nodes = std::max(1.0, static_cast<double>(job.spec.nodes)) / static_cast<double>(view_.nodes().size());
    share = (processors + std::min(nodes, 1.0)) / 2.0;
  }
  return weights_.favor_small ? 1.0 - share : share;
}

double SlurmPriorities::fair_factor(const JobSpec& spec) const {
  if (const ShareTree* shares = view_.options().use.shares) return view_.use().share_factors()[shares->holder_of(spec)];
  const auto found = fair_.find(spec.user);
  return found == fair_.end() ? 1.0 : found->second;
}

double SlurmPriorities::partition_factor(const JobSpec& spec) const {
  if (!spec.partition.valid()) return 0;
  const std::int64_t factor = view_.options().machine->partitions[spec.partition.value].job_factor;
  return static_cast<double>(factor) / static_cast<double>(most_job_factor_);
}

double SlurmPriorities::qos_factor(const JobSpec& spec) const {
  if (!spec.qos.valid() || most_qos_ == 0) return 0;
  const std::int64_t priority = view_.options().machine->qos[spec.qos.value].priority;
  return static_cast<double>(priority) / static_cast<double>(most_qos_);
}

double SlurmPriorities::resources(const JobSpec& spec) const {
  const Partition& of = spec.partition.valid() ? view_.options().machine->partitions[spec.partition.value] : whole_;
  const auto nodes = std::max(1.0, static_cast<double>(spec.nodes));
  const auto there = spec.partition.valid() ? of.nodes.size() : view_.nodes().size();
  double sum = 0;
  const auto add = [&](std::int64_t weight, double asked, std::int64_t of_all) {
    if (weight > 0 && of_all > 0) sum += static_cast<double>(weight) * asked / static_cast<double>(of_all);
  };
  add(weights_.processors, spec.processors, of.processors);
  add(weights_.memory, static_cast<double>(spec.memory) * nodes, of.memory);
  add(weights_.nodes, nodes, static_cast<std::int64_t>(there));
  add(weights_.accelerators, spec.accelerators * nodes, of.accelerators);
  return sum;
}

std::int64_t SlurmPriorities::of(const Job& job) const {
  return std::max(std::int64_t{1}, static_cast<std::int64_t>(parts_of(job).sum()));
}

SlurmPriorities::Parts SlurmPriorities::parts_of(const Job& job) const {
  Parts parts;
  const auto of = [](std::int64_t weight) { return static_cast<double>(weight); };
  if (weights_.age > 0) parts.age = of(weights_.age) * age_factor(job);
  if (weights_.job_size > 0) parts.job_size = of(weights_.job_size) * size_factor(job);
  if (weights_.fair_share > 0) parts.fair_share = of(weights_.fair_share) * fair_factor(job.spec);
  if (weights_.partition > 0) parts.partition = of(weights_.partition) * partition_factor(job.spec);
  if (weights_.qos > 0) parts.qos = of(weights_.qos) * qos_factor(job.spec);
  if (by_resources_) parts.resources = resources(job.spec);
  return parts;
}

SlurmQueue::SlurmQueue(const View& view, const SlurmKnobs& knobs) : view_(view) {
  const bool reordered = view.options().waiting.queue != Order::fcfs;
  sorted_ = !knobs.multifactor && !reordered;
  if (sorted_) return;
  std::optional<SlurmPriorities> priorities;
  if (knobs.multifactor) priorities.emplace(view, knobs.weights);
  turns_.reserve(view.waiting().size());
  view.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
    const Job& job = view.job(e.job);
    turns_.push_back({job.spec.priority, priorities ? priorities->of(job) : 0, job.sequence, &e});
    return true;
  });
  if (reordered) exchange();
}

// As site factors do (engine/slurm/site_factors.h): whose places are whose partition's stays, and jobs that are alike
// to the order stay as they are.
void SlurmQueue::exchange() {
  std::sort(turns_.begin(), turns_.end());
  in_order_ = turns_.size();
  std::map<std::pair<std::int32_t, PartitionId>, std::vector<Turn*>> partitions;
  for (Turn& turn : turns_) partitions[{turn.tier, view_.job(turn.entry->job).spec.partition}].push_back(&turn);
  for (const auto& [partition, places] : partitions) {
    std::vector<const WaitingEntry*> jobs;
    for (const Turn* place : places) jobs.push_back(place->entry);
    std::ranges::stable_sort(jobs, [](const WaitingEntry* a, const WaitingEntry* b) {
      return !same_turn(a->place, b->place) && a->place < b->place;
    });
    for (std::size_t at = 0; at < places.size(); ++at) places[at]->entry = jobs[at];
  }
}

void SlurmQueue::sort_more() {
  constexpr std::size_t kFirst = 128;
  const std::size_t more = std::min(std::max(kFirst, in_order_), turns_.size() - in_order_);
  const auto from = turns_.begin() + static_cast<std::ptrdiff_t>(in_order_);
  const auto until = from + static_cast<std::ptrdiff_t>(more);
  if (until != turns_.end()) std::nth_element(from, until, turns_.end());
  std::sort(from, until);
  in_order_ += more;
}

const WaitingEntry* SlurmQueue::next() {
  if (!sorted_) {
    if (next_ == turns_.size()) return nullptr;
    if (next_ == in_order_) sort_more();
    return turns_[next_++].entry;
  }
  last_ = next_++ == 0 ? view_.waiting().head() : last_ ? view_.waiting().next(last_->place) : nullptr;
  return last_;
}

void SlurmQueue::rewind() {
  next_ = 0;
  last_ = nullptr;
}

}  // namespace rota
