// The part of a draft that speaks of nodes.
#include <algorithm>

#include "model/moment.h"
#include "plan/plan.h"

namespace rota {

Placement& Plan::next_place() {
  if (placed_ == places_.size()) places_.emplace_back();
  return places_[placed_++];
}

void Plan::start_at(JobId id, const Placement& where, const Reason& reason, bool backfilled) {
  nodes_.occupy(where);
  next_place() = where;
  note_start(id, reason, backfilled);
  if (reason.rule == Rule::within_reservation) free_ += view_->job(id).spec.processors;  // others did not have it
}

void Plan::migrate(JobId id, const Placement& where, const Reason& reason) {
  nodes_.occupy(where);
  Placement& place = next_place();
  place = where;
  copy_licences(view_->job(id).spec, place);  // it keeps what it holds
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
  auto next = starts_by_end().begin();
  const Instant soonest = view_->now() + kMoment;
  bool on = true;
  view_->running().for_each([&](const RunningEntry& e) {
    for (; on && next != started_.end() && next->end <= e.place.end; ++next)
      on = visit(next->end, places_[next->place]);
    return on = on && visit(std::max(e.place.end, soonest), view_->placement(e.job));
  });
  for (; on && next != started_.end(); ++next) on = visit(next->end, places_[next->place]);
}

void Plan::collect_returns(const View& view) {
  view.power().for_each_return(view.now(), view.options().wakes_for_promises,
                               [&](Instant at, std::int64_t processors) { returns_.push_back({at, processors}); });
}

void Plan::power_on(NodeId node, const Reason& reason) {
  waking_ += view_->options().machine->nodes[node.value].processors;
  actions_.push_back({ActionKind::power_on, false, {}, kNever, reason, node});
}

void Plan::power_off(NodeId node, const Reason& reason) {
  const Node& described = view_->options().machine->nodes[node.value];
  nodes_.set_available(node, false);
  free_ -= described.processors;
  sent_to_sleep_ += described.processors;
  if (view_->options().wakes_for_promises) {
    const Instant back = view_->now() + described.power.shutdown + described.power.boot;
    const auto later = [](Instant at, const Release& r) { return at < r.at; };
    returns_.insert(std::upper_bound(returns_.begin(), returns_.end(), back, later), {back, described.processors});
  }
  actions_.push_back({ActionKind::power_off, false, {}, kNever, reason, node});
}

// The nodes that are away and will be back, by instant.
void Plan::list_node_returns() {
  nodes_back_.clear();
  if (returns_.empty()) return;
  const NodePower& power = view_->power();
  const auto collect = [&](NodeId node) {
    nodes_back_.push_back({power.back_at(node, view_->now()), node});
    return true;
  };
  power.for_each_in(PowerState::booting, collect);
  if (view_->options().wakes_for_promises) {
    power.for_each_in(PowerState::shutting_down, collect);
    power.for_each_in(PowerState::off, collect);
  }
  std::sort(nodes_back_.begin(), nodes_back_.end(),
            [](const NodeReturn& a, const NodeReturn& b) { return a.at != b.at ? a.at < b.at : a.node < b.node; });
}

Instant Plan::opening_on_nodes(const JobSpec& spec) {
  room_.follow(nodes_);
  list_node_returns();
  FitWatch watch(room_, spec);
  Instant at = view_->now();
  auto back = nodes_back_.begin();
  const auto fits_before = [&](Instant next) {  // takes in the nodes that are back by `next`, as far as need be
    for (; back != nodes_back_.end() && back->at <= next; ++back) {
      if (back->at > at && watch.fits()) return true;
      at = std::max(at, back->at);
      watch.bring_back(room_, back->node, view_->options().machine->nodes[back->node.value].processors);
    }
    return next > at && watch.fits();
  };
  bool found = false;
  for_each_end([&](Instant end, const Placement& place) {
    found = fits_before(end);
    if (found) return false;
    at = end;
    watch.give(room_, place);
    return true;
  });
  return found || fits_before(kNever) ? at : kNever;
}

NodeRoom& Plan::room_at(Instant at) {
  room_.follow(nodes_);
  list_node_returns();
  for (const NodeReturn& back : nodes_back_) {
    if (back.at > at) break;
    room_.bring_back(back.node, view_->options().machine->nodes[back.node.value].processors);
  }
  for_each_end([&](Instant end, const Placement& place) {
    if (end > at) return false;
    room_.give(place);
    return true;
  });
  return room_;
}

}  // namespace rota
