// KeptTimeline, and the NodeTimeline in it, against an oracle that keeps nothing: what is free at an instant is
// reckoned from all that was ever said, and a start is tried at each instant at which anything changes, on what is free
// at each instant while the job runs.
#include "plan/kept_timeline.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "model/world_test.h"
#include "scenario/two_racks.h"

namespace rota {
namespace {

class Oracle {
 public:
  explicit Oracle(const View& view) : view_(view) {
    instants_.insert(view.now());
    const auto comes_back = [&](NodeId node) {
      const Instant back = view.power().back_at(node, view.now());
      events_.insert({{back, 0}, [this, node](NodeRoom& room) {
                        room.bring_back(node, view_.options().machine->nodes[node.value].processors);
                      }});
      instants_.insert(back);
      return true;
    };
    view.power().for_each_in(PowerState::booting, comes_back);
    view.running().for_each([&](const RunningEntry& e) {
      const Instant end = std::max(e.place.end, view.now() + Duration{1});
      const Placement& where = view.placement(e.job);
      events_.insert({{end, 1}, [&where](NodeRoom& room) { room.give(where); }});
      instants_.insert(end);
      return true;
    });
    for (const Reservation& r : view.reservations().all()) {
      instants_.insert({std::max(r.from, view.now()), std::max(r.until, view.now())});
    }
  }

  void change(Instant from, Duration duration, const Placement& where, bool give) {
    changes_.push_back({from, from + duration, where, give});
    instants_.insert({from, from + duration});
  }

  bool fits(Instant from, Duration duration, const Placement& where) const {
    const std::vector<NodeRoom> rooms = all_through(from, duration);
    return std::ranges::all_of(rooms, [&](const NodeRoom& room) { return room.fits(where); });
  }

  bool place_at(Instant at, const JobSpec& spec, Duration duration, Placement& where) const {
    const std::vector<NodeRoom> rooms = all_through(at, duration);
    NodeRoom least = rooms.front();
    for (const NodeRoom& room : rooms) {
      for (std::uint32_t i = 0; i < view_.nodes().size(); ++i) {
        NodeFree free = least.on(NodeId{i});
        free.processors = std::min(free.processors, room.on(NodeId{i}).processors);
        free.set_per_node(free.per_node().least(room.per_node_on(NodeId{i})));
        least.set(NodeId{i}, free);
      }
      for (const LicenceId licence : {LicenceId{0}, LicenceId{1}})
        least.set_licences_free(licence, std::min(least.licences_free(licence), room.licences_free(licence)));
    }
    return least.find_as_for_a_start(spec, where);
  }

  Instant earliest(const JobSpec& spec, Duration duration, Placement& where) const {
    for (const Instant at : instants_) {
      if (place_at(at, spec, duration, where)) return at;
    }
    return kNever;
  }

 private:
  struct Change {
    Instant from, to;
    Placement where;
    bool give;
  };

  NodeRoom room_at(Instant at) const {
    NodeRoom room(view_.nodes());
    for (const auto& [when, what] : events_) {
      if (when.first <= at) what(room);
    }
    for (const Reservation& r : view_.reservations().all()) {
      if (!r.holds_at(at)) continue;
      for (const NodeId node : r.nodes) {
        NodeFree free = room.on(node);
        free.processors = std::min(free.processors, 0);
        room.set(node, free);
      }
    }
    for (const Change& c : changes_) {
      if (at < c.from || at >= c.to) continue;
      if (c.give) {
        room.give(c.where);
      } else {
        room.occupy(c.where);
      }
    }
    return room;
  }

  std::vector<NodeRoom> all_through(Instant from, Duration duration) const {
    std::vector<NodeRoom> rooms{room_at(from)};
    for (const Instant at : instants_) {
      if (at > from && at < from + duration) rooms.push_back(room_at(at));
    }
    return rooms;
  }

  const View& view_;
  std::multimap<std::pair<Instant, int>, std::function<void(NodeRoom&)>> events_;
  std::set<Instant> instants_;
  std::vector<Change> changes_;
};

JobSpec any_spec() {
  JobSpec spec;
  spec.processors = *rc::gen::inRange(1U, 11U);
  spec.nodes = *rc::gen::element(0U, 0U, 1U, 2U, 3U, 4U);
  spec.memory = *rc::gen::element(0, 0, 3, 8);
  spec.accelerators = *rc::gen::element<std::uint8_t>(0, 0, 0, 1, 2);
  if (spec.accelerators > 0) spec.accelerator_type.value = *rc::gen::element<std::uint8_t>(0, 1, UINT8_MAX);
  std::vector<LicenceUse> licences;
  if (const auto solvers = *rc::gen::element(0U, 0U, 0U, 1U, 3U); solvers > 0)
    licences.push_back({LicenceId{0}, solvers});
  if (const auto meshers = *rc::gen::element(0U, 0U, 0U, 1U, 2U); meshers > 0)
    licences.push_back({LicenceId{1}, meshers});
  set_licences(spec, std::move(licences));
  spec.partition = PartitionId{*rc::gen::element(0U, 0U, 1U)};
  spec.node_wish = scenario::any_wish(6, spec.processors, spec.nodes);
  spec.limit = seconds(*rc::gen::inRange(1, 40));
  return spec;
}

void start_some(World& world, int most) {
  Placement where;
  for (int i = *rc::gen::inRange(0, most); i > 0; --i) {
    const JobSpec spec = any_spec();
    const JobId job = submit(world.cluster(), spec);
    if (world.cluster().nodes().find(spec, where)) world.fold(Started{job, false, where});
  }
}

void reserve_some(World& world) {
  std::int64_t begin = world.cluster().now().time_since_epoch() / seconds(1);
  for (std::uint32_t i = *rc::gen::inRange(0U, 4U); i > 0; --i) {
    begin += *rc::gen::inRange(1, 30);
    const std::int64_t end = begin + *rc::gen::inRange(1, 20);
    const Reserved reserved{
        world.cluster().reservations().next_id(), at_seconds(begin), at_seconds(end), {NodeId{i}, NodeId{i + 1}}};
    if (!world.cluster().objection(reserved)) world.fold(reserved);
    begin = end;
  }
}

// Some jobs run, some of them for longer than expected; one node may boot, and one may drain; some are reserved.
std::unique_ptr<World> any_world(const Machine& machine) {
  ClusterOptions options;
  options.processors = machine.processors;
  options.machine = &machine;
  options.idle_order = *rc::gen::element(IdleOrder::file, IdleOrder::latest_first);
  options.node_order = *rc::gen::element(NodeOrder::fullest, NodeOrder::least_loaded);
  auto world = std::make_unique<World>(options);
  const NodeId away{*rc::gen::inRange(0U, 9U)};
  if (away.value < machine.nodes.size()) {
    world->fold(PowerOrdered{away, false, at_seconds(0)});
    world->fold(PowerChanged{away, PowerState::off});
    world->fold(PowerOrdered{away, true, at_seconds(*rc::gen::inRange(5, 60))});
  }
  start_some(*world, 10);
  if (const NodeId drains{*rc::gen::inRange(0U, 12U)}; drains.value < machine.nodes.size() && drains != away) {
    world->fold(HealthChanged{drains, Health::draining});
  }
  world->at(*rc::gen::inRange(0, 20));
  reserve_some(*world);
  return world;
}

// Time goes on, or not; some have ended, some are promised a start, some start, one node is on at last or fit for use
// again or not any more, and what was reserved may not be any more.
void go_on(World& world, const Machine& machine, KeptTimeline& kept) {
  const View& view = world.cluster();
  world.at(view.now().time_since_epoch() / seconds(1) + *rc::gen::inRange(0, 25));
  std::vector<JobId> running;
  view.running().for_each([&](const RunningEntry& e) {
    running.push_back(e.job);
    return true;
  });
  for (const JobId job : running) {
    if (*rc::gen::inRange(0, 3) == 0) world.ends(job);
  }
  for (std::uint32_t i = 0; i < machine.nodes.size(); ++i) {
    const NodeId node{i};
    if (*rc::gen::inRange(0, 3) > 0) continue;
    if (view.power().state(node) == PowerState::booting) {
      world.fold(PowerChanged{node, PowerState::on});
    } else {
      world.fold(HealthChanged{node, view.power().health(node) == Health::up ? Health::draining : Health::up});
    }
  }
  if (const auto& all = view.reservations().all(); !all.empty() && *rc::gen::arbitrary<bool>()) {
    world.fold(Unreserved{all.front().id});
  }
  start_some(world, 4);
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    const JobId job = submit(world.cluster(), any_spec());
    Placement where;
    const Instant at = kept.timeline().earliest(view.job(job).spec, view.job(job).expected, where);
    if (at != kNever) world.fold(Promised{job, std::max(at, view.now()), where});
  }
}

bool same(const Placement& a, const Placement& b) {
  const auto alike = [](const Share& x, const Share& y) { return x.node == y.node && x.processors == y.processors; };
  return std::ranges::equal(a.shares, b.shares, alike);
}

// Asks this and that, and takes and gives some; all that was taken is given in the end.
void ask(const View& view, NodeTimeline& timeline, Oracle oracle) {
  struct Taken {
    Instant from;
    Duration duration;
    Placement where;
  };
  std::vector<Taken> taken;
  for (int i = *rc::gen::inRange(0, 25); i > 0; --i) {
    if (!taken.empty() && *rc::gen::inRange(0, 4) == 0) {
      const auto back = taken.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(taken.size()));
      RC_ASSERT(timeline.fits(back->from, back->duration, back->where) ==
                oracle.fits(back->from, back->duration, back->where));
      timeline.give(back->from, back->duration, back->where);
      oracle.change(back->from, back->duration, back->where, true);
      taken.erase(back);
      continue;
    }
    const JobSpec spec = any_spec();
    Placement where;
    Placement expected;
    const Instant at = oracle.earliest(spec, spec.limit, expected);
    RC_ASSERT(timeline.earliest(spec, spec.limit, where) == at);
    if (at == kNever) continue;
    RC_ASSERT(same(where, expected));
    RC_ASSERT(timeline.earliest(spec, spec.limit, where, {view.now(), at}) == kNever);
    const Instant none_before = view.now() + (at - view.now()) * *rc::gen::inRange(0, 5) / 4;
    RC_ASSERT(timeline.earliest(spec, spec.limit, where, {none_before}) == at);
    RC_ASSERT(same(where, expected));
    const Instant other = view.now() + seconds(*rc::gen::inRange(0, 60));
    RC_ASSERT(timeline.place_at(other, spec, spec.limit, where) == oracle.place_at(other, spec, spec.limit, expected));
    if (*rc::gen::arbitrary<bool>()) timeline.earliest(spec, spec.limit, where), expected = where;
    const Instant from = same(where, expected) && *rc::gen::arbitrary<bool>() ? at : other;
    RC_ASSERT(timeline.fits(from, spec.limit, where) == oracle.fits(from, spec.limit, where));
    timeline.occupy(from, spec.limit, where);  // whether or not there is room
    oracle.change(from, spec.limit, where, false);
    taken.push_back({from, spec.limit, where});
  }
  for (const Taken& t : taken) timeline.give(t.from, t.duration, t.where);
}

RC_GTEST_PROP(KeptTimeline, AnswersAsIfEachInstantWereReckonedAnew, ()) {
  const Machine machine = scenario::two_racks(0, 1);
  const auto world = any_world(machine);
  const View& view = world->cluster();
  KeptTimeline kept;
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i) {
    const auto promises = *rc::gen::element(KeptTimeline::Promises::drawn, KeptTimeline::Promises::left_out);
    kept.follow(view, promises);
    Oracle oracle(view);
    if (promises == KeptTimeline::Promises::drawn) {
      for (const JobId job : view.promised()) {
        const Instant from = std::max(view.job(job).promise, view.now());
        oracle.change(from, view.job(job).expected, view.promised_place(job), false);
      }
    }
    ask(view, kept.timeline(), oracle);
    go_on(*world, machine, kept);
  }
}

}  // namespace
}  // namespace rota
