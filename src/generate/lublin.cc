#include "generate/lublin.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace rota::generate {
namespace {

constexpr double kLongestRun = 12;  // ln of seconds
constexpr double kLongestGap = 13;  // ln of seconds
constexpr std::size_t kHalfHours = 48;
constexpr double kHalfHour = 1800;     // seconds
constexpr std::size_t kDayStart = 10;  // the half hour at which the daily cycle begins: 05:00
constexpr double kDay = 86400;

struct Field {
  std::string_view name;
  double LublinParameters::* member;
  std::string_view meaning;
  double low;
  double high;
};

constexpr std::array<Field, 17> kFields{{
    {"serial", &LublinParameters::serial, "share of jobs on one processor", 0, 1},
    {"pow2", &LublinParameters::pow2, "share of jobs made a power of two", 0, 1},
    {"u-low", &LublinParameters::u_low, "log2 of the least size of a parallel job", 0, 30},
    {"u-med", &LublinParameters::u_med, "log2 of the size where the density changes", 0, 30},
    {"u-hi", &LublinParameters::u_hi, "log2 of the greatest size", 0, 30},
    {"u-prob", &LublinParameters::u_prob, "share of parallel jobs below u-med", 0, 1},
    {"a1", &LublinParameters::a1, "shape of the first gamma of ln(run time)", 1e-3, 1e5},
    {"b1", &LublinParameters::b1, "scale of the first gamma of ln(run time)", 1e-5, 1e3},
    {"a2", &LublinParameters::a2, "shape of the second gamma of ln(run time)", 1e-3, 1e5},
    {"b2", &LublinParameters::b2, "scale of the second gamma of ln(run time)", 1e-5, 1e3},
    {"pa", &LublinParameters::pa, "weight of the first gamma: slope by processors", -1, 1},
    {"pb", &LublinParameters::pb, "weight of the first gamma: constant", -10, 10},
    {"aarr", &LublinParameters::aarr, "shape of the gamma of ln(gap) in rush hours", 1e-3, 1e5},
    {"barr", &LublinParameters::barr, "scale of the gamma of ln(gap) in rush hours", 1e-5, 1e3},
    {"anum", &LublinParameters::anum, "shape of the gamma of the daily cycle", 0.1, 1e3},
    {"bnum", &LublinParameters::bnum, "scale of the gamma of the daily cycle, half hours", 1e-2, 1e3},
    {"arar", &LublinParameters::arar, "factor of aarr: all hours over rush hours", 1e-3, 1e3},
}};

// The sizes are those of the published 128-processor machine, moved to this one.
LublinParameters published(std::string_view kind, std::int64_t processors) {
  const double top = std::log2(static_cast<double>(processors));
  if (kind == "batch") {
    return {0.2927, 0.6686, 1.2,    top - 2.0, top,    0.875,  6.57,   0.823, 639.1,
            0.0156, -0.003, 0.6986, 6.0415,    0.8531, 6.1271, 5.2740, 1.0519};
  }
  if (kind == "interactive") {
    return {0.1541, 0.625,   1.0,    top - 4.0, top - 1.5, 0.705,  3.8351, 0.6605, 7.073,
            0.6856, -0.0118, 0.9156, 6.5510,    0.6621,    8.9186, 3.6680, 0.9797};
  }
  return {0.244, 0.576,   0.8,  top - 2.5, top,    0.86,   4.2,    0.94,  312,
          0.03,  -0.0054, 0.78, 10.2303,   0.4871, 8.1737, 3.9631, 1.0225};
}

LublinParameters effective(const Lublin& model, std::string_view kind) {
  LublinParameters p = published(kind, model.processors);
  for (const Field& field : kFields) {
    const double own = model.parameters.*field.member;
    if (!std::isnan(own)) p.*field.member = own;
  }
  // On a small machine the published offsets from its size would put the bounds in disorder.
  p.u_hi = std::max(p.u_hi, 0.0);
  p.u_low = std::min(p.u_low, p.u_hi);
  p.u_med = std::clamp(p.u_med, p.u_low, p.u_hi);
  return p;
}

// The time of day at which a given share of a day's arrivals have come.
class DailyCycle {
 public:
  DailyCycle(double shape, double scale) {
    std::array<double, kHalfHours> weight{};
    double sum = 0;
    for (std::size_t i = 0; i < kHalfHours; ++i) {
      const double from = static_cast<double>(kDayStart + i) + 0.5;
      weight[(kDayStart + i) % kHalfHours] = mass(shape, scale, from);
      sum += weight[(kDayStart + i) % kHalfHours];
    }
    for (std::size_t i = 0; i < kHalfHours; ++i) reached_[i + 1] = reached_[i] + kDay * weight[i] / sum;
    reached_[kHalfHours] = kDay;
  }

  // `spent` seconds of an even day's arrivals, 0 <= spent < kDay, are reached at the returned second of the day.
  double time_of(double spent) const {
    const auto next = std::upper_bound(reached_.begin(), reached_.end() - 1, spent);
    const auto i = static_cast<std::size_t>(next - reached_.begin()) - 1;
    return kHalfHour * (static_cast<double>(i) + (spent - reached_[i]) / (reached_[i + 1] - reached_[i]));
  }

 private:
  // The mass of the gamma density from `from` to from + 1, up to a factor, by Simpson's rule.
  static double mass(double shape, double scale, double from) {
    constexpr int kSteps = 16;
    double sum = 0;
    for (int i = 0; i <= kSteps; ++i) {
      const double x = (from + static_cast<double>(i) / kSteps) / (shape * scale);  // near 1, so that nothing overflows
      const double density = std::exp((shape - 1.0) * std::log(x) - shape * (x - 1.0));
      sum += density * (i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2);
    }
    return std::max(sum, 1e-12);
  }

  std::array<double, kHalfHours + 1> reached_{};
};

double gamma_up_to(Random& random, double shape, double scale, double limit) {
  double value = random.gamma(shape, scale);
  while (value > limit) value = random.gamma(shape, scale);
  return value;
}

// One stream of jobs; `all`, `batch` and `interactive` are one each.
class Source {
 public:
  Source(const Lublin& model, std::string_view kind, Draw arrivals, Draw jobs)
      : p_(effective(model, kind)),
        processors_(static_cast<double>(model.processors)),
        largest_power_(static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(model.processors)))),
        cycle_(p_.anum, p_.bnum),
        arrivals_(stream(model.seed, arrivals)),
        jobs_(stream(model.seed, jobs)) {}

  double submit() const { return day_ * kDay + cycle_.time_of(spent_); }  // of the next job, seconds

  void advance(double stretch) {
    spent_ += stretch * std::exp(gamma_up_to(arrivals_, p_.aarr * p_.arar, p_.barr, kLongestGap));
    const double days = std::floor(spent_ / kDay);
    day_ += days;
    spent_ = std::min(spent_ - days * kDay, std::nextafter(kDay, 0.0));
  }

  std::uint32_t draw_size() {
    const double u = jobs_.unit();
    if (u < p_.serial) return 1;
    const bool low = jobs_.chance(p_.u_prob);
    const double par = low ? jobs_.uniform(p_.u_low, p_.u_med) : jobs_.uniform(p_.u_med, p_.u_hi);
    const double size = u < p_.serial + p_.pow2 ? std::min(std::exp2(std::floor(par + 0.5)), largest_power_)
                                                : std::floor(std::exp2(par) + 0.5);
    return static_cast<std::uint32_t>(std::clamp(size, 1.0, processors_));
  }

  double draw_run(std::uint32_t size) {  // seconds
    const double first = p_.pa * size + p_.pb;
    for (;;) {
      const double logarithm = jobs_.chance(first) ? jobs_.gamma(p_.a1, p_.b1) : jobs_.gamma(p_.a2, p_.b2);
      if (logarithm <= kLongestRun) return std::exp(logarithm);
    }
  }

 private:
  LublinParameters p_;
  double processors_;
  double largest_power_;
  DailyCycle cycle_;
  Random arrivals_;
  Random jobs_;
  double day_ = 0;
  double spent_ = 0;
};

std::vector<Source> sources_of(const Lublin& model) {
  std::vector<Source> sources;
  if (model.kind == "both") {
    sources.emplace_back(model, "interactive", Draw::arrivals, Draw::jobs);
    sources.emplace_back(model, "batch", Draw::more_arrivals, Draw::more_jobs);
  } else {
    sources.emplace_back(model, model.kind, Draw::arrivals, Draw::jobs);
  }
  return sources;
}

Duration cut(double seconds, Duration step) {
  return static_cast<std::int64_t>(seconds * 1000.0 / static_cast<double>(step.count())) * step;
}

// With every gap `stretch` times as long as the model has it.
void make(const Lublin& model, double stretch, const Take& take) {
  std::vector<Source> sources = sources_of(model);
  for (Source& source : sources) source.advance(stretch);
  Random guesses = stream(model.seed, Draw::estimates);
  JobSpec job;
  for (std::int64_t i = 1; i <= model.jobs; ++i) {
    Source& next = *std::ranges::min_element(sources, {}, &Source::submit);
    job.number = i;
    job.submit = kEpoch + cut(next.submit(), model.resolution);
    job.processors = next.draw_size();
    const Duration run = std::max(model.resolution, cut(next.draw_run(job.processors), model.resolution));
    job.limit = estimate(model.estimates, run, guesses);
    if (!take(job, run)) return;
    next.advance(stretch);
  }
}

// How much longer the gaps must be for the load: the same jobs are made once without being kept.
double stretch_for(const Lublin& model) {
  if (std::isnan(model.load)) return 1.0;
  double work = 0;
  double last = 0;
  make(model, 1.0, [&](const JobSpec& job, Duration run) {
    work += to_seconds(run) * job.processors;
    last = to_seconds(job.submit - kEpoch);
    return true;
  });
  return work / (static_cast<double>(model.processors) * std::max(last, 1.0)) / model.load;
}

// Most draws must be kept, else drawing anew would take for ever.
Result<void> check_gammas(const LublinParameters& p) {
  if (p.a1 * p.b1 > kLongestRun || p.a2 * p.b2 > kLongestRun) {
    return fail(
        "the mean of ln(run time), a x b, must be at most 12 (two days) in both gammas: lower --a1, --b1, --a2 or "
        "--b2.");
  }
  if (p.aarr * p.arar * p.barr > kLongestGap) {
    return fail("the mean of ln(gap), aarr x arar x barr, must be at most 13 (five days): lower one of the three.");
  }
  if (p.serial + p.pow2 > 1.0)
    return fail("--serial and --pow2 are shares of all jobs: together they must be at most 1.");
  return {};
}

}  // namespace

Lublin::Lublin() {
  for (const Field& field : kFields) parameters.*field.member = kUnset;
}

Knobs Lublin::knobs() {
  Knobs table{
      jobs_knob(jobs),
      seed_knob(seed),
      processors_knob(processors),
      {.name = "kind",
       .value = &kind,
       .meaning = "published parameter set: all (fitted to whole logs), batch, interactive, or both of these at once",
       .choices = {"all", "batch", "interactive", "both"}},
      {.name = "load",
       .value = &load,
       .meaning = "offered load: share of the processors that the jobs would keep busy; gaps are stretched to meet it",
       .low = 0.001,
       .high = 1000,
       .unset = "natural"},
  };
  add_knobs(table, estimates);
  table.push_back(resolution_knob(resolution));
  for (const Field& field : kFields) {
    table.push_back({.name = field.name,
                     .value = &(parameters.*field.member),
                     .meaning = field.meaning,
                     .low = field.low,
                     .high = field.high,
                     .unset = "published"});
  }
  return table;
}

Result<Recipe> Lublin::prepare() const {
  const std::vector<std::string_view> kinds =
      kind == "both" ? std::vector<std::string_view>{"interactive", "batch"} : std::vector<std::string_view>{kind};
  Recipe recipe;
  for (const std::string_view each : kinds) {
    LublinParameters p = effective(*this, each);
    TRY(check_gammas(p));
    Knobs values;
    for (const Field& field : kFields)
      values.push_back({.name = field.name, .value = &(p.*field.member), .meaning = {}});
    recipe.notes.push_back(fmt::format("parameters ({}):{}", each, as_options(values)));
  }
  recipe.jobs = jobs;
  recipe.processors = processors;
  recipe.estimated = estimates.any();
  recipe.each = [model = *this, stretch = stretch_for(*this)](const Take& take) { make(model, stretch, take); };
  return recipe;
}

}  // namespace rota::generate
