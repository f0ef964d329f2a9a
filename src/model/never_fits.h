// Whether a machine could run a job at all, if nothing else ran there.
#pragma once

#include <optional>
#include <string>

#include "model/job.h"
#include "model/machine.h"

namespace rota {

// Why it never can, as half a sentence ("asks for 96 nodes; partition batch allows 64"); nothing if it can. Counted
// machines too.
std::optional<std::string> never_fits(const Machine& machine, const JobSpec& spec);

}  // namespace rota
