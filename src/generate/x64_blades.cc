#include "generate/x64_blades.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <tuple>

namespace rota::generate {
namespace {

constexpr std::int64_t kProcessorsPerNode = 8;
constexpr std::int64_t kUnixStart = 1'254'067'200;  // Monday 28 September 2009, 00:00 in Shanghai
constexpr std::array<std::uint32_t, 6> kSizes{2, 4, 8, 16, 32, 64};
constexpr double kLongestRun = 60;  // minutes
constexpr double kShortestRun = 0.2;
constexpr std::size_t kMostJobs = 100'000'000;  // they are sorted in memory

struct Stay {
  double submit = 0;  // minutes
  double run = 0;     // minutes
  std::uint32_t nodes = 0;
};

// Arrivals in an hour, up to a factor.
double rate(const X64Blades& x, std::int64_t hour) {
  const std::int64_t day = hour / 24;
  const std::int64_t of_day = hour % 24;
  const bool by_day = of_day >= 9 && of_day < 23;
  const bool holiday = day >= 3 && day <= 10;
  const bool weekend = day % 7 >= 5 && day != 12;
  const double kind = holiday ? x.holiday : weekend ? x.weekend : 1.0;
  return (by_day ? 1.0 : x.night) * kind * std::max(0.0, 1.0 + (x.late - 1.0) * static_cast<double>(day) / 33.0);
}

// sums[i]: of the first i weights.
std::vector<double> running_sums(const std::vector<double>& weights) {
  std::vector<double> sums(weights.size() + 1);
  std::partial_sum(weights.begin(), weights.end(), sums.begin() + 1);
  return sums;
}

// The index of a weight, drawn in proportion.
std::size_t pick(const std::vector<double>& sums, Random& random) {
  const double u = random.uniform(0.0, sums.back());
  const auto next = std::upper_bound(sums.begin(), sums.end(), u);
  return std::min(static_cast<std::size_t>(next - sums.begin()), sums.size() - 1) - 1;
}

std::int64_t hours_of(const X64Blades& x) { return std::max<std::int64_t>(x.span / seconds(3600), 1); }

std::vector<double> hourly_sums(const X64Blades& x) {
  std::vector<double> rates;
  rates.reserve(static_cast<std::size_t>(hours_of(x)));
  for (std::int64_t hour = 0; hour < hours_of(x); ++hour) rates.push_back(rate(x, hour));
  return running_sums(rates);
}

std::int64_t batch_size(const X64Blades& x, Random& random) {
  return 1 + std::llround(random.exponential(x.batch - 1.0));
}

Result<std::vector<Stay>> draw_stays(const X64Blades& x) {
  const std::vector<double> hours = hourly_sums(x);
  const std::vector<double> sizes = running_sums({x.shares.begin(), x.shares.end()});
  Random arrivals = stream(x.seed, Draw::arrivals);
  Random jobs = stream(x.seed, Draw::jobs);
  std::vector<Stay> stays;
  double work = 0;
  while (work < x.work) {
    if (stays.size() > kMostJobs) {
      return fail("the work would take more than 100 million jobs: lower --work, or raise --run-mean.");
    }
    const double start = 60.0 * (static_cast<double>(pick(hours, arrivals)) + arrivals.unit());
    const std::int64_t count = batch_size(x, jobs);
    const std::uint32_t size = kSizes[pick(sizes, jobs)];
    const double base = jobs.exponential(x.run_mean);
    const bool full = jobs.chance(x.full);
    for (std::int64_t i = 0; i < count && work < x.work; ++i) {
      const double run = full ? kLongestRun : std::clamp(base * jobs.uniform(0.6, 1.4), kShortestRun, kLongestRun);
      stays.push_back({start + static_cast<double>(i) * x.group * arrivals.unit(), run, size});
      work += size * run;
    }
  }
  std::ranges::sort(stays, {}, [](const Stay& s) { return std::tuple(s.submit, s.nodes, s.run); });
  return stays;
}

void give(const X64Blades& x, const std::vector<Stay>& stays, const Take& take) {
  JobSpec job;
  job.limit = seconds(3600);
  for (const Stay& stay : stays) {
    ++job.number;
    job.submit = kEpoch + rounded(stay.submit * 60.0, x.resolution);
    job.processors = stay.nodes * static_cast<std::uint32_t>(kProcessorsPerNode);
    if (!take(job, std::max(x.resolution, rounded(stay.run * 60.0, x.resolution)))) return;
  }
}

}  // namespace

Knobs X64Blades::knobs() {
  Knobs table{
      seed_knob(seed),
      {.name = "nodes",
       .value = &nodes,
       .meaning = "of 8 processors each: 320, 240 or 160 in the paper",
       .low = 64,
       .high = 1e6},
      {.name = "work", .value = &work, .meaning = "node-minutes in all", .low = 1, .high = 1e10},
      {.name = "span", .value = &span, .meaning = "batches arrive before it", .low = 3600, .high = 100.0 * 86400},
      {.name = "night",
       .value = &night,
       .meaning = "arrivals outside 09:00-23:00 over those inside",
       .low = 0,
       .high = 100},
      {.name = "weekend",
       .value = &weekend,
       .meaning = "arrivals at a weekend over those on a working day",
       .low = 0,
       .high = 100},
      {.name = "holiday",
       .value = &holiday,
       .meaning = "arrivals on 1-8 October over those on a working day",
       .low = 0,
       .high = 100},
      {.name = "late",
       .value = &late,
       .meaning = "arrivals on the last day over those on the first",
       .low = 0,
       .high = 100},
      {.name = "batch", .value = &batch, .meaning = "mean jobs of a batch", .low = 1, .high = 1e4},
      {.name = "group", .value = &group, .meaning = "most minutes between the jobs of a batch", .low = 0, .high = 1e4},
      {.name = "run-mean",
       .value = &run_mean,
       .meaning = "mean minutes that the jobs of a batch run, before the cut at 60",
       .low = 0.01,
       .high = 1e4},
      {.name = "full",
       .value = &full,
       .meaning = "share of batches that run the whole 60 minutes",
       .low = 0,
       .high = 1},
  };
  static constexpr std::array<std::string_view, 6> kNames{"share-2",  "share-4",  "share-8",
                                                          "share-16", "share-32", "share-64"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    table.push_back({.name = kNames[i],
                     .value = &shares[i],
                     .meaning = "weight of batches of so many nodes",
                     .low = 0,
                     .high = 1e6});
  }
  table.push_back(resolution_knob(resolution));
  return table;
}

Result<Recipe> X64Blades::prepare() const {
  if (running_sums({shares.begin(), shares.end()}).back() <= 0.0) {
    return fail("every --share-N is 0: give at least one size a weight above 0.");
  }
  if (hourly_sums(*this).back() <= 0.0)
    return fail("no job could ever arrive: raise --night, --weekend, --holiday or --span.");
  auto drawn = TRY(draw_stays(*this));
  const auto stays = std::make_shared<const std::vector<Stay>>(std::move(drawn));
  Recipe recipe;
  recipe.jobs = static_cast<std::int64_t>(stays->size());
  recipe.nodes = nodes;
  recipe.processors = nodes * kProcessorsPerNode;
  recipe.unix_start = kUnixStart;
  recipe.time_zone = "Asia/Shanghai";
  recipe.longest = seconds(3600);
  recipe.notes.emplace_back("8 processors per node; generated, not a log");
  recipe.each = [x = *this, stays](const Take& take) { give(x, *stays, take); };
  return recipe;
}

}  // namespace rota::generate
