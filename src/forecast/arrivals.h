// Which jobs may come: those of past weeks again, day by day, each day of the week from a week drawn by lot, at the
// hour at which they came then. Where less than a week is known, days serve as well; where less than a day is, no job
// comes.
#pragma once

#include <vector>

#include "base/random.h"
#include "engine/sim/engine.h"
#include "forecast/past_jobs.h"

namespace rota::forecast {

// The past jobs of so many weeks before an instant, by submission; for all futures of a forecast.
class PastArrivals {
 public:
  static constexpr int kWeeks = 6;

  PastArrivals(const PastJobs& past, Instant now);

  Instant now() const { return now_; }
  int periods() const { return periods_; }  // weeks, or days, that are known whole; 0: none
  Duration period() const { return period_; }
  const std::vector<PastJob>& jobs() const { return jobs_; }

 private:
  Instant now_;
  Duration period_{0};
  int periods_ = 0;
  std::vector<PastJob> jobs_;  // by submission
};

// The arrivals of one future. `past` must outlive it. No job comes after `until`.
class DrawnArrivals final : public sim::Source {
 public:
  DrawnArrivals(const PastArrivals& past, Random lots, Instant until);
  bool next(sim::Arrival& arrival) override;

 private:
  bool open_day();

  const PastArrivals& past_;
  Random lots_;
  Instant until_;
  int day_ = 0;         // days that were drawn
  Duration shift_{0};   // from the day that is copied
  std::size_t at_ = 0;  // the next job of it
  std::size_t end_ = 0;
};

}  // namespace rota::forecast
