// Asks a running Slurm cluster for what an import reads, with the same commands that an administrator would save.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "site/slurm_cluster.h"

namespace rota::cli {

// One command, and the file that its output is saved in.
struct SlurmCommand {
  std::string file;
  std::vector<std::string> words;
  site::SlurmText::File site::SlurmText::* of_cluster = nullptr;  // what it tells of the cluster; nullptr: of its jobs
  bool may_be_missing = false;
};

// All that `rota import slurm` wants. since and until are sacct's own, such as 2024-01-01 or now-30days.
std::vector<SlurmCommand> slurm_commands(const std::string& since, const std::string& until);

// As one would type them, to save the files in a folder; for help and documents.
std::string typed_commands(const std::string& folder, const std::string& since, const std::string& until);

// Runs them one after the other in UTC, each into its file in the folder. What they say on standard error is shown.
// Where one fails whose file may be missing, it is. Of a Slurm that knows it, SubmitLine is asked for, too.
Result<void> ask_slurm(const std::string& folder, const std::string& since, const std::string& until);

// Likewise, of what tells of the cluster and not of its jobs.
Result<void> ask_slurm_of_cluster(const std::string& folder);

// What is wrong with what they printed. The folder that it stands in moves to a fresh one, whose name begins with
// `beside`, so that a busy Slurm need not be asked twice; the sentence says where that is.
Error kept_what_was_asked(const Error& error, const std::string& folder, const std::string& beside);

}  // namespace rota::cli
