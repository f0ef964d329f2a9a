// A stream of jobs with the rhythm of the x64_blades queue of Cao, Cao, Dai, Zhu and Chi, "node start/stop for HPC
// clusters based on task load monitoring" (Application Research of Computers 28(12), 2011): 34 days from Monday 28
// September 2009, with working days, nights, weekends and the national holiday of 1-8 October; jobs of 2 to 64 nodes of
// 8 processors and at most 60 minutes. The log itself was never published; the knobs are calibrated so that its
// published totals come out (8.987 million node-minutes, and makespan and idle share on 320, 240 and 160 nodes under
// first fit).
//
// Users submit batches: a batch arrives at the hour's rate, holds 1 + round(Exp(batch - 1)) jobs of one size, `group`
// minutes after its arrival at most, a later job being spread more; its jobs run 0.6 to 1.4 times an exponential time,
// or, with probability `full`, the whole hour. Batches are drawn until the total work is reached.
#pragma once

#include <array>

#include "generate/generate.h"

namespace rota::generate {

class X64Blades : public Generator {
 public:
  std::int64_t seed = 1;
  std::int64_t nodes = 320;
  double work = 8.987e6;                 // node-minutes
  Duration span = seconds(2'934'600);    // batches arrive before it
  double night = 0.1640333077580585;     // arrivals outside 09:00-23:00, of those inside
  double weekend = 0.3731583423058042;   // ... on Saturdays and Sundays, but for Saturday 10 October, a working day
  double holiday = 0.30857507910671034;  // ... on 1-8 October
  double late = 0.9150158505304904;      // ... on the last day, of the first; linear between
  double batch = 6.620369555794754;      // mean jobs of a batch
  double group = 7.25323452952858;       // minutes
  double run_mean = 22.570247656446;     // minutes
  double full = 0.38462009148466914;
  std::array<double, 6> shares{0.17854908226792066, 0.3149528716188112, 0.2599354353644256,
                               0.15004071489571913, 0.05593104808798,   0.04059084776514357};  // of 2, 4, ... 64 nodes
  Duration resolution = seconds(1);

  std::string_view model() const override { return "x64-blades"; }
  std::string_view summary() const override {
    return "34 days of a queue with days, nights, weekends and a holiday week, for power saving";
  }
  std::string_view source() const override {
    return "calibrated to the published totals of the x64_blades queue, Cao et al. 2011";
  }
  Knobs knobs() override;

 protected:
  Result<Recipe> prepare() const override;
};

}  // namespace rota::generate
