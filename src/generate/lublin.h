// The workload model of Lublin and Feitelson, "The workload on parallel supercomputers: modeling the characteristics of
// rigid jobs", JPDC 63(11), 2003, with its published parameters: sizes by a two-stage uniform distribution of log2(n)
// with shares of serial and power-of-two jobs; run times by a hyper-gamma distribution of ln(t) whose first part has
// the weight pa n + pb; arrivals by a gamma distribution of the logarithm of the gap in rush hours, stretched through
// the day by the daily cycle, a gamma distribution over its half hours. Its published reference program is followed in
// what the paper leaves open: ln(t) above 12 and ln(gap) above 13 are drawn anew, times are cut to whole seconds, and
// the day of the daily cycle begins at 05:00.
#pragma once

#include "generate/estimates.h"
#include "generate/generate.h"

namespace rota::generate {

struct LublinParameters {
  double serial, pow2;                // shares of jobs: on one processor; on a power of two beyond that
  double u_low, u_med, u_hi, u_prob;  // log2 of sizes: U(low, med) with probability prob, else U(med, hi)
  double a1, b1, a2, b2, pa, pb;      // ln of run times: shape and scale of both gammas; weight of the first: pa n + pb
  double aarr, barr, anum, bnum,
      arar;  // ln of rush-hour gaps: gamma(aarr x arar, barr); daily cycle: gamma(anum, bnum)
};

class Lublin : public Generator {
 public:
  Lublin();

  std::int64_t jobs = 10'000;
  std::int64_t seed = 1;
  std::int64_t processors = 256;
  // Which of the published parameter sets: all (fitted to whole logs), batch, interactive, or both of the latter at
  // once.
  std::string kind = "all";
  double load = kUnset;           // offered load; unset: as the arrivals have it
  LublinParameters parameters{};  // those that are not kUnset replace the published ones
  Estimates estimates;
  Duration resolution = seconds(1);

  std::string_view model() const override { return "lublin"; }
  std::string_view summary() const override { return "rigid jobs of a parallel supercomputer with a daily cycle"; }
  std::string_view source() const override {
    return "U. Lublin and D. G. Feitelson, The workload on parallel supercomputers, JPDC 63(11), 2003";
  }
  Knobs knobs() override;

 protected:
  Result<Recipe> prepare() const override;
};

}  // namespace rota::generate
