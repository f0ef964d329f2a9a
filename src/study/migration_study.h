// The cases of Wang et al. (2018), second scheduling by CPU factor, made again: eight copies of a job on a fast and a
// slow host, and a stream of jobs on both, without migration, under the published rule and under a rule by gain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "study/study.h"

namespace rota::study {

// Two hosts of equally many job slots.
struct MigrationCase {
  std::string name;
  std::int32_t ratio = 2000;  // per mille: CPU factor of the fast host; the slow one has 1
  std::uint32_t slots = 4;    // of each host
  std::int64_t slow = 0;      // minutes that a job runs on the slow host; 0: a stream of random jobs
  double load = 0;            // of the stream
  std::int64_t cost = 0;      // of a move, minutes
  Restart restart = Restart::checkpoint;
  double error = 0;  // of a stream's limits: the deviation of the logarithm of limit over run time; 0: exact
};

// What one policy makes of a case.
struct MigrationTotals {
  double minutes = 0;  // all jobs together held a slot, and so a licence each
  double moves = 0;
  double worst = 0;  // of the seeds of a stream: the greatest change against no migration, per cent
};

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

struct MigrationStudy {
  std::int64_t seeds = 5;  // streams of each kind; >= 1
  std::int64_t first_seed = 0;
};

Result<MigrationTotals> migrate_case(const MigrationCase& setting, const std::string& knobs, std::int64_t seed);
Result<MigrationFindings> study_migration(const MigrationStudy& study);

Study migration_study();  // as a subcommand

}  // namespace rota::study
