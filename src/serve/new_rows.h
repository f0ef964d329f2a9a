// Rows of the history that have come since the time before, each once. What has ended may come into the history a while
// later, so that each look goes back by that.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "base/time.h"
#include "store/job_history.h"

namespace rota::serve {

class NewRows {
 public:
  bool begun() const { return until_ != kNever; }  // there was a time before
  // Where the next look begins: rows that ended then or later.
  Instant from() const { return begun() ? back_from(until_) : kEpoch; }
  // Takes out what the time before had already. `rows`: all that ended since from(), as the history has it now.
  void keep_new(std::vector<store::HistoryRow>& rows, Instant now) {
    std::set<JobId> late;
    for (const store::HistoryRow& row : rows)
      if (row.end >= back_from(now)) late.insert(row.job);
    std::erase_if(rows, [&](const store::HistoryRow& row) { return lately_.contains(row.job); });
    lately_ = std::move(late);
    until_ = now;
  }

 private:
  static constexpr Duration kOverlap = seconds(60);
  static Instant back_from(Instant at) { return at - std::min(kOverlap, at - kEpoch); }

  Instant until_ = kNever;  // kNever: nothing was read yet
  std::set<JobId> lately_;  // those that had ended shortly before
};

}  // namespace rota::serve
