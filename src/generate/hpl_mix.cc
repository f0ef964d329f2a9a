#include "generate/hpl_mix.h"

#include <algorithm>
#include <cmath>

namespace rota::generate {
namespace {

constexpr std::int64_t kCores = 16;

std::uint32_t draw_cores(Random& random) {
  if (random.chance(0.269)) return 1;
  const double u = random.unit();
  if (u < 0.283) return 2;
  if (u < 0.534) return 4;
  if (u < 0.705) return 6;
  if (u < 0.857) return 8;
  return static_cast<std::uint32_t>(random.between(10, 12));
}

double draw_run(Random& random, std::uint32_t cores) {
  const double centre = 70.0 + 110.0 * (cores - 1.0) / 11.0;
  return std::clamp(random.uniform(centre - 40.0, centre + 40.0), 50.0, 200.0);
}

// Estimate over run time.
double draw_error(const HplMix& mix, Random& random) {
  if (mix.error == "uniform") return random.uniform(mix.low, mix.high);
  if (mix.error == "mixed")
    return random.chance(mix.under) ? random.uniform(mix.low, 1.0) : random.uniform(1.0, mix.high);
  if (mix.error == "log-normal") return std::exp(random.normal(0.0, mix.sigma));
  return 1.0;
}

void make(const HplMix& mix, const Take& take) {
  Random arrivals = stream(mix.seed, Draw::arrivals);
  Random shapes = stream(mix.seed, Draw::jobs);
  Random errors = stream(mix.seed, Draw::estimates);
  Duration submit{0};
  for (std::int64_t i = 1; i <= mix.jobs; ++i) {
    JobSpec job;
    job.number = i;
    job.submit = kEpoch + submit;
    job.processors = draw_cores(shapes);
    const Duration run = rounded(draw_run(shapes, job.processors), mix.resolution);
    const Duration asked = rounded(to_seconds(run) * draw_error(mix, errors), mix.resolution);
    job.limit = mix.error == "exact" ? run : std::max(seconds(1), asked);
    if (!take(job, run)) return;
    submit += rounded(arrivals.uniform(0.0, to_seconds(mix.gap)), mix.resolution);
  }
}

}  // namespace

Knobs HplMix::knobs() {
  return {
      jobs_knob(jobs),
      seed_knob(seed),
      resolution_knob(resolution),
      {.name = "gap",
       .value = &gap,
       .meaning = "gaps between arrivals are uniform from 0 to it",
       .low = 0,
       .high = 10.0 * 86400},
      {.name = "queue-floor",
       .value = &floor,
       .meaning = "the next job arrives at once while at most so many wait; -1: never earlier than its gap says",
       .low = -1,
       .high = 1e6},
      {.name = "error",
       .value = &error,
       .meaning = "estimate over run time: uniform from low to high; mixed: under 1 with probability under, else over; "
                  "log-normal; exact",
       .choices = {"uniform", "mixed", "log-normal", "exact"}},
      {.name = "error-low", .value = &low, .meaning = "least estimate over run time", .low = 0.01, .high = 100},
      {.name = "error-high", .value = &high, .meaning = "greatest estimate over run time", .low = 0.01, .high = 100},
      {.name = "error-under",
       .value = &under,
       .meaning = "probability of an estimate that is too short (mixed)",
       .low = 0,
       .high = 1},
      {.name = "error-sigma",
       .value = &sigma,
       .meaning = "deviation of the logarithm (log-normal)",
       .low = 0,
       .high = 5},
  };
}

Result<Recipe> HplMix::prepare() const {
  if (low > high) return fail("--error-low is above --error-high: swap them.");
  if (error == "mixed" && (low > 1.0 || high < 1.0)) {
    return fail("--error mixed needs --error-low of at most 1 and --error-high of at least 1.");
  }
  Recipe recipe;
  recipe.jobs = jobs;
  recipe.processors = kCores;
  recipe.queue_floor = floor;
  if (floor >= 0) {
    recipe.notes.emplace_back(
        "QueueFloor: while at most so many jobs wait, the next one arrives at once; else at its submit "
        "time's distance after the one before it");
  }
  recipe.each = [mix = *this](const Take& take) { make(mix, take); };
  return recipe;
}

}  // namespace rota::generate
