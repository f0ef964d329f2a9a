// From what Slurm's scontrol prints of a running cluster to a cluster file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "site/made_up_names.h"
#include "site/slurm_records.h"

namespace rota::site {

// What `scontrol show config`, `show node`, `show partition` and `show lic` printed, in the long form or in that of -o.
struct SlurmText {
  struct File {
    std::string shown;  // for messages
    std::string text;
  };
  File config, nodes, partitions;
  File licences;                     // may be empty, as may
  File qos = {}, associations = {};  // what `sacctmgr -P show qos` and `show assoc` printed (site/slurm_shares.h)
  File reservations = {};            // likewise `show reservation` (site/slurm_reservations.h)
};

struct SlurmCluster {
  std::string toml;                   // the cluster file
  Machine machine;                    // what that file describes
  SlurmConfig config;                 // as it was printed
  std::vector<std::string> left_out;  // what Slurm says and a cluster file cannot, for people
  // The real names of those that each of these is about, by what it says before them.
  std::map<std::string, std::vector<std::string>> left_out_of = {};
  bool gpus_unaccounted = false;     // sacct tells of no job which of the nodes' GPUs it had
  std::vector<std::string> guessed;  // what was not told, or only of the moment, and how it is taken
};

// Equal texts give equal files. Errors name the file and what is wrong in it. With `names` the cluster is called
// "cluster", and its nodes, partitions, licences, QOS, accounts and users have made-up names; what was left out and
// guessed then names none of them.
Result<SlurmCluster> cluster_of_slurm(const SlurmText& text, MadeUpNames* names = nullptr);

}  // namespace rota::site
