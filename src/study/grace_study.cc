#include "study/grace_study.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <sstream>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "base/in_parallel.h"
#include "base/text.h"
#include "generate/hpl_mix.h"
#include "rehearse/rehearse.h"
#include "report/formatted.h"
#include "study/inputs.h"

namespace rota::study {
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
constexpr std::size_t kFcfs = 0;  // places in kContenders
constexpr std::size_t kStrict = 1;
constexpr std::size_t kRbHar = 2;
constexpr std::size_t kLiteral = 3;
constexpr std::size_t kGrace = 4;
constexpr std::size_t kExact = 6;

using Chains = std::vector<Chain>;
using Summaries = std::array<report::Summary, kContenders.size()>;

Result<Chains> chains() {
  Chains all;
  for (const Contender& c : kContenders) {
    auto chain = TRY(Chain::parse(c.policy));
    all.push_back(std::move(chain));
  }
  return all;
}

Result<generate::Recipe> recipe_of(std::int64_t jobs, std::int64_t seed) {
  generate::HplMix mix;
  mix.jobs = jobs;
  mix.seed = seed;
  return mix.recipe();
}

// Every contender on the workload of one size and seed.
Result<Summaries> rehearse_one(std::int64_t jobs, std::int64_t seed, const Chains& policies) {
  const auto recipe = TRY(recipe_of(jobs, seed));
  const log::Workload workload = generate::generate(recipe);
  Summaries summaries;
  for (std::size_t c = 0; c < kContenders.size(); ++c) {
    RehearseOptions options;
    options.processors = workload.processors;
    options.exact_estimates = kContenders[c].exact_estimates;
    auto rehearsed = TRY(rehearse(workload, policies[c], options));
    summaries[c] = std::move(rehearsed.summary);
  }
  return summaries;
}

// In order of size, then seed; on several cores.
Result<std::vector<Summaries>> rehearse_all(const GraceStudy& study, const Chains& policies) {
  const auto seeds = static_cast<std::size_t>(study.seeds);
  std::vector<Result<Summaries>> results(study.sizes.size() * seeds);
  in_parallel(results.size(), study.threads, [&](std::size_t i) {
    results[i] =
        rehearse_one(study.sizes[i / seeds], study.first_seed + static_cast<std::int64_t>(i % seeds), policies);
  });
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
          report::mean_of(makespan),
          report::mean_of(utilization),
          report::mean_of(response_ratio),
          report::mean_of(completion),
          report::mean_of(kills)};
}

// A contender's figure, averaged over the sizes.
double over_sizes(const std::vector<GraceRow>& rows, std::size_t contender, report::Mean GraceRow::* figure) {
  double sum = 0;
  double count = 0;
  for (const GraceRow& r : rows) {
    if (r.policy != kContenders[contender].label || (r.*figure).count == 0) continue;
    sum += (r.*figure).mean;
    ++count;
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

std::string file_of(std::int64_t jobs) { return fmt::format("hpl-mix-{}.swf", jobs); }

// The stream of the first seed of each size: the others are drawn by the command in its header.
std::vector<StudyFile> files_of(const std::vector<std::int64_t>& sizes) {
  std::vector<StudyFile> files;
  for (const std::int64_t jobs : sizes) {
    const auto recipe = recipe_of(jobs, 0);
    CHECK(recipe.has_value(), "the study has rehearsed it");
    std::ostringstream text;
    generate::write_generated(text, *recipe);
    files.push_back({file_of(jobs), std::move(text).str()});
  }
  return files;
}

// On the streams of these sizes.
std::string command_of(const std::vector<std::int64_t>& sizes, const GraceStudy& study,
                       const std::vector<std::size_t>& contenders) {
  std::vector<std::string> files;
  for (const std::int64_t jobs : sizes) files.push_back(file_of(jobs));
  std::vector<std::string> policies;
  std::string options = fmt::format("--seeds {}-{}", study.first_seed, study.first_seed + study.seeds - 1);
  for (const std::size_t c : contenders) {
    policies.emplace_back(kContenders[c].policy);
    if (kContenders[c].exact_estimates) options += " --estimates exact";
  }
  return simulate_command(files, options, policies);
}

// How the cells of cells_of are made again, in their order.
void add_commands(std::vector<report::Cell>& cells, const GraceStudy& study) {
  constexpr const char* kKept = "100 x mean over the workloads of the interval `backfill: kept`";
  constexpr const char* kKeptMore =
      "100 x mean over the workloads of the interval `backfill: kept` of the second policy, less that of the first";
  constexpr const char* kSpan = "in per cent, mean over the workloads of the interval `makespan`, first against second";
  constexpr const char* kRatio =
      "in per cent, mean over the workloads of the interval `times slower than alone: response`, first against second";
  constexpr const char* kUsedMore =
      "100 x mean over the workloads of the interval `used` of the second policy, less that of the first";
  const std::vector<std::pair<std::vector<std::size_t>, const char*>> how{{{kStrict}, kKept},
                                                                          {{kRbHar}, kKept},
                                                                          {{kStrict, kRbHar}, kKeptMore},
                                                                          {{kStrict, kLiteral}, kKeptMore},
                                                                          {{kGrace}, kKept},
                                                                          {{kExact}, kKept},
                                                                          {{kRbHar, kStrict}, kSpan},
                                                                          {{kFcfs, kStrict}, kSpan},
                                                                          {{kFcfs, kStrict}, kUsedMore},
                                                                          {{kFcfs, kRbHar}, kUsedMore},
                                                                          {{kRbHar, kStrict}, kRatio},
                                                                          {{kFcfs, kStrict}, kRatio}};
  CHECK(how.size() == cells.size(), "each cell is made again somehow");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = by_command(std::move(cells[i]), command_of(study.sizes, study, how[i].first), how[i].second);
  }
}

std::vector<report::Cell> cells_of(const std::vector<GraceRow>& rows) {
  const auto completion = [&](std::size_t c) { return 100 * over_sizes(rows, c, &GraceRow::completion); };
  // How much more the first has of a figure than the second, in per cent.
  const auto more = [&](std::size_t a, std::size_t b, report::Mean GraceRow::* figure) {
    return 100 * (over_sizes(rows, a, figure) / over_sizes(rows, b, figure) - 1);
  };
  using report::kAny;
  constexpr double kAbove = 1e-9;
  const auto used = [&](std::size_t c) { return 100 * over_sizes(rows, c, &GraceRow::utilization); };
  const double strict = completion(kStrict);
  return {
      {"completion of backfills, strict, %", strict, 77, 83, "79.7"},
      {"completion of backfills, rb-har, %", completion(kRbHar), 88.5, 94.5, "93"},
      {"gain of rb-har over strict, points", completion(kRbHar) - strict, 9, 15, "13.29"},
      {"gain of the literal reading, points", completion(kLiteral) - strict, -kAny, 2, ""},
      {"completion of backfills, grace, %", completion(kGrace), 93, 100, ""},
      {"completion, strict with exact estimates, %", completion(kExact), 100, 100, ""},
      {"makespan, rb-har against strict, %",
       more(kRbHar, kStrict, &GraceRow::makespan),
       -kAny,
       0,
       "slightly above",
       {}},
      {"makespan, fcfs against strict, %",
       more(kFcfs, kStrict, &GraceRow::makespan),
       kAbove,
       kAny,
       "clearly above",
       {}},
      {"utilization, strict above fcfs, points", used(kStrict) - used(kFcfs), kAbove, kAny, "clearly above", {}},
      {"utilization, rb-har above fcfs, points", used(kRbHar) - used(kFcfs), kAbove, kAny, "clearly above", {}},
      {"response ratio, rb-har against strict, %", more(kRbHar, kStrict, &GraceRow::response_ratio), -kAny, 0, ""},
      {"response ratio, fcfs against strict, %",
       more(kFcfs, kStrict, &GraceRow::response_ratio),
       kAbove,
       kAny,
       "above",
       {}},
  };
}

std::string line_of(const GraceRow& row) {
  using report::with_margin;
  return fmt::format(
      "{}{}{}{}{}{}\n", report::formatted("%5lld  %-24s", static_cast<long long>(row.jobs), row.policy.c_str()),
      with_margin(row.makespan, 0), with_margin(row.utilization, 1, 100), with_margin(row.response_ratio, 2),
      with_margin(row.completion, 1, 100), with_margin(row.kills, 1));
}

std::string table_of(const std::vector<GraceRow>& rows, std::int64_t seeds) {
  std::string out =
      fmt::format("Linpack mix on 16 processors, means over {} seeds with 95 % confidence intervals\n", grouped(seeds));
  out += report::formatted("%5s  %-24s%15s%15s%15s%15s%15s\n", "jobs", "policy", "makespan s", "utilization %",
                           "response ratio", "completion %", "kills");
  for (const GraceRow& row : rows) out += line_of(row);
  return out;
}

std::size_t contender_of(const GraceRow& row) {
  const auto* const found = std::ranges::find(kContenders, row.policy, &Contender::label);
  return static_cast<std::size_t>(found - kContenders.begin());
}

std::string json_of(const std::vector<GraceRow>& rows, const GraceStudy& study) {
  using report::mean_json;
  std::string out = report::formatted("\"seeds\": %lld,\n  \"rows\": [", static_cast<long long>(study.seeds));
  const char* separator = "\n";
  for (const GraceRow& r : rows) {
    out += separator +
           report::formatted(R"(    {"jobs": %lld, "policy": "%s", "makespan_s": )", static_cast<long long>(r.jobs),
                             r.policy.c_str()) +
           mean_json(r.makespan) + R"(, "utilization": )" + mean_json(r.utilization) + R"(, "response_ratio": )" +
           mean_json(r.response_ratio) + R"(, "backfill_completion": )" + mean_json(r.completion) + R"(, "killed": )" +
           mean_json(r.kills) + R"(, "command": ")" + command_of({r.jobs}, study, {contender_of(r)}) + "\"}";
    separator = ",\n";
  }
  return out + "\n  ]";
}

// The paper's figures: each measure over the number of jobs, a line for each policy.
std::vector<report::Plot> plots_of(const std::vector<GraceRow>& rows) {
  struct Measure {
    const char* name;
    report::Mean GraceRow::* figure;
    double scale;
  };
  constexpr std::array<Measure, 4> kMeasures{{{"makespan, s", &GraceRow::makespan, 1},
                                              {"utilization, %", &GraceRow::utilization, 100},
                                              {"response ratio", &GraceRow::response_ratio, 1},
                                              {"completion of backfills, %", &GraceRow::completion, 100}}};
  std::vector<report::Plot> plots;
  for (const Measure& measure : kMeasures) {
    report::Plot plot{std::string("Linpack mix: ") + measure.name, "jobs", measure.name, {}};
    for (const std::size_t c : {kFcfs, kStrict, kRbHar, kGrace}) {
      report::Plot::Line line{std::string(kContenders[c].label), {}};
      for (const GraceRow& row : rows) {
        const report::Mean& mean = row.*measure.figure;
        if (row.policy != line.name || mean.count == 0) continue;
        line.points.emplace_back(static_cast<double>(row.jobs), mean.mean * measure.scale);
      }
      plot.lines.push_back(std::move(line));
    }
    plots.push_back(std::move(plot));
  }
  return plots;
}

}  // namespace

Result<GraceFindings> study_grace(const GraceStudy& study) {
  const auto policies = TRY(chains());
  const auto summaries = TRY(rehearse_all(study, policies));
  const auto seeds = static_cast<std::size_t>(study.seeds);
  GraceFindings findings;
  for (std::size_t size = 0; size < study.sizes.size(); ++size) {
    for (std::size_t c = 0; c < kContenders.size(); ++c) {
      findings.rows.push_back(row_of(study.sizes[size], c, summaries, size * seeds, seeds));
    }
  }
  findings.cells = cells_of(findings.rows);
  add_commands(findings.cells, study);
  return findings;
}

Study grace_study() {
  auto study = std::make_shared<GraceStudy>();
  study->threads = std::max(1U, std::thread::hardware_concurrency());
  return {"grace",
          "RB_HAR: backfilled jobs that overrun go on when that harms no other job (Li and Lei 2018)",
          {{"--seeds", "workloads of each size: how many, with seeds from 0 on, or the first and the last seed",
            SeedsChosen{&study->seeds, &study->first_seed}, 2, 100'000, "N|FIRST-LAST"},
           {"--sizes", "jobs of a workload, separated by commas", &study->sizes, 1, 1'000'000, "N[,N...]"}},
          [study]() -> Result<Findings> {
            auto found = TRY(study_grace(*study));
            return Findings{table_of(found.rows, study->seeds),
                            json_of(found.rows, *study),
                            "mean over the sizes",
                            std::move(found.cells),
                            plots_of(found.rows),
                            [sizes = study->sizes] { return files_of(sizes); }};
          }};
}

}  // namespace rota::study
