// When waiting jobs start at the latest, for lists of the queue: a plan of the present state that promises a start to
// the first of them, made on a copy and kept until the state has changed, or a start in it has passed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "serve/explain.h"
#include "serve/time_share.h"
#include "serve/told_start.h"

namespace rota::serve {

// A start is told for the case that every job takes its whole limit and no other comes before it. No start can be told
// for jobs far behind in the queue, and for those that wait for one without a limit.
class PlannedStarts {
 public:
  PlannedStarts(const Desk& desk, const JobBook& book, const Explainer& explainer)
      : desk_(desk), book_(book), explainer_(explainer) {}

  // Plans anew where something has happened since, but takes a twentieth of the thread's time at most: until then what
  // is told is of a while ago, and current() is false. Beyond 20,000 known jobs nothing is planned.
  void look();
  // Another policy plans otherwise.
  void forget() { planned_.reset(); }

  bool current() const { return current_; }
  Instant of(JobId job) const {  // kNever: nothing can be told
    const auto found = starts_.find(job);
    return found == starts_.end() ? kNever : told_start(found->second, desk_.now());
  }

 private:
  void plan();

  const Desk& desk_;
  const JobBook& book_;
  const Explainer& explainer_;
  std::map<JobId, Instant> starts_;
  std::optional<std::uint64_t> planned_;  // sequence number of the state that was planned
  Instant first_ = kNever;                // of the starts
  bool current_ = false;
  TimeShare share_{0, 1.0 / 20};
};

}  // namespace rota::serve
