// The part of a cluster file that says what is reserved.
#pragma once

#include <vector>

#include "site/cluster_build.h"

namespace rota::site {

// The [[reservations]] whose times are dates, or those that count from second 0 of a log, for a machine that has its
// nodes already. A date is told as a time after the Unix epoch. Fails with "FILE:LINE: ..." on the first that is wrong.
Result<std::vector<Reservation>> reservations_of(const ClusterDraft& draft, const Machine& machine, bool dated);

}  // namespace rota::site
