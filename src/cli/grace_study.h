// The comparison of Li and Lei, "An RB_HAR strategy that improves cluster backfill scheduling" (2018), made again:
// their job mix on 16 processors, several readings of the rule, many seeds, and how the figures compare with the
// paper's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace rota::cli {

struct GraceStudy {
  std::int64_t seeds = 30;                               // rehearsals of each size and policy; >= 2
  std::vector<std::int64_t> sizes{100, 300, 500, 1000};  // jobs; >= 1 each
  std::size_t threads = 1;
};

// A mean over the seeds with its 95 % confidence interval, mean - margin .. mean + margin.
struct Estimate {
  double mean = 0;
  double margin = 0;
  std::int64_t count = 0;  // 0: nothing to average, as the completion of backfills where nobody backfills
};

Estimate estimate(const std::vector<double>& values);

struct GraceRow {
  std::int64_t jobs = 0;
  std::string policy;
  Estimate makespan;     // seconds
  Estimate utilization;  // share
  Estimate response_ratio;
  Estimate completion;  // share of backfilled starts that were not killed
  Estimate kills;
};

// One thing that must come out, as a mean over the sizes.
struct GraceCell {
  std::string claim;
  double found = 0;
  double low = 0;
  double high = 0;
  std::string paper;  // what the paper says; may be empty
  bool ok() const { return found >= low && found <= high; }
};

struct GraceFindings {
  std::vector<GraceRow> rows;  // by size, then policy
  std::vector<GraceCell> cells;
};

Result<GraceFindings> study_grace(const GraceStudy& study);

}  // namespace rota::cli
