// The part of a draft that speaks of nodes.
#include <algorithm>

#include "plan/plan.h"

namespace rota {

Placement& Plan::next_place() {
  if (placed_ == places_.size()) places_.emplace_back();
  return places_[placed_++];
}

void Plan::start_at(JobId id, const Placement& where, const Reason& reason, bool backfilled) {
  nodes_.take(where);
  next_place() = where;
  note_start(id, reason, backfilled);
}

void Plan::migrate(JobId id, const Placement& where, const Reason& reason) {
  nodes_.take(where);
  next_place() = where;
  ++migrations_;
  actions_.push_back({ActionKind::migrate, false, id, kNever, reason});
}

bool Plan::migrates(JobId id) const {
  return std::any_of(actions_.begin(), actions_.end(),
                     [&](const Action& a) { return a.job == id && a.kind == ActionKind::migrate; });
}

void Plan::promise_at(JobId id, Instant start, const Placement& where) {
  const Placement& before = view_->promised_place(id);
  const auto same = [](const Share& a, const Share& b) { return a.node == b.node && a.processors == b.processors; };
  const bool stays =
      std::equal(before.shares.begin(), before.shares.end(), where.shares.begin(), where.shares.end(), same);
  if (stays && view_->job(id).promise == start) return;
  if (set_asides_ == set_aside_.size()) set_aside_.emplace_back();
  set_aside_[set_asides_] = where;
  promises_.push_back({id, start, set_asides_++});
}

// visit(expected end, place) for running jobs and the draft's starts by expected end, until it returns false. A job
// that is overdue holds its nodes a moment longer.
template <class Visit>
void Plan::for_each_end(const Visit& visit) const {
  auto next = started_.begin();
  const Instant soonest = view_->now() + Duration{1};
  bool on = true;
  view_->running().for_each([&](const RunningEntry& e) {
    for (; on && next != started_.end() && next->end <= e.place.end; ++next)
      on = visit(next->end, places_[next->place]);
    return on = on && visit(std::max(e.place.end, soonest), view_->placement(e.job));
  });
  for (; on && next != started_.end(); ++next) on = visit(next->end, places_[next->place]);
}

Instant Plan::opening_on_nodes(const JobSpec& spec) {
  room_.follow(nodes_);
  FitWatch watch(room_, spec);
  Instant at = view_->now();
  for_each_end([&](Instant end, const Placement& place) {
    if (end > at && watch.fits()) return false;
    at = end;
    watch.give(room_, place);
    return true;
  });
  return watch.fits() ? at : kNever;
}

NodeRoom& Plan::room_at(Instant at) {
  room_.follow(nodes_);
  for_each_end([&](Instant end, const Placement& place) {
    if (end > at) return false;
    room_.give(place);
    return true;
  });
  return room_;
}

}  // namespace rota
