// Makes a case that fails smaller: what it fails without is left out, until nothing more can be.
#pragma once

#include "swarm/case.h"

namespace rota::swarm {

// Whether a case fails; in a process of its own, so that a CHECK is a failure like any other.
bool fails(const Case& drawn);
Case shrunk(Case drawn);

}  // namespace rota::swarm
