// The part of a cluster file that says what is reserved.
#pragma once

#include "base/result.h"
#include "model/machine.h"
#include "site/cluster_build.h"

namespace rota::site {

// Puts the [[reservations]] into the machine, which has its nodes already. Fails with "FILE:LINE: ..." on the first
// that cannot be kept.
Result<void> add_reservations(const ClusterDraft& draft, Machine& machine);

}  // namespace rota::site
