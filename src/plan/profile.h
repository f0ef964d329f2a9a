// Free processors over time, from now on: a step function that planning takes promises out of. May be
// overcommitted (below zero) where promises and reality disagree; then the planner starts over. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace rota {

class Profile {
 public:
  // All `free` from `now` on.
  void open(Instant now, std::int64_t free);

  // So many more from `at` on; at must not lie before any step made so far. O(1).
  void release(Instant at, std::int64_t processors);

  // Time moves on to `now`, from where it was or later: what was free before is forgotten.
  void advance(Instant now);

  // Changes what is free in [from, to) by `processors`; the part before now is ignored. to may be kNever.
  void change(Instant from, Instant to, std::int64_t processors);

  // A change that is put off until make_changes(): many are cheaper together. Nothing may be asked or done in between.
  void collect_change(Instant from, Instant to, std::int64_t processors);
  void make_changes();  // O(steps + changes log changes)

  // Keeps so many from all jobs in [from, to), or all that is free where it is less; nothing where none is.
  void withhold(Instant from, Instant to, std::int64_t processors);

  // The earliest start at or after `from` with `processors` free all through `duration`; kNever if there is none.
  Instant earliest(Instant from, std::int64_t processors, Duration duration) const;

  // The earliest start of a job that holds a place from `held` on, if it gave that back; never later than `held`.
  // Nothing may be overcommitted there.
  Instant earliest_before(Instant held, std::int64_t processors, Duration duration) const;

  // Whether so many are free all through.
  bool fits(Instant from, std::int64_t processors, Duration duration) const {
    return earliest(from, processors, duration) == from;
  }

  std::int64_t free_at(Instant at) const;
  bool overcommitted() const;
  std::size_t steps() const { return steps_.size(); }

 private:
  struct Step {
    Instant at;  // holds from here to the next step, the last one for ever
    std::int64_t free;
  };

  std::size_t step_at(Instant at) const;  // the last step that does not begin after `at`
  std::size_t cut(Instant at);            // the step that begins exactly at `at`, made if need be
  void join(std::size_t step);            // removes it if it says what the one before says

  std::vector<Step> steps_;
  std::vector<Step> collected_;  // changes, not sums
  std::vector<Step> made_;       // scratch
};

}  // namespace rota
