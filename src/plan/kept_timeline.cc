#include "plan/kept_timeline.h"

#include <algorithm>

#include "model/moment.h"

namespace rota {
namespace {

bool same(const Placement& a, const Placement& b) {
  const auto same_share = [](const Share& x, const Share& y) {
    return x.node == y.node && x.processors == y.processors;
  };
  return a.licence == b.licence && a.licences == b.licences && a.more_licences == b.more_licences &&
         a.per_node == b.per_node && std::ranges::equal(a.shares, b.shares, same_share);
}

}  // namespace

void KeptTimeline::begin(const View& view) {
  space_ = &view.nodes();
  descriptions_ = space_->descriptions();
  timeline_ = NodeTimeline::unused(view);
  holds_ = {};
  back_.assign(view.nodes().size(), kEpoch);
  away_ = 0;
  reserved_.clear();
  elsewhere_.assign(view.nodes().licences().size(), 0);
}

// First all that is over is given, then what is new is taken: what has no room then is in another's way.
bool KeptTimeline::follow(const View& view, Promises promises) {
  const bool goes_on = space_ == &view.nodes() && back_.size() == view.nodes().size() &&
                       descriptions_ == view.nodes().descriptions() && now_ <= view.now();
  if (!goes_on) begin(view);
  now_ = view.now();
  timeline_.advance(now_);
  ++follows_;
  changes_.clear();
  view.running().for_each([&](const RunningEntry& e) {
    see(e.job, now_, std::max(e.place.end, now_ + kMoment), view.placement(e.job));
    return true;
  });
  some_have_no_place_ = false;
  if (promises == Promises::drawn) see_promises(view);
  drop_unseen();
  crowded_from_ = kNever;
  crowded_until_ = kEpoch;
  for (const Change& c : changes_) give_what_is_over(c);
  follow_nodes(view);
  follow_reservations(view);
  follow_licences(view);
  for (const Change& c : changes_) take_what_is_new(c);
  return !some_have_no_place_ && crowded_from_ == kNever;
}

void KeptTimeline::see_promises(const View& view) {
  for (const JobId id : view.promised()) {
    const Job& job = view.job(id);
    const Placement& where = view.promised_place(id);
    const Instant from = std::max(job.promise, now_);
    some_have_no_place_ = some_have_no_place_ || where.shares.empty();
    see(id, from, where.shares.empty() ? from : from + job.expected, where);
  }
}

KeptTimeline::Hold& KeptTimeline::hold_of(JobId job) {
  Hold* hold = holds_.find(job.value);
  if (!hold) hold = &holds_.add(job.value);
  hold->seen = follows_;
  return *hold;
}

void KeptTimeline::see(JobId job, Instant from, Instant to, const Placement& where) {
  Hold& hold = hold_of(job);
  const bool stays = hold.to == to && std::max(hold.from, now_) == from && same(hold.where, where);
  if (!stays) changes_.push_back({&hold, from, to, &where});
}

void KeptTimeline::drop_unseen() {
  unseen_.clear();
  holds_.for_each([&](std::uint32_t id, const Hold& hold) {
    if (hold.seen != follows_) unseen_.push_back(JobId{id});
  });
  for (const JobId id : unseen_) {
    const Hold& hold = holds_[id.value];
    if (hold.from != kNever) give(hold.from, hold.to, hold.where);
    holds_.retire(id.value);
  }
}

void KeptTimeline::give_what_is_over(const Change& change) {
  Hold& hold = *change.hold;
  const bool reaches_less_far =
      hold.from != kNever && std::max(hold.from, now_) == change.from && same(hold.where, *change.where);
  if (!reaches_less_far) {
    if (hold.from != kNever) give(hold.from, hold.to, hold.where);
    hold.from = hold.to = change.from;
    hold.where = *change.where;
  } else if (change.to < hold.to) {
    give(change.to, hold.to, hold.where);
    hold.to = change.to;
  }
}

void KeptTimeline::take_what_is_new(const Change& change) {
  Hold& hold = *change.hold;
  occupy(hold.to, change.to, hold.where);
  hold.to = std::max(hold.to, change.to);
}

// Whether or not there is room.
void KeptTimeline::occupy(Instant from, Instant to, const Placement& where) {
  from = std::max(from, now_);
  if (to <= from) return;
  if (!timeline_.fits(from, to - from, where)) {
    crowded_from_ = std::min(crowded_from_, from);
    crowded_until_ = std::max(crowded_until_, to);
  }
  timeline_.occupy(from, to - from, where);
}

void KeptTimeline::give(Instant from, Instant to, const Placement& where) {
  from = std::max(from, now_);
  if (to > from) timeline_.give(from, to - from, where);
}

const Placement& KeptTimeline::all_of(NodeId node) {
  one_node_.shares.assign(1, {node, space_->processors_of(node)});
  return one_node_;
}

void KeptTimeline::follow_node(NodeId node, Instant back) {
  Instant& until = back_[node.value];
  if (until == back) return;
  away_ += back != kEpoch ? 1 : 0;
  away_ -= until != kEpoch ? 1 : 0;
  if (back < until) give(back, until, all_of(node));
  occupy(until, back, all_of(node));
  until = back;
}

// When nodes that are away are there again: those that sleep only if they are woken for promises.
void KeptTimeline::follow_nodes(const View& view) {
  const NodePower& power = view.power();
  if (power.all_on() && power.all_up() && away_ == 0) return;
  std::vector<bool> comes_back(back_.size());
  const auto expect = [&](NodeId node) {
    if (space_->available(node)) return true;
    comes_back[node.value] = true;
    follow_node(node, power.back_at(node, now_));
    return true;
  };
  power.for_each_in(PowerState::booting, expect);
  if (view.options().wakes_for_promises) {
    power.for_each_in(PowerState::shutting_down, expect);
    power.for_each_in(PowerState::off, expect);
  }
  for (std::uint32_t i = 0; i < back_.size(); ++i) {
    if (!comes_back[i]) follow_node(NodeId{i}, space_->available(NodeId{i}) ? kEpoch : kNever);
  }
}

void KeptTimeline::follow_reservations(const View& view) {
  const std::vector<Reservation>& all = view.reservations().all();
  const auto same_one = [](const Reservation& a, const Reservation& b) {
    return a.id == b.id && a.from == b.from && a.until == b.until;
  };
  if (std::ranges::equal(all, reserved_, same_one)) return;
  const auto is_among = [&](const Reservation& r, const std::vector<Reservation>& some) {  // in order of ids
    const auto found = std::ranges::lower_bound(some, r.id, {}, &Reservation::id);
    return found != some.end() && same_one(r, *found);
  };
  for (const Reservation& r : reserved_) {
    if (is_among(r, all)) continue;
    for (const NodeId node : r.nodes) give(r.from, r.until, all_of(node));
  }
  for (const Reservation& r : all) {
    if (is_among(r, reserved_)) continue;
    for (const NodeId node : r.nodes) occupy(r.from, r.until, all_of(node));
  }
  reserved_ = all;
}

void KeptTimeline::follow_licences(const View& view) {
  for (std::uint32_t i = 0; i < elsewhere_.size(); ++i) {
    const std::int64_t more = view.licences_elsewhere(LicenceId{i}) - elsewhere_[i];
    if (more == 0) continue;
    const Placement some{{}, {}, LicenceId{i}, static_cast<std::uint32_t>(more < 0 ? -more : more)};
    if (more < 0) give(now_, kNever, some);
    if (more > 0) occupy(now_, kNever, some);
    elsewhere_[i] += more;
  }
}

void KeptTimeline::draw(Hold& hold, Instant from, Duration duration, const Placement& where) {
  hold.from = from;
  hold.to = from + duration;
  if (&hold.where != &where) hold.where = where;
  draw_again(hold);
}

}  // namespace rota
