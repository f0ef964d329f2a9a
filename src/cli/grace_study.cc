#include "cli/grace_study.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <string_view>
#include <thread>

#include "cli/rehearse.h"
#include "trace/hpl_mix.h"

namespace rota::cli {
namespace {

struct Contender {
  std::string_view label;
  std::string_view policy;
  bool exact_estimates = false;
};
constexpr std::array<Contender, 7> kContenders{{{"fcfs", "fcfs+overrun=run-on"},
                                                {"strict", "strict"},
                                                {"rb-har", "rb-har"},
                                                {"rb-har-literal", "rb-har+overrun=rb-har-literal"},
                                                {"grace", "grace"},
                                                {"grace+stretch=1.2", "grace+stretch=1.2"},
                                                {"strict, exact estimates", "strict", true}}};
enum Index : std::size_t { kFcfs, kStrict, kRbHar, kLiteral, kGrace, kGraceStretched, kExact };

using Chains = std::vector<Chain>;
using Summaries = std::array<report::Summary, kContenders.size()>;

Result<Chains> chains() {
  Chains all;
  for (const Contender& c : kContenders) {
    auto chain = Chain::parse(c.policy);
    if (!chain) return std::unexpected(chain.error());
    all.push_back(std::move(*chain));
  }
  return all;
}

// Every contender on the workload of one size and seed.
Result<Summaries> rehearse_one(std::int64_t jobs, std::int64_t seed, const Chains& policies) {
  trace::HplMix mix;
  mix.jobs = jobs;
  mix.seed = seed;
  const auto recipe = mix.recipe();
  if (!recipe) return std::unexpected(recipe.error());
  const trace::Workload workload = trace::generate(*recipe);
  Summaries summaries;
  for (std::size_t c = 0; c < kContenders.size(); ++c) {
    RehearseOptions options;
    options.processors = workload.processors;
    options.exact_estimates = kContenders[c].exact_estimates;
    auto rehearsed = rehearse(workload, policies[c], options);
    if (!rehearsed) return std::unexpected(rehearsed.error());
    summaries[c] = std::move(rehearsed->summary);
  }
  return summaries;
}

// In order of size, then seed; on several cores.
Result<std::vector<Summaries>> rehearse_all(const GraceStudy& study, const Chains& policies) {
  const auto seeds = static_cast<std::size_t>(study.seeds);
  std::vector<Result<Summaries>> results(study.sizes.size() * seeds);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < results.size(); i = next++) {
      results[i] = rehearse_one(study.sizes[i / seeds], static_cast<std::int64_t>(i % seeds), policies);
    }
  };
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 1; i < std::min(study.threads, results.size()); ++i) workers.emplace_back(work);
    work();
  }
  std::vector<Summaries> summaries;
  for (auto& result : results) {
    if (!result) return std::unexpected(result.error());
    summaries.push_back(std::move(*result));
  }
  return summaries;
}

GraceRow row_of(std::int64_t jobs, std::size_t contender, const std::vector<Summaries>& all, std::size_t first,
                std::size_t seeds) {
  std::vector<double> makespan;
  std::vector<double> utilization;
  std::vector<double> response_ratio;
  std::vector<double> completion;
  std::vector<double> kills;
  for (std::size_t i = first; i < first + seeds; ++i) {
    const report::Summary& s = all[i][contender];
    makespan.push_back(to_seconds(s.makespan));
    kills.push_back(static_cast<double>(s.killed));
    if (s.utilization) utilization.push_back(*s.utilization);
    if (s.response_ratio) response_ratio.push_back(*s.response_ratio);
    if (s.backfill_completion) completion.push_back(*s.backfill_completion);
  }
  return {jobs,
          std::string(kContenders[contender].label),
          estimate(makespan),
          estimate(utilization),
          estimate(response_ratio),
          estimate(completion),
          estimate(kills)};
}

// A contender's figure, averaged over the sizes.
double over_sizes(const std::vector<GraceRow>& rows, std::size_t contender, Estimate GraceRow::* figure) {
  double sum = 0;
  double count = 0;
  for (const GraceRow& r : rows) {
    if (r.policy != kContenders[contender].label || (r.*figure).count == 0) continue;
    sum += (r.*figure).mean;
    ++count;
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

std::vector<GraceCell> cells_of(const std::vector<GraceRow>& rows) {
  const auto completion = [&](std::size_t c) { return 100 * over_sizes(rows, c, &GraceRow::completion); };
  // How much more the first has of a figure than the second, in per cent.
  const auto more = [&](std::size_t a, std::size_t b, Estimate GraceRow::* figure) {
    return 100 * (over_sizes(rows, a, figure) / over_sizes(rows, b, figure) - 1);
  };
  constexpr double kAny = std::numeric_limits<double>::max();
  constexpr double kAbove = 1e-9;
  const double strict = completion(kStrict);
  return {
      {"completion of backfills, strict, %", strict, 77, 83, "79.7"},
      {"completion of backfills, rb-har, %", completion(kRbHar), 88.5, 94.5, "93"},
      {"gain of rb-har over strict, points", completion(kRbHar) - strict, 9, 15, "13.29"},
      {"gain of the literal reading, points", completion(kLiteral) - strict, -kAny, 2, ""},
      {"completion of backfills, grace, %", completion(kGrace), 93, 100, ""},
      {"completion, strict with exact estimates, %", completion(kExact), 100, 100, ""},
      {"makespan, rb-har against strict, %", more(kRbHar, kStrict, &GraceRow::makespan), -kAny, 0, "slightly above"},
      {"makespan, fcfs against strict, %", more(kFcfs, kStrict, &GraceRow::makespan), kAbove, kAny, "clearly above"},
      {"response ratio, rb-har against strict, %", more(kRbHar, kStrict, &GraceRow::response_ratio), -kAny, 0, ""},
      {"response ratio, fcfs against strict, %", more(kFcfs, kStrict, &GraceRow::response_ratio), kAbove, kAny,
       "above"},
  };
}

// Student's t for 95 %, two-sided, from the normal quantile (Cornish and Fisher's expansion).
double students_t(double freedom) {
  constexpr double z = 1.959964;
  constexpr double z3 = z * z * z;
  constexpr double z5 = z3 * z * z;
  constexpr double z7 = z5 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

}  // namespace

Estimate estimate(const std::vector<double>& values) {
  Estimate e;
  e.count = static_cast<std::int64_t>(values.size());
  if (values.empty()) return e;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) e.mean += v;
  e.mean /= n;
  if (values.size() < 2) return e;
  double squares = 0;
  for (const double v : values) squares += (v - e.mean) * (v - e.mean);
  e.margin = students_t(n - 1) * std::sqrt(squares / (n - 1) / n);
  return e;
}

Result<GraceFindings> study_grace(const GraceStudy& study) {
  const auto policies = chains();
  if (!policies) return std::unexpected(policies.error());
  const auto summaries = rehearse_all(study, *policies);
  if (!summaries) return std::unexpected(summaries.error());
  const auto seeds = static_cast<std::size_t>(study.seeds);
  GraceFindings findings;
  for (std::size_t size = 0; size < study.sizes.size(); ++size) {
    for (std::size_t c = 0; c < kContenders.size(); ++c) {
      findings.rows.push_back(row_of(study.sizes[size], c, *summaries, size * seeds, seeds));
    }
  }
  findings.cells = cells_of(findings.rows);
  return findings;
}

}  // namespace rota::cli
