// The part of the referee that looks at nodes: where jobs start, and what is set aside for those that are promised a
// start.
#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "plan/referee.h"
#include "plan/referee_text.h"

namespace rota {
namespace {

bool has_place(const Action& a) { return a.kind == ActionKind::start || a.kind == ActionKind::migrate; }

// Until a job ends that is moved: what is left of it at the speed of the new nodes, after a pause; at most its limit.
Duration time_at_new_place(const View& view, const Job& job, const Placement& from, const Placement& to) {
  if (job.spec.restart != Restart::checkpoint) return job.spec.limit;
  __extension__ using Wide = __int128;  // a job may have no limit
  const auto left = static_cast<Wide>((job.expected_end() - view.now()).count());
  const Wide scaled = left * view.nodes().cpu_factor(from) / view.nodes().cpu_factor(to);
  const Wide time = scaled + (job.spec.restart_cost + seconds(1)).count();
  const auto most = static_cast<Wide>((job.limit_end() - view.now()).count());
  return std::max(Duration{static_cast<std::int64_t>(std::min(time, most))}, kMoment);
}

std::size_t slots(const Machine& machine) { return machine.nodes.size() + machine.licences.size(); }

std::size_t slot_of(const Machine& machine, LicenceId licence) { return machine.nodes.size() + licence.value; }

// Puts changes in order of their nodes, and no further: the changes of a node are sorted when it is looked at, and
// behind one that lacks room none is. Returns where those of each node end.
template <class Change>
std::vector<std::size_t> put_in_order_of_nodes(std::vector<Change>& changes, std::size_t nodes) {
  std::vector<std::size_t> ends(nodes + 1);
  for (const Change& c : changes) ++ends[c.node + 1];
  for (std::size_t i = 1; i <= nodes; ++i) ends[i] += ends[i - 1];
  std::vector<Change> in_order(changes.size());
  for (const Change& c : changes) in_order[ends[c.node]++] = c;
  changes.swap(in_order);
  return ends;
}

// Whose promise the plan replaces, withdraws or keeps by a start; rising.
std::vector<JobId> decided_anew(const Plan& plan) {
  std::vector<JobId> jobs;
  for (const Promise& p : plan.promises()) jobs.push_back(p.job);
  for (const Action& a : plan.actions()) {
    if (a.kind == ActionKind::start) jobs.push_back(a.job);
  }
  std::ranges::sort(jobs);
  return jobs;
}

}  // namespace

void Referee::count_described(const View& view, JobId job, const Placement& where, std::int64_t sign) {
  used_.resize(slots(*view.options().machine));
  count_place(view, job, where, sign);
  count_licences(view, job, sign);
  if (unfit_.empty()) return;
  for (const Share& s : where.shares) {  // what is used there is not unused
    if (!unfit_[s.node.value] || power_[s.node.value].state != PowerState::on) continue;
    drained_ -= sign * s.processors;
    away_ -= sign * s.processors;
  }
}

void Referee::count_place(const View& view, JobId job, const Placement& where, std::int64_t sign) {
  const JobSpec& spec = view.job(job).spec;
  for (const Share& s : where.shares) used_[s.node.value].add(use_of(spec, s, sign));
}

void Referee::judge(const View& before, const Migrated& fact) {
  count_nodes(before, fact.job, before.placement(fact.job), -1);
  count_nodes(before, fact.job, fact.where, 1);
}

void Referee::judge(const View& before, const LicencesCounted& fact) {
  const Machine& machine = *before.options().machine;
  used_.resize(slots(machine));
  used_[slot_of(machine, fact.licence)].processors += fact.elsewhere - before.licences_elsewhere(fact.licence);
}

void Referee::settled(const View& after, const LicenceKept& fact) {
  const Machine& machine = *after.options().machine;
  used_.resize(slots(machine));
  used_[slot_of(machine, fact.licence)].processors += fact.elsewhere;
}

const char* Referee::bars(NodeId id, const Node& node, const JobSpec& spec) {
  const auto& in = node.partitions;
  if (spec.partition.valid() && std::find(in.begin(), in.end(), spec.partition) == in.end()) {
    return ", which is not in its partition";
  }
  if (spec.accelerator_type.valid() && node.accelerator_type != spec.accelerator_type) {
    return ", which has no accelerators of the type that it asks for";
  }
  if (!spec.node_wish) return nullptr;
  const auto& [features, among, without, reservation] = *spec.node_wish;
  const auto lacks = [&](std::uint64_t all) { return (~node.features & all) != 0; };
  if (!features.empty() && std::all_of(features.begin(), features.end(), lacks))
    return ", which has not the features that it asks for";
  if (!among.empty() && std::find(among.begin(), among.end(), id) == among.end())
    return ", which is none of those that it names";
  if (std::find(without.begin(), without.end(), id) != without.end()) return ", which it is not to have";
  return nullptr;
}

void Referee::count_licences(const View& view, JobId job, std::int64_t sign) {
  each_licence(view.job(job).spec, [&](LicenceId id, std::uint32_t count) {
    used_[slot_of(*view.options().machine, id)].processors += sign * count;
  });
}

// Every start has a place that is what the job asks for, and no node gets more than it has; every promise too has such
// a place, or none.
std::optional<std::string> Referee::check_places(const View& view, const Plan& plan) {
  used_.resize(slots(*view.options().machine));
  std::optional<std::string> breach;
  std::size_t tried = 0;
  for (const Action& a : plan.actions()) {
    if (!has_place(a) || breach) continue;
    if (tried == plan.places().size()) return name(view, a.job) + " is started nowhere";
    const Placement& where = plan.places()[tried++];
    count_place(view, a.job, where, 1);
    if (a.kind == ActionKind::start) count_licences(view, a.job, 1);  // a job that moves holds its own, lacking or not
    breach = check_room(view, a, where);
    if (!breach) breach = check_shape(view, a.job, where);
  }
  std::size_t undone = 0;
  for (const Action& a : plan.actions()) {
    if (!has_place(a) || undone == tried) continue;
    count_place(view, a.job, plan.places()[undone++], -1);
    if (a.kind == ActionKind::start) count_licences(view, a.job, -1);
  }
  for (const Promise& p : plan.promises()) {
    const Placement& where = plan.place_of(p);
    if (!breach && !where.shares.empty()) breach = check_shape(view, p.job, where);
  }
  return breach;
}

// A start that is already counted in.
std::optional<std::string> Referee::check_room(const View& view, const Action& action, const Placement& where) {
  const JobId job = action.job;
  for (const Share& s : where.shares) {
    ++checks_;
    const Node& node = view.options().machine->nodes[s.node.value];
    if (!has(node, used_[s.node.value])) {
      return fmt::format("{} is started on node {}, which has no room for it", name(view, job), node.name);
    }
  }
  const Machine& machine = *view.options().machine;
  if (action.kind != ActionKind::start) return std::nullopt;
  std::optional<std::string> breach;
  each_licence(view.job(job).spec, [&](LicenceId id, std::uint32_t) {
    const Licence& licence = machine.licences[id.value];
    if (breach || used_[slot_of(machine, id)].processors <= licence.count) return;
    breach = fmt::format("{} is started without a licence of {}", name(view, job), licence.name);
  });
  return breach;
}

// The right processors on the right nodes.
std::optional<std::string> Referee::check_shape(const View& view, JobId job, const Placement& where) {
  const Machine& machine = *view.options().machine;
  const JobSpec& spec = view.job(job).spec;
  std::int64_t got = 0;
  std::uint32_t least = UINT32_MAX;
  std::uint32_t most = 0;
  ++looks_;
  looked_at_.resize(machine.nodes.size());
  for (const Share& s : where.shares) {
    const Node& node = machine.nodes[s.node.value];
    if (const char* why = bars(s.node, node, spec))
      return fmt::format("{} is given node {}{}", name(view, job), node.name, why);
    if (std::exchange(looked_at_[s.node.value], looks_) == looks_) {
      return fmt::format("{} is given node {} twice", name(view, job), node.name);
    }
    got += s.processors;
    least = std::min(least, s.processors);
    most = std::max(most, s.processors);
  }
  if (got != spec.processors) return name(view, job) + " is given fewer or more processors than it asks for";
  if (spec.nodes > 0 && (where.shares.size() != std::min(spec.nodes, spec.processors) || most - least > 1)) {
    return name(view, job) + " is not spread evenly over as many nodes as it asks for";
  }
  return std::nullopt;
}

// Licences that others use: for ever, as far as is known.
void Referee::count_elsewhere(const View& view) {
  const Machine& machine = *view.options().machine;
  for (std::uint32_t i = 0; i < machine.licences.size(); ++i) {
    const std::int64_t elsewhere = view.licences_elsewhere(LicenceId{i});
    if (elsewhere == 0) continue;
    node_changes_.push_back({static_cast<std::uint32_t>(machine.nodes.size()) + i, view.now(), {elsewhere, 0, 0}});
  }
}

// The first node and instant at which running jobs, starts and what is set aside together need more than the node has:
// with the promises and starts of this plan, or with those that stood before it and the starts whose turn it was.
std::optional<std::string> Referee::node_excess(const View& view, const Plan& plan, Promises promises,
                                                HeldFrom held_from) {
  node_changes_.clear();
  const bool before = promises == Promises::before;
  const bool some_leave = !before && plan.closed();
  const bool some_away = away_ > 0 || unfit_nodes_ > 0;
  for (std::uint32_t i = 0; some_away && i < power_.size(); ++i) {
    const PowerState state = power_[i].state;
    if (state == PowerState::on && !is_unfit(i)) continue;
    const bool comes_back = (state == PowerState::booting || view.options().wakes_for_promises) && !is_unfit(i);
    const Instant back = comes_back ? back_at(view, NodeId{i}) : view.now() + 2 * kLongest;
    const std::int64_t processors = view.options().machine->nodes[i].processors;
    node_changes_.push_back({i, view.now(), {processors, 0, 0}, true});
    node_changes_.push_back({i, back, {-processors, 0, 0}, true});
  }
  count_elsewhere(view);
  if (!reserved_.empty()) count_reserved(view, held_from);
  const auto uses = [&](JobId id, Instant from, Instant to, const Placement& where, bool within_reserved = false) {
    const JobSpec& spec = view.job(id).spec;
    for (const Share& s : where.shares) {
      if (within_reserved) break;  // all of the node is counted
      if (from == view.now() && is_unfit(s.node.value) && view.job(id).state == JobState::running) continue;
      const bool is_so = view.job(id).state == JobState::running;
      node_changes_.push_back({s.node.value, from, use_of(spec, s, 1), is_so});
      node_changes_.push_back({s.node.value, to, use_of(spec, s, -1), is_so});
    }
    if (where.shares.empty()) return;
    each_licence(spec, [&](LicenceId licence, std::uint32_t count) {
      const auto slot = static_cast<std::uint32_t>(slot_of(*view.options().machine, licence));
      node_changes_.push_back({slot, from, {count, 0, 0}});
      node_changes_.push_back({slot, to, {-std::int64_t{count}, 0, 0}});
    });
  };
  view.running().for_each([&](const RunningEntry& e) {
    if (!before && plan.migrates() && plan.migrates(e.job)) return true;  // it is at its new place, below
    const Instant end = some_leave ? std::min(e.place.end, gone_by(plan, e.job)) : e.place.end;
    uses(e.job, view.now(), std::max(end, view.now() + kMoment), view.placement(e.job));
    return true;
  });
  std::size_t place = 0;
  const std::vector<JobId> decided = before ? std::vector<JobId>{} : decided_anew(plan);
  for (const Action& a : plan.actions()) {
    if (!has_place(a)) continue;
    const Placement& where = plan.places()[place++];
    if (a.kind == ActionKind::migrate) {
      const Job& job = view.job(a.job);
      if (!before)
        uses(a.job, view.now(), view.now() + time_at_new_place(view, job, view.placement(a.job), where), where);
      continue;
    }
    if (before && (a.backfilled || view.job(a.job).promise != kNever)) continue;
    uses(a.job, view.now(), view.now() + view.job(a.job).expected, where, a.reason.rule == Rule::within_reservation);
  }
  const auto promise = [&](JobId id, Instant start, const Placement& where) {
    if (start == kNever) return;
    if (!before && start <= view.now()) return;  // what runs has broken it already
    const Instant from = std::max(start, view.now());
    uses(id, from, from + view.job(id).expected, where);
  };
  for (const JobId id : view.promised()) {
    if (!std::ranges::binary_search(decided, id)) promise(id, view.job(id).promise, view.promised_place(id));
  }
  if (!before) {
    for (const Promise& p : plan.promises()) {
      if (!starts(p.job)) promise(p.job, p.start, plan.place_of(p));
    }
  }
  return worst_node(view);
}

std::optional<std::string> Referee::worst_node(const View& view) {
  const Machine& machine = *view.options().machine;
  const std::vector<std::size_t> ends = put_in_order_of_nodes(node_changes_, slots(machine));
  // At one instant what is given back comes first, and of what is taken what is taken already.
  const auto before = [](const NodeChange& a, const NodeChange& b) {
    const bool a_may_not_be = a.used.processors > 0 && !a.is_so;
    const bool b_may_not_be = b.used.processors > 0 && !b.is_so;
    return std::tie(a.at, a_may_not_be, a.used.processors) < std::tie(b.at, b_may_not_be, b.used.processors);
  };
  Used used;
  for (std::size_t i = 0; i < node_changes_.size(); ++i) {
    if (i == 0 || node_changes_[i].node != node_changes_[i - 1].node) {
      used = {};
      const auto first = node_changes_.begin() + static_cast<std::ptrdiff_t>(i);
      std::sort(first, node_changes_.begin() + static_cast<std::ptrdiff_t>(ends[node_changes_[i].node]), before);
    }
    const NodeChange& c = node_changes_[i];
    ++checks_;
    used.add(c.used);
    if (c.node >= machine.nodes.size()) {
      const Licence& licence = machine.licences[c.node - machine.nodes.size()];
      if (used.processors <= licence.count) continue;
      return fmt::format("running jobs and what is set aside together need more licences of {} than there are at {}",
                         licence.name, when(c.at));
    }
    const Node& node = machine.nodes[c.node];
    const bool is_theirs = view.options().shared && (c.is_so || c.used.processors <= 0);
    if (!has(node, used) && !is_theirs) {
      return fmt::format("running jobs and what is set aside together need more than node {} has at {}", node.name,
                         when(c.at));
    }
  }
  return std::nullopt;
}

// Only a job that can be stopped, and not while it is leaving.
std::optional<std::string> Referee::check_migration(const View& view, const Action& action) const {
  const Job& job = view.job(action.job);
  if (view.nodes().counted()) return name(view, action.job) + " is moved where there are no nodes";
  if (job.leaving) return name(view, action.job) + " is moved and is leaving already";
  if (!job.steady()) return name(view, action.job) + " is moved while it starts or stops";
  if (!job.spec.may_move()) return name(view, action.job) + " is moved and cannot be stopped";
  return std::nullopt;
}

// Each once; and what is set aside for promises can be had after it if it could before.
std::optional<std::string> Referee::check_migrations(const View& view, const Plan& plan) {
  std::vector<JobId> moved;
  const auto waits = [&](JobId id) { return !starts(id); };
  const bool owed = std::any_of(view.promised().begin(), view.promised().end(), waits);
  for (const Action& a : plan.actions()) {
    if (a.kind != ActionKind::migrate) continue;
    moved.push_back(a.job);
    if (owed && view.job(a.job).spec.restart == Restart::from_start) {
      return name(view, a.job) + " is moved to start over although others are promised a start";
    }
  }
  std::sort(moved.begin(), moved.end());
  if (const auto twice = std::adjacent_find(moved.begin(), moved.end()); twice != moved.end()) {
    return name(view, *twice) + " is moved twice at one instant";
  }
  if (view.promised().empty()) return std::nullopt;
  const auto breach = node_excess(view, plan, Promises::after);
  if (!breach || node_excess(view, plan, Promises::before)) return std::nullopt;
  return fmt::format("{} is moved and a promise suffers: {}", name(view, moved.front()), *breach);
}

// Whether what the job would need may never come back: nodes, or licences that others use.
bool Referee::may_lack_for_ever(const View& view, JobId job) const {
  const auto only_ours = [&](LicenceId id, std::uint32_t) { return view.licences_elsewhere(id) == 0; };
  return unfit_nodes_ > 0 || view.nodes().withheld() > 0 || !all_licences(view.job(job).spec, only_ours);
}

// Whether a job that is to start later than it was promised a place has that place still, unless what runs has broken
// what stood before.
bool Referee::could_be_kept_on_nodes(const View& view, const Promise& promise) const {
  if (promise.start == kNever && may_lack_for_ever(view, promise.job)) return false;
  const Job& job = view.job(promise.job);
  const Placement& before = view.promised_place(promise.job);
  return !before.shares.empty() && job.promise >= view.now() && back_by(view, before, job.promise);
}

}  // namespace rota
