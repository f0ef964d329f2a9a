#include "plan/profile.h"

#include <algorithm>

namespace rota {

void Profile::open(Instant now, std::int64_t free) {
  steps_.clear();
  collected_.clear();
  steps_.push_back({now, free});
}

void Profile::release(Instant at, std::int64_t processors) {
  if (steps_.back().at == at) {
    steps_.back().free += processors;
  } else {
    steps_.push_back({at, steps_.back().free + processors});
  }
}

void Profile::advance(Instant now) {
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(step_at(now)));
  steps_.front().at = now;
}

std::size_t Profile::step_at(Instant at) const {
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), at, [](Instant t, const Step& s) { return t < s.at; });
  return static_cast<std::size_t>(after - steps_.begin()) - 1;
}

std::size_t Profile::cut(Instant at) {
  const std::size_t i = step_at(at);
  if (steps_[i].at == at) return i;
  steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(i) + 1, {at, steps_[i].free});
  return i + 1;
}

void Profile::join(std::size_t step) {
  if (step > 0 && step < steps_.size() && steps_[step].free == steps_[step - 1].free) {
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(step));
  }
}

void Profile::change(Instant from, Instant to, std::int64_t processors) {
  from = std::max(from, steps_.front().at);
  if (to <= from || processors == 0) return;
  const std::size_t first = cut(from);
  const std::size_t last = to == kNever ? steps_.size() : cut(to);
  for (std::size_t i = first; i < last; ++i) steps_[i].free += processors;
  join(last);
  join(first);
}

void Profile::collect_change(Instant from, Instant to, std::int64_t processors) {
  from = std::max(from, steps_.front().at);
  if (to <= from || processors == 0) return;
  collected_.push_back({from, processors});
  if (to != kNever) collected_.push_back({to, -processors});
}

void Profile::make_changes() {
  if (collected_.empty()) return;
  std::sort(collected_.begin(), collected_.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
  made_.clear();
  const auto add = [&](Instant at, std::int64_t free) {
    if (made_.empty() || made_.back().free != free) made_.push_back({at, free});
  };
  std::int64_t before = 0;  // free by the steps so far
  std::int64_t changed = 0;
  auto change = collected_.begin();
  const auto change_before = [&](Instant at) {
    while (change != collected_.end() && change->at < at) {
      const Instant together = change->at;
      for (; change != collected_.end() && change->at == together; ++change) changed += change->free;
      add(together, before + changed);
    }
  };
  for (const Step& step : steps_) {
    change_before(step.at);
    for (; change != collected_.end() && change->at == step.at; ++change) changed += change->free;
    before = step.free;
    add(step.at, before + changed);
  }
  change_before(kNever);
  steps_.swap(made_);
  collected_.clear();
}

void Profile::withhold(Instant from, Instant to, std::int64_t processors) {
  from = std::max(from, steps_.front().at);
  if (to <= from || processors == 0) return;
  const std::size_t first = cut(from);
  const std::size_t last = cut(to);
  for (std::size_t i = first; i < last; ++i) {
    steps_[i].free -= std::clamp<std::int64_t>(steps_[i].free, 0, processors);
  }
  join(last);
  join(first);
}

Instant Profile::earliest(Instant from, std::int64_t processors, Duration duration) const {
  from = std::max(from, steps_.front().at);
  std::size_t i = step_at(from);
  Instant start = from;
  for (;; ++i) {
    if (steps_[i].free < processors) {
      if (i + 1 == steps_.size()) return kNever;
      start = steps_[i + 1].at;
    } else if (i + 1 == steps_.size() || steps_[i + 1].at >= start + duration) {
      return start;
    }
  }
}

// A start before `held` needs room only up to there: behind it lies what would be given back.
Instant Profile::earliest_before(Instant held, std::int64_t processors, Duration duration) const {
  const Step* step = steps_.data();
  const Step* const end = step + steps_.size();
  while (step->at < held) {
    if (step->free < processors) {
      if (++step == end) return held;
      continue;
    }
    const Instant start = step->at;
    const Instant over = std::min(start + duration, held);
    do {
      if (++step == end || step->at >= over) return start;
    } while (step->free >= processors);
  }
  return held;
}

std::int64_t Profile::free_at(Instant at) const { return steps_[step_at(std::max(at, steps_.front().at))].free; }

bool Profile::overcommitted() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const Step& s) { return s.free < 0; });
}

}  // namespace rota
