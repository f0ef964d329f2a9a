#include "plan/node_timeline.h"

#include <algorithm>

namespace rota {

NodeTimeline::NodeTimeline(const View& view) {
  steps_.push_back({view.now(), NodeRoom(view.nodes())});
  view.running().for_each([&](const RunningEntry& e) {
    const Instant end =
        std::max(e.place.end, view.now() + Duration{1});  // an overdue job holds its nodes a moment longer
    if (steps_.back().at != end) steps_.push_back({end, steps_.back().free});
    steps_.back().free.give(view.placement(e.job));
    return true;
  });
}

bool NodeTimeline::at_step(std::size_t step, const JobSpec& spec, Duration duration, Placement& where) {
  const Instant end = steps_[step].at + duration;
  if (!steps_[step].free.find(spec, where)) return false;
  if (step + 1 == steps_.size() || steps_[step + 1].at >= end) return true;
  all_through_ = steps_[step].free;
  for (std::size_t i = step + 1; i < steps_.size() && steps_[i].at < end; ++i) all_through_.shrink_to(steps_[i].free);
  return all_through_.find(spec, where);
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
