#include "generate/estimates.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rota::generate {
namespace {

constexpr std::array<std::int64_t, 20> kPopularMinutes{5,   10,  15,  20,  30,  45,  60,  90,   120,  180,
                                                       240, 300, 360, 480, 600, 720, 900, 1080, 1440, 2160};

Duration up_to_whole(Duration value, Duration step) { return Duration{(value + step - Duration{1}) / step * step}; }

Duration popular(double least_seconds, const Estimates& estimates, Duration run) {
  if (run >= estimates.most) return up_to_whole(run, seconds(3600));
  for (const std::int64_t minutes : kPopularMinutes) {
    const Duration value = seconds(60 * minutes);
    if (value >= estimates.most) break;
    if (to_seconds(value) >= least_seconds) return value;
  }
  return estimates.most;
}

}  // namespace

void add_knobs(Knobs& knobs, Estimates& estimates) {
  knobs.push_back({.name = "estimates",
                   .value = &estimates.rule,
                   .meaning =
                       "run times that users ask for: none; exact; run time x U(1, factor); modal: popular round "
                       "times, after Tsafrir et al. 2005",
                   .choices = {"none", "exact", "factor", "modal"}});
  knobs.push_back({.name = "estimate-factor",
                   .value = &estimates.factor,
                   .meaning = "greatest overestimate under --estimates factor",
                   .low = 1,
                   .high = 1000});
  knobs.push_back({.name = "estimate-max",
                   .value = &estimates.most,
                   .meaning = "longest time that may be asked for under --estimates modal",
                   .low = 300,
                   .high = 366.0 * 86400});
}

Duration estimate(const Estimates& estimates, Duration run, Random& random) {
  if (estimates.rule == "factor") {
    const double asked = to_seconds(run) * random.uniform(1.0, estimates.factor);
    return std::max(run, seconds(static_cast<std::int64_t>(std::ceil(asked))));
  }
  if (estimates.rule == "modal") return popular(to_seconds(run) / (1.0 - random.unit()), estimates, run);
  return run;
}

}  // namespace rota::generate
