// What the referee demands of preemption.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "plan/referee.h"
#include "plan/referee_text.h"

namespace rota {
namespace {

std::size_t slot_of(const Machine& machine, LicenceId licence) { return machine.nodes.size() + licence.value; }

// Whether the job is started on something that was left: one of the nodes, or a licence.
bool in_its_place(const View& view, const Plan& plan, JobId id, const Placement& given_up) {
  const JobSpec& spec = view.job(id).spec;
  if (!all_licences(given_up, [&](LicenceId l, std::uint32_t) { return licences_of(spec, l) == 0; })) return true;
  std::size_t place = 0;
  for (const Action& a : plan.actions()) {
    if (a.kind != ActionKind::start && a.kind != ActionKind::migrate) continue;
    const Placement& where = plan.places()[place++];
    if (a.job != id) continue;
    return std::any_of(where.shares.begin(), where.shares.end(), [&](const Share& s) {
      const auto same = [&](const Share& l) { return l.node == s.node; };
      return std::any_of(given_up.shares.begin(), given_up.shares.end(), same);
    });
  }
  return false;
}

}  // namespace

void Referee::judge(const View& before, const Preempted& fact) {
  leaving_ += before.job(fact.job).spec.processors;
  if (gave_way_at_ != before.now()) gave_way_.clear();
  gave_way_at_ = before.now();
  if (fact.until != kNever) return;  // it is promised something, then
  // Others leave for another job, or leave another place, and something has happened since they were told to: which job
  // gets which place is open.
  const bool places_matter = !before.counts_decide();
  const auto is_open = [&](const Leaving& l) {
    const auto is_it = [&](const GaveWay& g) { return g.job == l.job; };
    const bool mixed = places_matter || l.beneficiary != fact.beneficiary;
    return mixed && std::none_of(gave_way_.begin(), gave_way_.end(), is_it);
  };
  if (std::any_of(before.leaving().begin(), before.leaving().end(), is_open)) return;
  gave_way_.push_back({fact.job, fact.beneficiary, false, places_matter ? before.placement(fact.job) : Placement{}});
}

void Referee::judge(const View& before, const Cancelled& fact) {
  if (before.job(fact.job).state == JobState::running) {
    ended(before, fact.job, false);
  } else {
    ledger_.retire(fact.job.value);
  }
  gave_way_.clear();
}

// When the plan says that a job will have given way; kNever: it does not.
Instant Referee::gone_by(const Plan& plan, JobId job) {
  for (const Action& a : plan.actions()) {
    if (a.kind == ActionKind::preempt && a.job == job) return a.until;
  }
  return kNever;
}

// A job gives way only to a waiting job of higher priority, and is told so only once.
std::optional<std::string> Referee::check_preemption(const View& view, const Action& action) const {
  const Job& job = view.job(action.job);
  const JobId beneficiary = action.reason.promised;
  if (job.leaving) return name(view, action.job) + " is preempted and is leaving already";
  if (!job.steady()) return name(view, action.job) + " is preempted while it starts or stops";
  if (!waits(beneficiary)) {
    return name(view, action.job) + " is preempted for no job that waits";
  }
  const JobSpec& to = view.job(beneficiary).spec;
  const Machine* machine = view.options().machine;
  if (to.priority <= job.spec.priority && !(machine && machine->gives_way(job.spec.qos, to.qos))) {
    return fmt::format("{} is preempted for {}, whose priority is no higher", name(view, action.job),
                       name(view, beneficiary));
  }
  return std::nullopt;
}

// What is free, what is being freed and what this plan frees suffices for the plan's starts and for all in whose favour
// it preempts.
std::optional<std::string> Referee::check_beneficiaries(const View& view, const Plan& plan) {
  std::int64_t room = view.options().processors - held_ - away_ + leaving_;
  std::vector<JobId> victims;
  std::vector<JobId> beneficiaries;
  for (const Action& a : plan.actions()) {
    ++checks_;
    if (a.kind == ActionKind::start) room -= view.job(a.job).spec.processors;
    if (a.kind != ActionKind::preempt) continue;
    victims.push_back(a.job);
    beneficiaries.push_back(a.reason.promised);
    room += view.job(a.job).spec.processors;
  }
  std::sort(victims.begin(), victims.end());
  if (const auto twice = std::adjacent_find(victims.begin(), victims.end()); twice != victims.end()) {
    return name(view, *twice) + " is preempted twice";
  }
  std::sort(beneficiaries.begin(), beneficiaries.end());
  beneficiaries.erase(std::unique(beneficiaries.begin(), beneficiaries.end()), beneficiaries.end());
  for (const JobId id : beneficiaries) {
    room -= view.job(id).spec.processors;
    if (starts(id)) return name(view, id) + " starts although others are only now told to give way to it";
  }
  for (const JobId id : beneficiaries) {
    if (auto breach = check_peers(view, plan, id)) return breach;
  }
  const auto is_delayed = [](const Action& a) { return a.kind == ActionKind::preempt && a.until != kNever; };
  if (std::any_of(plan.actions().begin(), plan.actions().end(), is_delayed)) return std::nullopt;  // it is promised
  if (room < 0 && sums_hold(view)) {
    return fmt::format("jobs are preempted in vain: {} and those before it need {} more than that frees",
                       name(view, beneficiaries.back()), amount(-room, "processor"));
  }
  return view.counts_decide() ? std::nullopt : check_room_made(view, plan);
}

// Whether nodes that are on could take the job now, given what used_ says is used.
bool Referee::could_hold(const View& view, const JobSpec& spec) const {
  const Machine& machine = *view.options().machine;
  const auto are_free = [&](LicenceId id, std::uint32_t count) {
    return used_[slot_of(machine, id)].processors + count <= machine.licences[id.value].count;
  };
  if (!all_licences(spec, are_free)) return false;
  const std::uint32_t nodes = std::min(spec.nodes, spec.processors);
  const std::int64_t share = nodes == 0 ? 1 : spec.processors / nodes;
  std::int64_t processors = 0;
  std::int64_t hold_a_share = 0;
  std::int64_t hold_one_more = 0;
  for (std::size_t i = 0; i < machine.nodes.size(); ++i) {
    const Node& node = machine.nodes[i];
    Used with_it = used_[i];
    with_it.add(use_of(spec, Share{}, 1));
    if (bars(NodeId{static_cast<std::uint32_t>(i)}, node, spec) != nullptr || !has_rest(node, with_it)) continue;
    if (!power_.empty() && power_[i].state != PowerState::on) continue;
    if (is_unfit(i)) continue;
    const std::int64_t free = node.processors - used_[i].processors;
    if (free < 0) continue;
    processors += free;
    hold_a_share += free >= share ? 1 : 0;
    hold_one_more += free > share ? 1 : 0;
  }
  if (nodes == 0) return processors >= spec.processors;
  return hold_a_share >= nodes && hold_one_more >= spec.processors % nodes;
}

// The room that is made is where the beneficiary can run, and, where no other job is leaving, all of it is needed.
std::optional<std::string> Referee::check_room_made(const View& view, const Plan& plan) {
  const std::vector<Used> now = used_;
  const auto count = [&](JobId job, const Placement& where, std::int64_t sign) {
    count_place(view, job, where, sign);
    count_licences(view, job, sign);
  };
  std::size_t place = 0;
  for (const Leaving& l : view.leaving()) count(l.job, view.placement(l.job), -1);
  for (const Action& a : plan.actions()) {
    if (a.kind == ActionKind::preempt) count(a.job, view.placement(a.job), -1);
    if (a.kind == ActionKind::start) count(a.job, plan.places()[place++], 1);
  }
  std::optional<std::string> breach;
  for (const Action& a : plan.actions()) {
    if (a.kind != ActionKind::preempt || breach) continue;
    ++checks_;
    const JobSpec& spec = view.job(a.reason.promised).spec;
    if (!could_hold(view, spec)) {
      breach = fmt::format("{} is preempted in vain: what is made free is not where {} can run", name(view, a.job),
                           name(view, a.reason.promised));
    }
    if (!view.leaving().empty()) continue;
    count(a.job, view.placement(a.job), 1);
    use_what_peers_are_promised(view, a.reason.promised, 1);
    if (!breach && could_hold(view, spec)) {
      breach = fmt::format("{} is preempted needlessly: {} has room without that", name(view, a.job),
                           name(view, a.reason.promised));
    }
    use_what_peers_are_promised(view, a.reason.promised, -1);
    count(a.job, view.placement(a.job), -1);
  }
  used_ = now;
  return breach;
}

// What it must leave alone while it runs: what is promised to jobs of its priority or higher.
void Referee::use_what_peers_are_promised(const View& view, JobId beneficiary, std::int64_t sign) {
  const Job& job = view.job(beneficiary);
  for (const JobId id : view.promised()) {
    const Job& peer = view.job(id);
    if (id == beneficiary || peer.spec.priority < job.spec.priority) continue;
    if (peer.promise >= view.now() + job.expected) continue;
    count_place(view, id, view.promised_place(id), sign);
    count_licences(view, id, sign);
  }
}

// No job of the beneficiary's priority or higher loses what it was promised, by word or by deed. Where only one job is
// promised anything, that is the first of the queue.
std::optional<std::string> Referee::check_peers(const View& view, const Plan& plan, JobId beneficiary) {
  if (view.promised().size() < 2) return std::nullopt;
  const auto is_broken = [&](Promises promises) {
    return view.counts_decide() ? first_excess(view, plan, promises).has_value()
                                : node_excess(view, plan, promises).has_value();
  };
  const auto is_overdue = [&](JobId id) { return view.job(id).promise < view.now(); };
  const bool late = std::any_of(view.promised().begin(), view.promised().end(), is_overdue);
  if (late || is_broken(Promises::before)) return std::nullopt;  // the world has broken them
  for (const Promise& p : plan.promises()) {
    ++checks_;
    const Job& job = view.job(p.job);
    if (p.job == beneficiary || p.start <= job.promise || job.promise < view.now() || starts(p.job)) continue;
    if (job.spec.priority < view.job(beneficiary).spec.priority) continue;
    return fmt::format("{} loses its promise to {}, whose priority is no higher", name(view, p.job),
                       name(view, beneficiary));
  }
  if (!is_broken(Promises::after)) return std::nullopt;
  return fmt::format("others give way to {}, and a promise that stands cannot be kept beside it",
                     name(view, beneficiary));
}

// Once they are gone, and nothing else has happened, the beneficiary starts and they do not. While others are leaving,
// what has come free may go to one of those that these leave for.
std::optional<std::string> Referee::check_owed(const View& view, const Plan& plan) {
  if (gave_way_at_ != view.now()) {
    gave_way_.clear();
    return std::nullopt;
  }
  const bool some_leave = !view.leaving().empty();
  for (const GaveWay& g : gave_way_) {
    ++checks_;
    if (g.gone && starts(g.beneficiary)) {
      if (auto breach = check_peers(view, plan, g.beneficiary)) return breach;
    }
    const bool places_matter = !g.given_up.shares.empty();
    if (g.gone && places_matter && !some_leave && starts(g.beneficiary) &&
        !in_its_place(view, plan, g.beneficiary, g.given_up)) {
      return fmt::format("{} was preempted in vain: {} starts elsewhere", name(view, g.job), name(view, g.beneficiary));
    }
    if (g.gone && !places_matter && starts(g.job)) {
      return name(view, g.job) + " is preempted and started again at one instant";
    }
    const auto to_the_same = [&](const GaveWay& o) { return o.beneficiary == g.beneficiary; };
    const auto still_there = [&](const GaveWay& o) { return to_the_same(o) && !o.gone; };
    const bool is_owed = !some_leave && std::none_of(gave_way_.begin(), gave_way_.end(), still_there);
    if (is_owed && !starts(g.beneficiary)) {
      return fmt::format("{} was preempted in vain: {} does not start in its place", name(view, g.job),
                         name(view, g.beneficiary));
    }
  }
  std::erase_if(gave_way_, [&](const GaveWay& g) { return g.gone && (!some_leave || starts(g.beneficiary)); });
  return std::nullopt;
}

}  // namespace rota
