#include "plan/node_timeline.h"

#include <algorithm>
#include <utility>

namespace rota {
namespace {

// When nodes that are away are there again, by instant: those that sleep only if they are woken for promises.
std::vector<std::pair<Instant, NodeId>> returns_of(const View& view) {
  std::vector<std::pair<Instant, NodeId>> returns;
  const NodePower& power = view.power();
  if (power.all_on()) return returns;
  const auto collect = [&](NodeId node) {
    returns.emplace_back(power.back_at(node, view.now()), node);
    return true;
  };
  power.for_each_in(PowerState::booting, collect);
  if (view.options().wakes_for_promises) {
    power.for_each_in(PowerState::shutting_down, collect);
    power.for_each_in(PowerState::off, collect);
  }
  std::sort(returns.begin(), returns.end());
  return returns;
}

}  // namespace

NodeTimeline::NodeTimeline(const View& view) {
  steps_.push_back({view.now(), NodeRoom(view.nodes())});
  const auto room_from = [&](Instant at) -> NodeRoom& {
    if (steps_.back().at != at) steps_.push_back({at, steps_.back().free});
    return steps_.back().free;
  };
  const auto returns = returns_of(view);
  auto back = returns.begin();
  const auto bring_back_by = [&](Instant at) {
    for (; back != returns.end() && back->first <= at; ++back) {
      const std::uint32_t processors = view.options().machine->nodes[back->second.value].processors;
      room_from(back->first).bring_back(back->second, processors);
    }
  };
  view.running().for_each([&](const RunningEntry& e) {
    const Instant end =
        std::max(e.place.end, view.now() + Duration{1});  // an overdue job holds its nodes a moment longer
    bring_back_by(end);
    room_from(end).give(view.placement(e.job));
    return true;
  });
  bring_back_by(kNever);
  for (const Reservation& r : view.reservations().all()) withhold(r);
}

// No room on its nodes as long as it lasts.
void NodeTimeline::withhold(const Reservation& r) {
  const Instant now = steps_.front().at;
  if (r.until <= now) return;
  const std::size_t first = cut(std::max(r.from, now));
  const std::size_t last = cut(r.until);
  for (std::size_t i = first; i < last; ++i) {
    for (const NodeId node : r.nodes) steps_[i].free.close(node);
  }
}

bool NodeTimeline::at_step(std::size_t step, const JobSpec& spec, Duration duration, Placement& where) {
  const Instant end = steps_[step].at + duration;
  if (!steps_[step].free.find_as_for_a_start(spec, where)) return false;
  if (step + 1 == steps_.size() || steps_[step + 1].at >= end) return true;
  all_through_ = steps_[step].free;
  for (std::size_t i = step + 1; i < steps_.size() && steps_[i].at < end; ++i) all_through_.shrink_to(steps_[i].free);
  return all_through_.find_as_for_a_start(spec, where);
}

Instant NodeTimeline::earliest(const JobSpec& spec, Duration duration, Placement& where) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (at_step(i, spec, duration, where)) return steps_[i].at;
  }
  return kNever;
}

std::size_t NodeTimeline::cut(Instant at) {
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), at, [](Instant t, const Step& s) { return t < s.at; });
  const auto step = static_cast<std::size_t>(after - steps_.begin()) - 1;
  if (steps_[step].at == at) return step;
  Step fresh{at, steps_[step].free};
  steps_.insert(after, std::move(fresh));
  return step + 1;
}

bool NodeTimeline::fits(Instant from, Duration duration, const Placement& where) {
  for (std::size_t i = cut(from); i < steps_.size() && steps_[i].at < from + duration; ++i) {
    if (!steps_[i].free.fits(where)) return false;
  }
  return true;
}

void NodeTimeline::take(Instant from, Duration duration, const Placement& where) {
  const std::size_t first = cut(from);
  const std::size_t last = cut(from + duration);
  for (std::size_t i = first; i < last; ++i) steps_[i].free.take(where);
}

void NodeTimeline::give(Instant from, Duration duration, const Placement& where) {
  const std::size_t first = cut(from);
  const std::size_t last = cut(from + duration);
  for (std::size_t i = first; i < last; ++i) steps_[i].free.give(where);
}

}  // namespace rota
