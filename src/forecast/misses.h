// By how much past forecasts of starts have missed, share by share of their futures, and what the next ones come to by
// that. A start that is foretold for nine tenths of the futures is moved to where nine tenths of the latest truths
// would have lain: so bands hold as much as they say at the site itself, whatever the rehearsal does not know
// (conformal prediction by quantiles; Romano, Patterson and Candes, NeurIPS 2019).
//
// Each miss counts beside what was uncertain then: ten seconds, half of what lay between the twentieth parts at both
// ends of the futures, and a tenth of the wait that was foretold.
//
// A site of which nothing is known yet misses by what others did (kElsewhere): after fifty forecasts of its own that
// counts half, after two hundred next to nothing. Not thread-safe.
#pragma once

#include <array>
#include <deque>
#include <string>
#include <string_view>

#include "base/time.h"

namespace rota::forecast {

class Misses {
 public:
  static constexpr std::array<int, 6> kShares{5, 25, 50, 75, 90, 95};  // of the futures, in hundredths
  static constexpr std::size_t kMost = 200;                            // older ones are forgotten
  using Foretold = std::array<Instant, kShares.size()>;                // in so many of the futures it has started
  // By so much of what was uncertain each share was off at six Slurm sites (seeds 11 and 12 of `./dev slurm
  // forecasts`, docs/slurm-site.md).
  static constexpr std::array<double, kShares.size()> kElsewhere{-0.2, 0, 0, 0.3, 0.7, 0.9};

  // A forecast made then has come true. One that did not reach so far teaches nothing.
  void add(Instant at, const Foretold& foretold, Instant truth);
  std::size_t known() const { return known_.size(); }
  // Rising, and not before `at`. O(known x shares)
  Foretold corrected(Instant at, const Foretold& foretold) const;

  // For a setting of the store, and back; what makes no sense is left out.
  std::string text() const;
  void read(std::string_view text);

 private:
  using Miss = std::array<double, kShares.size()>;
  void keep(const Miss& miss);
  double of_share(std::size_t share) const;

  std::deque<Miss> known_;  // the latest last
};

}  // namespace rota::forecast
