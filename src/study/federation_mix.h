// The federation of the auction study, made from a seed: four sites, a local stream at each, a global stream, and the
// times that it takes to bring a job's input from site to site.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/sim/federation.h"

namespace rota::study {

struct FederationMix {
  std::uint64_t seed = 0;
  std::vector<std::int64_t> sites{4, 5, 7, 8};  // modules
  std::int64_t jobs = 400;                      // of the global stream, of 1 to 4 modules
  double local_load = 0.40;                     // share of all modules; local jobs take 1 or 2
  double global_load = 0.30;
  Duration mean_run_time = seconds(3600);  // exponential; everything else is in multiples of it
  double transfer = 1.0;                   // mean of U(0.5, 1.5) times this, between any two sites,
  double near = 1.0;                       // and times this between two of one centre: the first and the second, and
                                           // the third and the fourth;
  double far = 1.0;                        // and times this between sites of two centres
  std::int64_t scale = 1;                  // all times, after everything has been drawn
};

struct MixedFederation {
  std::vector<std::vector<Duration>> transfer;  // [from][to]
  std::vector<sim::GlobalJob> jobs;
  std::vector<std::vector<sim::Arrival>> local;  // of each site, until a little after the last global job has come
  std::vector<double> phases;                    // of each site's look-ups, 0 to 1
};

// Priorities are uniform from 1 to 4, inputs lie anywhere. Every limit is the mean run time: nothing is known of a job.
MixedFederation mixed(const FederationMix& mix);

}  // namespace rota::study
