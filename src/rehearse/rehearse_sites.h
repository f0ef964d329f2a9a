// One policy over one workload on several sites: each with its own controller and simulated cluster, and the rule by
// which jobs find a site (policy/auction/auction_knobs.h).
#pragma once

#include "rehearse/rehearse.h"

namespace rota {

// options.machine has sites; which jobs come to which of them is said in rehearse/site_streams.h. For one site the
// result is what rehearse() makes of that site's machine, to the letter.
Result<Rehearsed> rehearse_sites(const log::Workload& workload, const Chain& chain, const RehearseOptions& options);

}  // namespace rota
