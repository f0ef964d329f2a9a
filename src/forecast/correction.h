// What past forecasts teach about the next: where among its futures the truth lay, again and again. If it lay below the
// share 0.9 of the futures only eight times in ten, nine tenths are to be read farther out (recalibration by
// probability integral transforms; Kuleshov, Fenner and Ermon, ICML 2018).
#pragma once

#include <deque>
#include <vector>

#include "base/time.h"

namespace rota::forecast {

class Correction {
 public:
  static constexpr std::size_t kLeast = 40;  // forecasts: fewer teach nothing
  static constexpr std::size_t kMost = 200;  // older ones are forgotten

  // Adds a forecast that has come true: the share of its futures that were earlier (rank_of).
  void add(double rank);
  // The share of futures to read for a share of truths.
  double level(double share) const;

  const std::deque<double>& ranks() const { return ranks_; }

 private:
  std::deque<double> ranks_;
};

// Which share of the futures, in order, lies before it; of those at the very instant, half.
double rank_of(const std::vector<Instant>& sorted, Instant truth);
// The share `q` of the futures, in order, lies at or below it; kNever: of none.
Instant quantile(const std::vector<Instant>& sorted, double q);

}  // namespace rota::forecast
