// How many jobs of a log each rule of Slurm touches that a rehearsal does not have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "log/sacct.h"
#include "site/slurm_cluster.h"

namespace rota::cli {

// Jobs of the QOS, accounts, users and partitions that SlurmCluster::left_out_of names, by what is left out of them;
// both with real names. What is of none of these is not there.
std::map<std::string, std::int64_t> touched_jobs(const site::SlurmCluster& cluster, const log::SacctLog& log);

// Puts that behind the sentences that it belongs to.
void tell_touched(const std::map<std::string, std::int64_t>& touched, std::vector<std::string>& sentences);

}  // namespace rota::cli
