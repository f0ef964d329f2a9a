#include "policy/auction/bid_room.h"

#include <algorithm>
#include <utility>

#include "model/moment.h"

namespace rota {

BidRoom::Level& BidRoom::level(std::int32_t priority) {
  const auto known = std::ranges::find(levels_, priority, &Level::priority);
  if (known != levels_.end()) return *known;
  Level& level = levels_.emplace_back();
  level.priority = priority;
  level.free.copy(view_.nodes());
  view_.by_priority().for_each_below(priority, [&](const RunningByPriority::Entry& e) {
    level.free.give(view_.placement(e.job));
    return true;
  });
  return level;
}

BidRoom::Level& BidRoom::level_later(std::int32_t priority) {
  Level& known = level(priority);
  if (std::exchange(known.knows_later, true)) return known;
  add_ends(known);
  set_aside(known);
  return known;
}

void BidRoom::add_ends(Level& level) const {
  const Instant soon = now_ + kMoment;  // a job that is overdue may end any moment
  view_.running().for_each([&](const RunningEntry& e) {
    const bool gives_way = view_.options().by_priority && view_.job(e.job).spec.priority < level.priority;
    const bool counts = !gives_way || view_.job(e.job).leaving;
    if (counts) level.ends.push_back({std::max(e.place.end, soon), &view_.placement(e.job), {}});
    return true;
  });
}

// Sets aside what is promised to the jobs that go first.
void BidRoom::set_aside(Level& level) const {
  level.beside = level.free;
  level.with_promised = level.ends;
  for (const JobId id : view_.promised()) {
    const Job& other = view_.job(id);
    const Placement& place = view_.promised_place(id);
    if (other.spec.priority < level.priority || place.shares.empty()) continue;
    level.beside.occupy(place);
    level.with_promised.push_back({other.promise + other.expected, &place, {}});
    level.promised.push_back({other.spec.number, other.promise, &place});
  }
  std::ranges::sort(level.with_promised, {}, &Release::at);
  std::ranges::sort(level.promised, {}, &Promised::start);
}

void BidRoom::list_nodes_that_are_away(Instant woken) {
  away_.clear();
  const NodePower& power = view_.power();
  if (power.all_on()) return;
  for (const PowerState state : {PowerState::booting, PowerState::shutting_down, PowerState::off}) {
    power.for_each_in(state, [&](NodeId node) {
      away_.push_back({power.back_at(node, woken), nullptr, node});
      return true;
    });
  }
  std::ranges::sort(away_, {}, &Release::at);
}

// What comes free by `at` is not looked at one by one. At one instant the order does not matter.
Instant BidRoom::opening_from(const JobSpec& job, const std::vector<Release>& releases, const Placement* not_released,
                              Instant at) {
  auto place = releases.begin();
  auto node = away_.begin();
  const auto next = [&]() -> const Release* {
    if (place != releases.end() && place->place == not_released) ++place;
    if (node == away_.end() || (place != releases.end() && place->at <= node->at)) {
      return place == releases.end() ? nullptr : &*place++;
    }
    return &*node++;
  };
  const auto size_of = [&](NodeId id) { return view_.options().machine->nodes[id.value].processors; };
  const Release* r = next();
  for (; r && r->at <= at; r = next()) {
    if (r->place) {
      room_.give(*r->place);
    } else {
      room_.bring_back(r->node, size_of(r->node));
    }
  }
  FitWatch watch(room_, job);
  for (; r; r = next()) {
    if (r->at > at && watch.fits()) return at;
    at = r->at;
    if (r->place) {
      watch.give(room_, *r->place);
    } else {
      watch.bring_back(room_, r->node, size_of(r->node));
    }
  }
  return watch.fits() ? at : kNever;
}

Instant BidRoom::opening(const JobSpec& job, Instant there) {
  const Level& level = level_later(job.priority);
  list_nodes_that_are_away(there);
  const auto own = std::ranges::find(level.promised, job.number, &Promised::job);
  const bool has_own = own != level.promised.end();
  room_ = level.beside;
  if (has_own) room_.give(*own->place);
  const Instant beside = opening_from(job, level.with_promised, has_own ? own->place : nullptr, there);
  const auto first = has_own && own == level.promised.begin() ? own + 1 : level.promised.begin();
  if (first == level.promised.end() || there + job.limit > first->start) return beside;  // it is not over by then
  room_ = level.free;
  const Instant before = opening_from(job, level.ends, nullptr, there);
  return before != kNever && before + job.limit <= first->start ? std::min(before, beside) : beside;
}

bool BidRoom::could_offer(const JobSpec& job) {
  room_ = level(job.priority).free;
  list_nodes_that_are_away(view_.now());
  return opening_from(job, {}, nullptr, view_.now()) != kNever;
}

}  // namespace rota
