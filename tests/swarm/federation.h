// Runs one federation of the swarm: sites with controllers that crash, between them one exchange behind a bad network;
// faults for a while, then everything is healed, and then every job must end somewhere and nothing be left behind.
#pragma once

#include "swarm/federation_case.h"
#include "swarm/outcome.h"

namespace rota::swarm {

RunOutcome run_case(const FederationCase& drawn);

}  // namespace rota::swarm
