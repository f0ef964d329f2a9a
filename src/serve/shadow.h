// Forecasts of the jobs that another resource manager starts: each is forecast when it is first seen waiting, beside
// what the manager itself expects, and scored when it has started. Kept in the service's database. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "serve/forecaster.h"
#include "serve/job_lookup.h"

namespace rota::serve {

// How well starts were foretold, of those that have come.
struct StartScores {
  std::int64_t starts = 0;
  std::int64_t within_half = 0;    // between the quarters of the futures
  std::int64_t within_nine = 0;    // nine tenths
  std::int64_t within_minute = 0;  // of the middle one
  Duration error{0};               // half of them were off by less
  Duration bias{0};                // half of them began later than that behind what was foretold
};

struct ShadowReport {
  StartScores ours;
  StartScores theirs;                                // by the manager's own first estimate; it tells no bands
  StartScores ours_beside;                           // of the same jobs as theirs
  std::int64_t waiting = 0;                          // forecast, and not started yet
  std::int64_t left = 0;                             // forecast, and gone without a start
  std::map<std::string, std::int64_t> not_forecast;  // jobs, by why
};

class Shadow {
 public:
  // A job that was forecast, or was not.
  struct Row {
    std::int64_t number = 0;
    Instant at = kEpoch;                                                // of the forecast, or when it was met
    std::array<Instant, 5> by{kNever, kNever, kNever, kNever, kNever};  // 5, 25, 50, 75, 95 in 100
    std::int64_t futures = 0;                                           // 0: it is not forecast
    Instant theirs = kNever;                                            // the manager's first estimate,
    Instant theirs_at = kNever;                                         // and when it was seen
    Instant start = kNever;
    bool over = false;      // it has started, or gone
    std::string why = {};   // it is not forecast, so far
    std::string word = {};  // of the manager, when that was found; not kept
  };

  Shadow(const Desk& desk, const JobLookup& jobs, Forecaster& forecaster)
      : desk_(desk), jobs_(jobs), forecaster_(forecaster) {}

  // What was kept. Once, before jobs are met.
  void read();
  // All that the manager says of an instant has been said; these are new.
  void surveyed(const std::vector<JobId>& met);
  // What became of jobs that started, or were met and not forecast, since then.
  ShadowReport report(Instant since) const;
  // visit(JobId, const Row&) for each that has started since then, in order of submission. O(all that are kept)
  template <class Visit>
  void for_each_started(Instant since, const Visit& visit) const {
    for (const auto& [id, row] : rows_)
      if (row.start != kNever && row.start >= since) visit(id, row);
  }

 private:
  void put(JobId job, const Row& row);
  void look_at(JobId job, Row& row);
  bool may_be_foretold(JobId job, Row& row) const;
  void forecast_due();
  void take(const std::vector<JobId>& jobs, Instant at, const Result<Forecasted>& told);
  void forget_old();

  const Desk& desk_;
  const JobLookup& jobs_;
  Forecaster& forecaster_;
  std::map<JobId, Row> rows_;
  std::vector<JobId> open_;  // of which more is to come
  std::vector<JobId> due_;   // to be forecast once that is over which is being made
  bool under_way_ = false;   // one is being made, or has just been made
  Instant began_ = kNever;   // the first survey of this life
};

}  // namespace rota::serve
