// Demands that found no room in a space that only shrinks: whoever asks for as much or more finds none either.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "model/job.h"

namespace rota {

class Refused {
 public:
  bool covers(const JobSpec& spec) const {
    const auto end = asked_.begin() + static_cast<std::ptrdiff_t>(count_);
    return std::any_of(asked_.begin(), end, [&](const JobSpec* a) { return no_more_than(*a, spec); });
  }
  // The spec must live for as long as this is asked.
  void add(const JobSpec& spec) {
    if (count_ < asked_.size()) asked_[count_++] = &spec;
  }

 private:
  static bool no_more_than(const JobSpec& a, const JobSpec& b) {
    if (a.partition != b.partition || !b.per_node().covers(a.per_node())) return false;
    if (a.accelerator_type.valid() && a.accelerator_type != b.accelerator_type) return false;
    if (a.licence.valid() && (a.licence != b.licence || a.licences > b.licences)) return false;
    if (a.nodes == 0) return a.processors <= b.processors;
    if (b.nodes < a.nodes || b.processors < b.nodes || a.processors < a.nodes) return false;
    return (a.processors + a.nodes - 1) / a.nodes <= b.processors / b.nodes;
  }

  std::array<const JobSpec*, 32> asked_;
  std::size_t count_ = 0;
};

}  // namespace rota
