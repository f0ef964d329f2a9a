// The job mix of Li and Lei, "An RB_HAR strategy that improves cluster backfill scheduling" (Research and Exploration
// in Laboratory, 9/2018): Linpack runs on 16 cores, 26.9 % of them serial, the others on 2, 4, 6, 8 and 10 to 12 cores.
// Jobs run 50 to 200 s, small ones shorter: clip(U(c - 40, c + 40), 50, 200) with c = 70 + 110 (n - 1) / 11. Users
// misjudge that: by default they ask for the run time x U(0.55, 1.18), so that about seven jobs in ten run past their
// limit. Gaps between arrivals are U(0, 1000 s), but more than 5 jobs wait while there are jobs to come: see
// Workload::queue_floor.
#pragma once

#include "generate/generate.h"

namespace rota::generate {

class HplMix : public Generator {
 public:
  std::int64_t jobs = 300;
  std::int64_t seed = 1;
  Duration resolution = Duration{1};
  Duration gap = seconds(1000);
  std::int64_t floor = 5;
  std::string error = "uniform";
  double low = 0.55;
  double high = 1.18;
  double under = 0.3;
  double sigma = 0.3;

  std::string_view model() const override { return "hpl-mix"; }
  std::string_view summary() const override {
    return "Linpack runs of 1 to 12 cores with poor estimates, for a small cluster of 16 cores";
  }
  std::string_view source() const override { return "job mix of Li and Lei, RB_HAR backfilling, 2018"; }
  Knobs knobs() override;

 protected:
  Result<Recipe> prepare() const override;
};

}  // namespace rota::generate
