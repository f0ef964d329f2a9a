// Advice that a site with Slurm can carry out: what its slurm.conf would have to say, and which policies it cannot be
// set to at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "report/metrics.h"

namespace rota::report {

// Which settings of slurm.conf make jobs wait less than what the site has now, the best first, each with its lines; of
// the rows at these places. None where the site has no Slurm, or what it has now is not among the rows.
std::vector<std::string> changes_in_slurm(const std::vector<std::size_t>& ran, std::span<const Summary> all);

// Where the site has Slurm, and what is chosen is no setting of it; else "".
std::string beyond_slurm(const std::vector<std::size_t>& chosen, const std::vector<std::size_t>& ran,
                         std::span<const Summary> all);

}  // namespace rota::report
