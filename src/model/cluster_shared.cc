// What others do on a cluster: jobs that they start or lose sight of, licences that they use, nodes that come, change
// and go. Where a node is described anew, indexes are made anew, and what runs goes back to where it was.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "model/cluster.h"
#include "model/describe.h"
#include "model/never_fits.h"

namespace rota {

// Whatever kept it from being queued is over; that it is not ours stays.
void Cluster::apply(const Found& fact) {
  Job& job = jobs_[fact.job.value];
  Placement where = fact.where;
  where.per_node = job.spec.per_node();
  copy_licences(job.spec, where);
  ++releases_;  // what was counted on may not come to be
  if (job.state == JobState::running) {
    nodes_.give(places_.of(fact.job), happened_);
    nodes_.take_unasked(where);
    places_.set(fact.job, where);
    return;
  }
  const auto others = static_cast<Bars>(job.bars & kNotOurs);
  if (job.state == JobState::barred) set_bars(job, fact.job, kNoBars);
  job.bars = others;
  std::erase(arrived_, fact.job);
  job.starting = false;
  job.backfilled = false;
  nodes_.take_unasked(where);
  begin_to_run(job, fact.job, where);
}

// It waited when the engine last knew it, and is over: nothing tells whether it ever ran.
void Cluster::end_unseen(Job& job, JobId id) {
  if (job.state == JobState::barred) {
    --barred_;
  } else {
    unqueue(job, id);
  }
  leave_for_good(job, id, JobState::unknown);
}

// The number is taken: no other job of this site gets it.
void Cluster::apply(const Traded& fact) {
  trades_.trade(fact.offer, fact.trade, fact.number);
  last_number_ = std::max(last_number_, fact.number);
}

std::optional<std::string> Cluster::objection(const EndedElsewhere& fact) const {
  if (auto why = not_waiting(fact.job, "said to have run at another site")) return why;
  if (!job(fact.job).ours() && fact.start <= now_) return std::nullopt;
  return fmt::format("job {} is said to have run at another site, and cannot have; nothing was changed.",
                     job(fact.job).spec.number);
}

// It has used nothing here.
void Cluster::apply(const EndedElsewhere& fact) {
  Job& job = jobs_[fact.job.value];
  --barred_;
  job.start = fact.start;
  job.end = std::max(happened_, fact.start);
  leave_for_good(job, fact.job, state_after(fact.outcome));
}

void Cluster::apply(const LicencesCounted& fact) {
  set_elsewhere(fact.licence, fact.elsewhere);
  ++releases_;
}

void Cluster::set_elsewhere(LicenceId licence, std::int64_t count) {
  elsewhere_.resize(options_.machine->licences.size());
  std::int64_t& elsewhere = elsewhere_[licence.value];
  nodes_.set_licences_free(licence, nodes_.licences_free(licence) + elsewhere - count);
  elsewhere = count;
}

std::optional<std::string> Cluster::objection(const Described& fact) const {
  static const Machine kCounted;
  return objection_to(options_.machine ? *options_.machine : kCounted, fact);
}

std::optional<std::string> Cluster::objection(const MachineKept& fact) const {
  static const Machine kCounted;
  if (next_job_ != JobId{0} || own_machine_) return "nodes are kept where there is a state already.";
  return objection_to(options_.machine ? *options_.machine : kCounted, fact);
}

void Cluster::apply(const Described& fact) {
  describe_nodes(fact);
  power_.describe_anew(options_.machine);
  bindings_.described(*options_.machine);
  if (fact.is.processors == 0) power_.set_health(fact.node, Health::down);
  const std::vector<JobId> promised = promised_;
  for (const JobId id : promised) {  // on a node that no longer suits
    const auto on_it = [&](const Share& share) { return share.node == fact.node; };
    const bool kept = !promised_places_.contains(id) || std::ranges::none_of(promised_places_.of(id).shares, on_it) ||
                      may_serve(*options_.machine, jobs_[id.value].spec, fact.node);
    if (!kept) forget_promise(jobs_[id.value], id);
  }
  nodes_.describe_anew(nodes_with_what_runs());
  waiting_for_places_ = waiting_for_whole_nodes_ = waiting_for_parts_ = 0;
  for_each_job([&](JobId, const Job& job) {
    if (job.state == JobState::waiting) count_waiting(job, 1);
  });
  ++releases_;
}

// Nothing has happened yet; how each node stands, its own row says. However many there are, indexes are made once.
void Cluster::apply(const MachineKept& fact) {
  describe_nodes(fact);
  power_ = NodePower(options_.machine);
  nodes_.describe_anew(NodeSpace(options_.machine, options_.idle_order, options_.node_order));
}

template <class Fact>
void Cluster::describe_nodes(const Fact& fact) {
  if (!own_machine_) {
    own_machine_ = std::make_unique<Machine>(*options_.machine);
    options_.machine = own_machine_.get();
  }
  describe(*own_machine_, fact);
  options_.processors = own_machine_->processors;
}

NodeSpace Cluster::nodes_with_what_runs() const {
  NodeSpace space(options_.machine, options_.idle_order, options_.node_order);
  const auto before = static_cast<std::uint32_t>(nodes_.size());
  std::uint64_t latest = 0;
  for (std::uint32_t n = 0; n < before; ++n) {
    space.put_back(NodeId{n}, nodes_.fell_idle(NodeId{n}), nodes_.idle_since(NodeId{n}));
    latest = std::max(latest, nodes_.fell_idle(NodeId{n}));
  }
  for (std::uint32_t n = before; n < space.size(); ++n) space.put_back(NodeId{n}, ++latest, now_);
  for (std::uint32_t n = 0; n < space.size(); ++n) {
    const NodeId id{n};
    const bool usable = power_.health(id) == Health::up && power_.state(id) == PowerState::on;
    if (!usable) space.set_available(id, false);
  }
  running_.for_each([&](const RunningEntry& e) {
    space.take_unasked(places_.of(e.job));
    return true;
  });
  for (std::uint32_t l = 0; l < elsewhere_.size(); ++l) {
    const LicenceId licence{l};
    space.set_licences_free(licence, space.licences_free(licence) - elsewhere_[l]);
  }
  return space;
}

}  // namespace rota
