// A case of Wang et al. (2018), second scheduling by CPU factor: what is rehearsed, and the files and the command with
// which `rota simulate` does it again.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "study/study.h"

namespace rota::study {

// Seeds of the streams, and how many of them.
struct MigrationStudy {
  std::int64_t seeds = 5;  // streams of each kind; >= 1
  std::int64_t first_seed = 0;
};

// Two hosts of equally many job slots, and what runs there: as many copies of a job as there are slots, a stream of
// random jobs, or jobs one after another, each of which finds the fast host taken.
struct MigrationCase {
  std::string name;
  std::int32_t ratio = 2000;  // per mille: CPU factor of the fast host; the slow one has 1
  std::uint32_t slots = 4;    // of each host
  std::int64_t slow = 0;      // minutes that a job runs on the slow host; 0: a stream of random jobs
  double load = 0;            // of the stream
  std::int64_t cost = 0;      // of a move, minutes
  Restart restart = Restart::checkpoint;
  double error = 0;        // of a stream's limits: the deviation of the logarithm of limit over run time; 0: exact
  std::int64_t taken = 0;  // minutes for which another job has the fast host first; 0: copies or a stream. Slots: 1
  std::int64_t times = 1;  // jobs one after another, each of which finds the fast host taken for so long
  std::int64_t last = 0;   // minutes of one more such job, behind them; 0: there is none
};

// What one policy makes of a case.
struct MigrationTotals {
  double minutes = 0;  // all jobs together held a slot, and so a licence each; without those for which it is taken
  double moves = 0;
  double worst = 0;  // of the seeds of a stream: the greatest change against no migration, per cent
};

// `knobs` as in "+migrate=gain"; empty: no moves.
Result<MigrationTotals> migrate_case(const MigrationCase& setting, const std::string& knobs, std::int64_t seed);

inline constexpr std::int64_t kStreamJobs = 250;

std::int64_t seeds_of(const MigrationCase& setting, const MigrationStudy& study);  // 1 where nothing is drawn

std::string command_of(const MigrationCase& setting, const MigrationStudy& study,
                       std::initializer_list<std::string> all_knobs);
// That the commands name.
std::vector<StudyFile> files_of(const std::vector<MigrationCase>& cases, const MigrationStudy& study);

}  // namespace rota::study
