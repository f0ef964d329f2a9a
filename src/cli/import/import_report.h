// What an import made of what it read: for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/import/import_unfit.h"
#include "log/sacct.h"
#include "site/slurm_cluster.h"

namespace rota::cli {

struct ImportAccount {
  const site::SlurmCluster& cluster;
  const log::SacctLog& log;
  std::vector<std::string> told;     // what its options had it do
  std::vector<std::string> guessed;  // of cluster and workload
  std::vector<UnfitJobs> unfit;      // jobs that are kept, and that a rehearsal rejects
  std::string next;                  // the command that rehearses it, in the folder

  // Rows that were read are jobs and rows that became none; false: Rota has lost some.
  bool adds_up() const { return log.report.rows == log.report.kept + log.report.dropped(); }
};

// Where a line of all exports together stands: the lines of an export follow those of the one before.
struct ExportPlace {
  std::string file;
  std::int64_t line;
};
ExportPlace place_of(const log::SacctLog& log, std::int64_t line);

// Seconds since 1970 as "2024-03-01T12:00:00Z".
std::string utc(std::int64_t seconds);

// Equal imports give equal texts: no path, no time of today. The caller that shows the text adds what comes next.
std::string report_text(const ImportAccount& account);
std::string report_json(const ImportAccount& account);

}  // namespace rota::cli
