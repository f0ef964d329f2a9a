// What is reserved, as the jobs that wait see it.
#pragma once

#include "model/cluster.h"

namespace rota::serve {

// The first reservation that a job would run into if it started now; nullptr: there is none in reach. O(reservations)
const Reservation* first_reserved_for(const View& view, const Job& job);

}  // namespace rota::serve
