// The cases of Wang et al. (2018), second scheduling by CPU factor, made again: eight copies of a job on a fast and a
// slow host, and a stream of jobs on both, without migration, under the published rule and under a rule by gain.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "study/migration_case.h"
#include "study/study.h"

namespace rota::study {

struct MigrationRow {
  MigrationCase setting;
  MigrationTotals none, published, gain;
  std::string command;  // that makes them again, in this order
};

struct MigrationFindings {
  std::vector<MigrationRow> rows;
  std::vector<report::Cell> cells;
  std::vector<report::Plot> plots;
  std::vector<MigrationCase> used;  // in the cells' commands
};

Result<MigrationFindings> study_migration(const MigrationStudy& study);

Study migration_study();  // as a subcommand

}  // namespace rota::study
