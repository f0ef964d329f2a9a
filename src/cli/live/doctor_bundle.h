// All that helps to find out at a distance what is wrong with a service, as one text: what it says of itself, and where
// it watches Slurm, what Slurm says of its version, its settings and the rights of this user, and what a reading costs
// it.
#pragma once

#include <string>

#include "cli/live/service.h"

namespace rota::cli {

// `found`: what `rota doctor` has found, for people. Lines of configurations that name a secret, a password, a token or
// a key are left out; names of users and jobs are not. Waits for a reading of Slurm, two minutes at most.
std::string doctor_bundle(const ServiceFlags& flags, const std::string& found);

}  // namespace rota::cli
