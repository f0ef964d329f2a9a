#include "policy/slurm/displaced.h"

#include <algorithm>
#include <bitset>

#include "policy/slurm/slurm_room.h"

namespace rota {
namespace {

// Jobs that come before the one that needs their room take it from each other for ever, where nothing else ends them.
constexpr std::uint16_t kMostTimes = 32;

// Where partitions are described a job's own priority does not matter (PriorityTier).
std::int32_t tier_of(const View& view, const JobSpec& spec) {
  const Machine* machine = view.options().machine;
  if (!machine || machine->partitions.empty()) return spec.priority;
  return machine->partitions[(spec.partition.valid() ? spec.partition : machine->default_partition).value].priority;
}

bool gives_way(const View& view, const SlurmKnobs& knobs, const JobSpec& spec, const JobSpec& to) {
  if (!knobs.by_qos) return spec.priority < to.priority && tier_of(view, spec) < tier_of(view, to);
  return view.options().machine->gives_way(spec.qos, to.qos);
}

// To a job that waits, where partitions decide, or to one of any QOS.
class GivesWayToAny {
 public:
  GivesWayToAny(const View& view, const SlurmKnobs& knobs) : view_(view), by_qos_(knobs.by_qos) {
    if (!by_qos_) {
      view.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
        highest_ = std::max(highest_, tier_of(view, view.job(e.job).spec));
        return true;
      });
    } else if (const Machine* machine = view.options().machine) {
      for (const Qos& qos : machine->qos)
        for (const QosId over : qos.over) given_.set(over.value);
    }
  }
  bool operator()(const JobSpec& spec) const {
    return by_qos_ ? spec.qos.valid() && given_[spec.qos.value] : tier_of(view_, spec) < highest_;
  }

 private:
  const View& view_;
  bool by_qos_;
  std::int32_t highest_ = INT32_MIN;  // of those that wait
  std::bitset<256> given_;            // by QosId
};

}  // namespace

Displaceable::Displaceable(const View& view, const SlurmKnobs& knobs) : view_(view), knobs_(knobs) {
  const GivesWayToAny gives_way(view, knobs);
  view.running().for_each([&](const RunningEntry& e) {
    const Job& job = view.job(e.job);
    if (!gives_way(job.spec) || !job.steady() || job.preemptions >= kMostTimes) return true;
    const std::int64_t priority = knobs.by_qos ? view.options().machine->qos[job.spec.qos.value].priority : 0;
    const std::size_t nodes = view.nodes().counted() ? 1 : view.placement(e.job).shares.size();
    found_.push_back({priority, nodes, e.job});
    return true;
  });
  std::ranges::sort(found_);
}

std::vector<JobId> Displaceable::by(JobId waiting) const {
  const JobSpec& to = view_.job(waiting).spec;
  std::vector<JobId> jobs;
  for (const Candidate& c : found_) {
    const Job& job = view_.job(c.job);
    if (job.start + knobs_.exempt <= view_.now() && gives_way(view_, knobs_, job.spec, to)) jobs.push_back(c.job);
  }
  return jobs;
}

Instant looked_at_from(const Job& job, const SlurmKnobs& knobs) {
  return job.preemptions > 0 && job.state == JobState::waiting ? job.end + knobs.requeue_delay : kEpoch;
}

// ---- where nodes are described

std::int64_t SlurmNodes::shared_with(const NodeSet& nodes, JobId running) const {
  return std::ranges::count_if(view_.placement(running).shares, [&](const Share& s) { return nodes.contains(s.node); });
}

NodeSet SlurmNodes::found_nodes() const {
  NodeSet nodes(view_.nodes().size());
  nodes.clear();
  for (const Share& s : where_.shares) nodes.insert(s.node);
  return nodes;
}

// One after the other is taken away until the job fits. Then that one goes first, after it those that have most nodes
// of those found, and all is tried again: so few need to give way (select/cons_tres, with its preempt_reorder_count of
// 1). What is left are those on the nodes found.
bool SlurmNodes::pick(const JobSpec& spec, const NodeSet& nodes, std::vector<JobId>& others) {
  for (std::size_t passes = 1;; ++passes) {
    restrict_to(nodes);
    const auto fits_without = [&](JobId id) {
      room_.give(view_.placement(id));
      return place(spec);
    };
    const auto last = std::ranges::find_if(others, fits_without);
    if (last == others.end()) return false;
    others.erase(last + 1, others.end());
    const NodeSet found = found_nodes();
    if (passes == 3 || others.size() <= passes) {
      std::erase_if(others, [&](JobId id) { return shared_with(found, id) == 0; });
      return true;
    }
    std::ranges::rotate(others, others.end() - 1);
    std::ranges::stable_sort(others.begin() + 1, others.end(), std::ranges::greater{},
                             [&](JobId id) { return shared_with(found, id); });
  }
}

std::vector<JobId> SlurmNodes::displaced_by(const WaitingEntry& e, std::vector<JobId> others) {
  const Placement reserved = where_;  // by the backfill pass, if none gives way
  if (!has_place_without(e, others)) {
    where_ = reserved;
    return {};
  }
  return others;
}

// Leaves those of them that need to give way. The backfill pass first looks where the job would run if all of them were
// gone, and then there alone.
bool SlurmNodes::has_place_without(const WaitingEntry& e, std::vector<JobId>& others) {
  NodeSet nodes = open_;
  if (stretches_.empty()) {
    free_.copy(plan_.nodes());
    drop_reserved(now(), now() + e.expected, nodes);
  } else {
    usable(now(), e.expected, nodes_of(spec(e).partition), nodes);
    drop_unsuitable(spec(e), nodes);
  }
  std::erase_if(others, [&](JobId id) { return shared_with(nodes, id) == 0; });
  if (!stretches_.empty()) {
    restrict_to(nodes);
    for (const JobId id : others) room_.give(view_.placement(id));
    if (!place(spec(e))) return false;
    nodes &= found_nodes();
  }
  return pick(spec(e), nodes, others);
}

// ---- where processors are counted

std::vector<JobId> SlurmCounts::displaced_by(const WaitingEntry& e, std::vector<JobId> others) {
  std::int64_t missing = e.processors - plan_.free();
  const auto suffices = [&](JobId id) { return (missing -= view_.job(id).spec.processors) <= 0; };
  const auto last = std::ranges::find_if(others, suffices);
  if (last == others.end()) return {};
  others.erase(last + 1, others.end());
  if (!drawn_) return others;
  Profile left = free_;
  for (const JobId id : others) left.change(view_.now(), view_.job(id).expected_end(), view_.job(id).spec.processors);
  if (!left.fits(view_.now(), e.processors, e.expected)) return {};
  free_ = left;
  return others;
}

}  // namespace rota
