// The part of the referee that looks at reservations: a plan leaves alone what is reserved. What running jobs still
// hold when a reservation begins it does not get; then it gets what is left, and what they leave.
#include <fmt/core.h>

#include <algorithm>

#include "plan/referee.h"
#include "plan/referee_text.h"

namespace rota {
namespace {

std::string reserved_from(const Reservation& r) {
  return fmt::format("is reserved from {} to {}", when(r.from), when(r.until));
}

// The first of these nodes that is reserved; invalid: none is.
NodeId reserved_among(const Reservation& r, const Placement& where) {
  for (const Share& s : where.shares) {
    if (std::find(r.nodes.begin(), r.nodes.end(), s.node) != r.nodes.end()) return s.node;
  }
  return {};
}

}  // namespace

void Referee::judge(const View& /*before*/, const Reserved& fact) {
  reserved_.push_back({fact.id, fact.from, fact.until, fact.nodes, fact.processors});
  gave_way_.clear();
}

void Referee::judge(const View& /*before*/, const Unreserved& fact) {
  std::erase_if(reserved_, [&](const Reservation& r) { return r.id == fact.id; });
  gave_way_.clear();
}

// No start, no new promise and, while there are few, no promise that stands takes what is reserved.
std::optional<std::string> Referee::check_reserved(const View& view, const Plan& plan) {
  static const Placement kNowhere;
  std::erase_if(reserved_, [&](const Reservation& r) { return r.until <= view.now(); });
  std::size_t place = 0;
  for (const Action& a : plan.actions()) {
    if (a.of_power() || !a.has_place()) continue;
    const Placement& where = plan.places().empty() ? kNowhere : plan.places()[place++];
    if (a.kind != ActionKind::start) return name(view, a.job) + " is moved while something is reserved";
    if (a.reason.rule == Rule::within_reservation) {
      if (auto breach = check_start_within(view, a.job, where)) return breach;
      continue;
    }
    if (const Reservation* own = own_reservation(view, a.job); own != nullptr && own->until > view.now())
      return name(view, a.job) + " is started as if it did not wait for a reservation";
    if (auto breach = check_start_beside(view, plan, a.job, where)) return breach;
  }
  for (const Promise& p : plan.promises()) {
    if (auto breach = check_promise_beside(view, plan, p, plan.place_of(p))) return breach;
  }
  if (view.promised().size() > 4) return std::nullopt;  // the sweep does them together
  for (const JobId id : view.promised()) {
    const auto fresh = [&](const Promise& p) { return p.job == id; };
    if (starts(id) || std::any_of(plan.promises().begin(), plan.promises().end(), fresh)) continue;
    const Placement& where = view.nodes().counted() ? kNowhere : view.promised_place(id);
    if (auto breach = check_promise_beside(view, plan, {id, view.job(id).promise}, where)) return breach;
  }
  return std::nullopt;
}

// nullptr: the job asks for none, or that is over.
const Reservation* Referee::own_reservation(const View& view, JobId job) const {
  const SharedNodeWish& wish = view.job(job).spec.node_wish;
  if (!wish || !wish->reservation.valid()) return nullptr;
  const auto found = std::ranges::find(reserved_, wish->reservation, &Reservation::id);
  return found == reserved_.end() ? nullptr : &*found;
}

// In the job's own reservation, while that lasts, and nowhere else; beyond it only where another one is in no way.
std::optional<std::string> Referee::check_start_within(const View& view, JobId job, const Placement& where) {
  ++checks_;
  const Instant end = view.now() + view.job(job).expected;
  const Reservation* within = own_reservation(view, job);
  const bool may_outlast = view.options().outlasts_reservations;
  if (within == nullptr || !within->holds_at(view.now()) || (end > within->until && !may_outlast))
    return fmt::format("{} is started until {} within a reservation that does not last so long", name(view, job),
                       when(end));
  for (const Share& s : where.shares) {
    if (std::ranges::find(within->nodes, s.node) == within->nodes.end())
      return fmt::format("{} is started on node {}, which is not in its reservation", name(view, job),
                         view.options().machine->nodes[s.node.value].name);
  }
  for (const Reservation& r : reserved_) {
    if (r.overlaps(within->until, end) && reserved_among(r, where).valid())
      return fmt::format("{} is started until {} within its reservation, on a node that {}", name(view, job), when(end),
                         reserved_from(r));
  }
  return std::nullopt;
}

// What is needed beside a start falls as others end, and rises only where a reservation begins.
std::optional<std::string> Referee::check_start_beside(const View& view, const Plan& plan, JobId job,
                                                       const Placement& where) {
  const Instant now = view.now();
  const Instant end = now + view.job(job).expected;
  for (const Reservation& r : reserved_) {
    if (!r.overlaps(now, end)) continue;
    ++checks_;
    if (!view.nodes().counted()) {
      const NodeId node = reserved_among(r, where);
      if (!node.valid()) continue;
      return fmt::format("{} is started until {} on node {}, which {}", name(view, job), when(end),
                         view.options().machine->nodes[node.value].name, reserved_from(r));
    }
    const Instant at = std::max(r.from, now);
    std::int64_t needed = held_beyond(view, at) + reserved_at(at);
    for (const Action& a : plan.actions()) {
      const bool there = a.kind == ActionKind::start && now + view.job(a.job).expected > at;
      if (there) needed += view.job(a.job).spec.processors;
    }
    if (needed <= view.options().processors) continue;
    return fmt::format("{} is started until {} and takes what {}", name(view, job), when(end), reserved_from(r));
  }
  return std::nullopt;
}

std::optional<std::string> Referee::check_promise_beside(const View& view, const Plan& plan, const Promise& promise,
                                                         const Placement& where) {
  if (promise.start == kNever || promise.start <= view.now()) return std::nullopt;
  const Job& job = view.job(promise.job);
  for (const Reservation& r : reserved_) {
    if (!r.overlaps(promise.start, promise.start + job.expected)) continue;
    ++checks_;
    if (!view.nodes().counted()) {
      const NodeId node = reserved_among(r, where);
      if (!node.valid()) continue;
      return fmt::format("{} is promised {} on node {}, which {}", name(view, promise.job), when(promise.start),
                         view.options().machine->nodes[node.value].name, reserved_from(r));
    }
    const Instant at = std::max(r.from, promise.start);
    if (free_at(view, plan, at, true) - reserved_at(at) >= job.spec.processors) continue;
    return fmt::format("{} is promised {} and takes what {}", name(view, promise.job), when(promise.start),
                       reserved_from(r));
  }
  return std::nullopt;
}

// Processors of running jobs that are expected to be there at an instant; of an overdue one only now.
std::int64_t Referee::held_beyond(const View& view, Instant at) const {
  return at > view.now() ? held_ - view.running().released_by(at) : held_;
}

std::int64_t Referee::reserved_at(Instant at) const {
  std::int64_t reserved = 0;
  for (const Reservation& r : reserved_) reserved += r.holds_at(at) ? r.processors : 0;
  return reserved;
}

// And of that what running jobs leave.
std::int64_t Referee::reserved_beside(const View& view, Instant at) const {
  const std::int64_t left = view.options().processors - held_beyond(view, at);
  return std::clamp<std::int64_t>(left, 0, reserved_at(at));
}

// The fewest processors that are left for a job while it would run if it started at `from`, without those that
// overtake.
std::int64_t Referee::least_free(const View& view, const Plan& plan, JobId job, Instant from) const {
  std::int64_t least = free_at(view, plan, from, false) - reserved_at(from);
  for (const Reservation& r : reserved_) {
    if (r.from <= from || !r.overlaps(from, from + view.job(job).expected)) continue;
    least = std::min(least, free_at(view, plan, r.from, false) - reserved_at(r.from));
  }
  return least;
}

// All of each node, as a use of it.
void Referee::count_reserved(const View& view, HeldFrom held_from) {
  std::vector<Instant> left_by(view.nodes().size(), kEpoch);
  if (held_from == HeldFrom::others_ends) {
    view.running().for_each([&](const RunningEntry& e) {
      const Instant end = std::max(e.place.end, view.now() + kMoment);
      for (const Share& s : view.placement(e.job).shares) left_by[s.node.value] = std::max(left_by[s.node.value], end);
      return true;
    });
  }
  for (const Reservation& r : reserved_) {
    for (const NodeId node : r.nodes) {
      const bool away = is_unfit(node.value) || (!power_.empty() && power_[node.value].state != PowerState::on);
      if (away || r.until <= view.now()) continue;
      const std::int64_t processors = view.options().machine->nodes[node.value].processors;
      const Instant from = std::max({r.from, view.now(), left_by[node.value]});
      if (from >= r.until) continue;
      node_changes_.push_back({node.value, from, {processors, 0, 0}});
      node_changes_.push_back({node.value, r.until, {-processors, 0, 0}});
    }
  }
}

}  // namespace rota
