// One policy over one workload on several sites: each with its own controller and simulated cluster, and the rule by
// which jobs find a site (policy/auction_knobs.h).
#pragma once

#include "cli/rehearse.h"

namespace rota::cli {

// options.machine has sites; who comes from which is said in cli/site_streams.h. Of one site it is what rehearse()
// makes of that site's machine, to the letter.
Result<Rehearsed> rehearse_sites(const trace::Workload& workload, const Chain& chain, const RehearseOptions& options);

}  // namespace rota::cli
