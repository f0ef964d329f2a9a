// Demands that found no room: a job that asks for as much or more finds none either.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/time.h"
#include "model/spread.h"

namespace rota {

// Where b has room, a would have it too.
inline bool asks_for_no_more(const JobSpec& a, const JobSpec& b) {
  if (a.partition != b.partition || !b.per_node().covers(a.per_node())) return false;
  if (a.accelerator_type.valid() && a.accelerator_type != b.accelerator_type) return false;
  if (a.node_wish && !same_wish(a.node_wish, b.node_wish)) return false;
  if (!all_licences(a, [&](LicenceId id, std::uint32_t count) { return count <= licences_of(b, id); })) return false;
  if (a.nodes == 0) return a.processors <= b.processors;
  if (b.nodes < a.nodes || b.processors < b.nodes || a.processors < a.nodes) return false;
  return (a.processors + a.nodes - 1) / a.nodes <= b.processors / b.nodes;
}

// In a space that only shrinks.
class Refused {
 public:
  bool covers(const JobSpec& spec) const {
    const auto end = asked_.begin() + static_cast<std::ptrdiff_t>(count_);
    return std::any_of(asked_.begin(), end, [&](const JobSpec* a) { return asks_for_no_more(*a, spec); });
  }
  // The spec must live for as long as this is asked.
  void add(const JobSpec& spec) {
    if (count_ < asked_.size()) asked_[count_++] = &spec;
  }

 private:
  std::array<const JobSpec*, 32> asked_;
  std::size_t count_ = 0;
};

// In a timeline that shrinks but for what is freed: before which instant there is no start.
class RefusedUntil {
 public:
  // No start for such a job is earlier, if all that was freed has been told.
  Instant soonest(const JobSpec& spec, Duration duration, Instant now) const {
    Instant soonest = now;
    for (std::size_t i = 0; i < count_; ++i) {
      const Answer& a = answers_[i];
      if (a.soonest > soonest && a.duration <= duration && asks_for_no_more(*a.spec, spec)) soonest = a.soonest;
    }
    return soonest;
  }
  // The spec must live for as long as this is asked.
  void add(const JobSpec& spec, Duration duration, Instant soonest) {
    const auto is_of_no_use = [&](const Answer& a) {
      return a.soonest <= soonest && a.duration >= duration && asks_for_no_more(spec, *a.spec);
    };
    const auto end = answers_.begin() + static_cast<std::ptrdiff_t>(count_);
    count_ = static_cast<std::size_t>(std::remove_if(answers_.begin(), end, is_of_no_use) - answers_.begin());
    const auto sooner = [](const Answer& a, const Answer& b) { return a.soonest < b.soonest; };
    Answer& place = count_ < answers_.size() ? answers_[count_++] : *std::ranges::min_element(answers_, sooner);
    place = {&spec, duration, soonest};
  }
  // Something is free that was not, from this instant on.
  void freed(Instant from) {
    for (std::size_t i = 0; i < count_; ++i)
      answers_[i].soonest = std::min(answers_[i].soonest, from - answers_[i].duration);
  }

 private:
  struct Answer {
    const JobSpec* spec;
    Duration duration;
    Instant soonest;
  };
  std::array<Answer, 64> answers_;
  std::size_t count_ = 0;
};

}  // namespace rota
