// Independent jobs that arrive at random: exponential gaps, a chosen distribution of sizes and of run times, and the
// rate that offers the wished load: load = rate x E[processors] x E[run time] / processors of the machine. The means
// are exact, also where run times are cut off at their bounds, so a long workload offers that load to the extent that
// chance allows.
#pragma once

#include "generate/estimates.h"
#include "generate/generate.h"

namespace rota::generate {

class Poisson : public Generator {
 public:
  std::int64_t jobs = 10'000;
  std::int64_t seed = 1;
  std::int64_t processors = 256;
  double load = 0.8;
  double gap = kUnset;           // mean, seconds; unset: from the load
  std::string sizes = "powers";  // uniform, powers, log-uniform, fixed (at size_max)
  std::int64_t size_min = 1;
  std::int64_t size_max = 64;
  std::string runs = "log-normal";    // log-normal, exponential, uniform, fixed (at run_mean)
  Duration run_mean = seconds(3600);  // before it is cut off at the bounds
  double run_cv = 2.0;                // deviation over mean (log-normal)
  Duration run_min = seconds(1);
  Duration run_max = seconds(172'800);
  Estimates estimates;
  Duration resolution = seconds(1);

  std::string_view model() const override { return "poisson"; }
  std::string_view summary() const override {
    return "independent jobs with exponential gaps at a chosen load; of any length, ten million in seconds";
  }
  std::string_view source() const override { return "Poisson arrivals, independent sizes and run times"; }
  Knobs knobs() override;

  double mean_size() const;  // expected processors of a job
  double mean_run() const;   // expected run time of a job, seconds
  double mean_gap() const;   // seconds

 protected:
  Result<Recipe> prepare() const override;
};

}  // namespace rota::generate
