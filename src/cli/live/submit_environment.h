// The environment that a job is submitted with.
#pragma once

#include <string>
#include <vector>

#include "cli/live/submit_request.h"

namespace rota::cli {

// NAME=VALUE, as --export asks, and in variables of Rota's what the service is asked to say beside that: in Slurm's
// words (docs/api.md), or in those of PBS.
std::vector<std::string> job_environment(const SubmitValues& values, const Surroundings& here,
                                         std::vector<std::string>& remarks);

}  // namespace rota::cli
