// The comparison of Li and Lei, "An RB_HAR strategy that improves cluster backfill scheduling" (2018), made again:
// their job mix on 16 processors, several readings of the rule, many seeds, and how the figures compare with the
// paper's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/mean.h"
#include "study/study.h"

namespace rota::study {

struct GraceStudy {
  std::int64_t seeds = 30;  // rehearsals of each size and policy; >= 2
  std::int64_t first_seed = 0;
  std::vector<std::int64_t> sizes{100, 300, 500, 1000};  // jobs; >= 1 each
  std::size_t threads = 1;
};

struct GraceRow {
  std::int64_t jobs = 0;
  std::string policy;
  report::Mean makespan;     // seconds
  report::Mean utilization;  // share
  report::Mean response_ratio;
  report::Mean completion;  // share of backfilled starts that were not killed
  report::Mean kills;
};

struct GraceFindings {
  std::vector<GraceRow> rows;       // by size, then policy
  std::vector<report::Cell> cells;  // means over the sizes
};

Result<GraceFindings> study_grace(const GraceStudy& study);

Study grace_study();  // as a subcommand

}  // namespace rota::study
