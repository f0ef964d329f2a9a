// Makes a case that fails smaller: what it fails without is left out, until nothing more can be.
#pragma once

#include <string>

#include "swarm/federation_case.h"

namespace rota::swarm {

// How a case fails, without its numbers; empty: it does not. In a process of its own, so that a CHECK is a failure like
// any other.
std::string failure_of(const Case& drawn);
std::string failure_of(const FederationCase& drawn);
// Fails in the same way.
Case shrunk(Case drawn);
FederationCase shrunk(FederationCase drawn);

}  // namespace rota::swarm
