// How good forecasts are: a log is rehearsed, at moments drawn by lot a job that waits is forecast from what was known
// then, and its real start is looked at afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "forecast/correction.h"
#include "forecast/forecast.h"

namespace rota::forecast {

struct CalibrateOptions {
  std::int64_t processors = 0;
  const Machine* machine = nullptr;                          // nullptr: processors are counted
  const std::map<std::uint32_t, JobTerms>* terms = nullptr;  // as in a rehearsal
  int moments = 1000;
  int futures = 300;  // of each forecast
  std::uint64_t seed = 1;
  std::function<void(int)> progress = {};  // moments done
};

// A start as it was forecast, and as it came.
struct Band {
  Instant low50 = kNever, high50 = kNever;
  Instant low90 = kNever, high90 = kNever;
  Instant median = kNever;
};

// One moment.
struct Trial {
  Instant at = kEpoch;
  JobId job;
  Instant start = kNever;      // really
  Instant by_limits = kNever;  // limits at their word
  Instant promise = kNever;    // what the policy had promised; kNever: nothing
  Band forecast = {};          // as the futures have it,
  Band corrected = {};         // and as forecasts that had come true by then teach to read them
};

// How one way of telling starts did over all trials that it has something to say about.
struct Score {
  std::int64_t trials = 0;
  double inside50 = 0;  // share of starts within the band, as is
  double inside90 = 0;
  double mean_error = 0;  // seconds between what was told and the start, as is
  double median_error = 0;
};
enum class Way : std::uint8_t { forecast, corrected, by_limits, promise, forecast_of_promised };
Score score_of(const std::vector<Trial>& trials, Way way);

// Arrivals in order of submission. Fails with a sentence where the rehearsal does.
Result<std::vector<Trial>> calibrate(const std::function<std::unique_ptr<sim::Source>()>& log, const Chain& chain,
                                     const CalibrateOptions& options);

}  // namespace rota::forecast
