#include "generate/poisson.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace rota::generate {
namespace {

double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// Logarithm of a log-normal variable: normal with this mean and deviation.
struct Normal {
  double mean = 0;
  double deviation = 0;
};

Normal log_normal(double mean, double cv) {
  const double variance = std::log1p(cv * cv);
  return {std::log(mean) - variance / 2, std::sqrt(variance)};
}

double clipped_exponential_mean(double mean, double low, double high) {
  return low + mean * (std::exp(-low / mean) - std::exp(-high / mean));
}

double clipped_log_normal_mean(const Normal& n, double low, double high) {
  const double a = (std::log(low) - n.mean) / n.deviation;
  const double b = (std::log(high) - n.mean) / n.deviation;
  const double whole = std::exp(n.mean + n.deviation * n.deviation / 2);
  return low * normal_below(a) + whole * (normal_below(b - n.deviation) - normal_below(a - n.deviation)) +
         high * normal_below(-b);
}

// Whole numbers from first to last; for powers, the exponents of two.
struct Sizes {
  enum class Kind { uniform, powers, log_uniform, fixed } kind = Kind::fixed;
  std::int64_t first = 1;
  std::int64_t last = 1;

  double log_low() const { return std::log2(static_cast<double>(first) - 0.5 + 1e-9); }
  double log_high() const { return std::log2(static_cast<double>(last) + 0.5 - 1e-9); }

  std::int64_t draw(Random& random) const {
    switch (kind) {
      case Kind::uniform:
        return random.between(first, last);
      case Kind::powers:
        return std::int64_t{1} << random.between(first, last);
      case Kind::log_uniform:
        return std::llround(std::exp2(random.uniform(log_low(), log_high())));
      case Kind::fixed:
        return last;
    }
    return last;
  }

  double mean() const {
    const auto low = static_cast<double>(first);
    const auto high = static_cast<double>(last);
    switch (kind) {
      case Kind::uniform:
        return (low + high) / 2;
      case Kind::powers:
        return (std::exp2(high + 1) - std::exp2(low)) / (high - low + 1);
      case Kind::log_uniform:
        return log_uniform_mean();
      case Kind::fixed:
        return high;
    }
    return high;
  }

 private:
  // Size n is drawn where the uniform variable lies between log2(n - 1/2) and log2(n + 1/2).
  double log_uniform_mean() const {
    double sum = 0;
    for (std::int64_t n = first; n <= last; ++n) {
      const auto size = static_cast<double>(n);
      sum += size * std::log2((size + 0.5) / (size - 0.5));
    }
    return sum / (log_high() - log_low());
  }
};

Sizes sizes_of(const Poisson& p) {
  if (p.sizes == "uniform") return {Sizes::Kind::uniform, p.size_min, p.size_max};
  if (p.sizes == "log-uniform") return {Sizes::Kind::log_uniform, p.size_min, p.size_max};
  if (p.sizes == "fixed") return {Sizes::Kind::fixed, p.size_max, p.size_max};
  const auto least = static_cast<std::uint32_t>(p.size_min);
  const auto most = static_cast<std::uint32_t>(p.size_max);
  return {Sizes::Kind::powers, std::countr_zero(std::bit_ceil(least)), std::countr_zero(std::bit_floor(most))};
}

struct Runs {
  enum class Kind { log_normal, exponential, uniform, fixed } kind = Kind::fixed;
  double centre = 1;
  Normal log;
  double low = 0;
  double high = 0;

  double draw(Random& random) const {
    switch (kind) {
      case Kind::log_normal:
        return std::clamp(std::exp(random.normal(log.mean, log.deviation)), low, high);
      case Kind::exponential:
        return std::clamp(random.exponential(centre), low, high);
      case Kind::uniform:
        return random.uniform(low, high);
      case Kind::fixed:
        return centre;
    }
    return centre;
  }

  double mean() const {
    switch (kind) {
      case Kind::log_normal:
        return clipped_log_normal_mean(log, low, high);
      case Kind::exponential:
        return clipped_exponential_mean(centre, low, high);
      case Kind::uniform:
        return (low + high) / 2;
      case Kind::fixed:
        return centre;
    }
    return centre;
  }
};

Runs runs_of(const Poisson& p) {
  Runs runs{.centre = to_seconds(p.run_mean),
            .log = log_normal(to_seconds(p.run_mean), p.run_cv),
            .low = to_seconds(p.run_min),
            .high = to_seconds(p.run_max)};
  if (p.runs == "log-normal") runs.kind = Runs::Kind::log_normal;
  if (p.runs == "exponential") runs.kind = Runs::Kind::exponential;
  if (p.runs == "uniform") runs.kind = Runs::Kind::uniform;
  return runs;
}

void make(const Poisson& p, const Take& take) {
  const Sizes sizes = sizes_of(p);
  const Runs runs = runs_of(p);
  const double gap = p.mean_gap();
  Random arrivals = stream(p.seed, Draw::arrivals);
  Random shapes = stream(p.seed, Draw::jobs);
  Random guesses = stream(p.seed, Draw::estimates);
  double submit = 0;
  JobSpec job;
  for (std::int64_t i = 1; i <= p.jobs; ++i) {
    submit += arrivals.exponential(gap);
    job.number = i;
    job.submit = kEpoch + rounded(submit, p.resolution);
    job.processors = static_cast<std::uint32_t>(sizes.draw(shapes));
    const Duration run = std::max(p.resolution, rounded(runs.draw(shapes), p.resolution));
    job.limit = estimate(p.estimates, run, guesses);
    if (!take(job, run)) return;
  }
}

}  // namespace

double Poisson::mean_size() const { return sizes_of(*this).mean(); }

double Poisson::mean_run() const { return runs_of(*this).mean(); }

double Poisson::mean_gap() const {
  if (!std::isnan(gap)) return gap;
  return mean_size() * mean_run() / (load * static_cast<double>(processors));
}

Knobs Poisson::knobs() {
  Knobs table{
      jobs_knob(jobs),
      seed_knob(seed),
      processors_knob(processors),
      {.name = "load",
       .value = &load,
       .meaning = "offered load: share of the processors that the jobs would keep busy",
       .low = 0.001,
       .high = 1000},
      {.name = "gap",
       .value = &gap,
       .meaning = "mean seconds between arrivals, instead of --load",
       .low = 1e-6,
       .high = 1e7,
       .unset = "from-load"},
      {.name = "sizes",
       .value = &sizes,
       .meaning =
           "distribution of the processors of a job between --size-min and --size-max: powers of two, each equally "
           "likely; uniform; log-uniform; fixed at --size-max",
       .choices = {"powers", "uniform", "log-uniform", "fixed"}},
      {.name = "size-min", .value = &size_min, .meaning = "fewest processors of a job", .low = 1, .high = 1e8},
      {.name = "size-max", .value = &size_max, .meaning = "most processors of a job", .low = 1, .high = 1e8},
      {.name = "runs",
       .value = &runs,
       .meaning =
           "distribution of run times, cut off at --run-min and --run-max: log-normal; exponential; uniform between "
           "the two; fixed at --run-mean",
       .choices = {"log-normal", "exponential", "uniform", "fixed"}},
      {.name = "run-mean",
       .value = &run_mean,
       .meaning = "mean run time before it is cut off",
       .low = 0.001,
       .high = 100.0 * 86400},
      {.name = "run-cv",
       .value = &run_cv,
       .meaning = "deviation of the run times over their mean (log-normal)",
       .low = 0.01,
       .high = 100},
      {.name = "run-min", .value = &run_min, .meaning = "shortest run time", .low = 0.001, .high = 100.0 * 86400},
      {.name = "run-max", .value = &run_max, .meaning = "longest run time", .low = 0.001, .high = 100.0 * 86400},
  };
  add_knobs(table, estimates);
  table.push_back(resolution_knob(resolution));
  return table;
}

Result<Recipe> Poisson::prepare() const {
  if (size_min > size_max) return fail("--size-min is above --size-max: give a --size-max of at least --size-min.");
  if (size_max > processors) {
    return fail("--size-max is {}, more than the machine's --processors {}: such a job could never run.", size_max,
                processors);
  }
  if (run_min > run_max) return fail("--run-min is above --run-max: give a --run-max of at least --run-min.");
  const Sizes drawn = sizes_of(*this);
  if (drawn.first > drawn.last) {
    return fail("there is no power of two between --size-min and --size-max: widen them, or choose other --sizes.");
  }
  Recipe recipe;
  recipe.jobs = jobs;
  recipe.processors = processors;
  recipe.estimated = estimates.any();
  recipe.each = [poisson = *this](const Take& take) { make(poisson, take); };
  return recipe;
}

}  // namespace rota::generate
