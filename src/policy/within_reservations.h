// Jobs that wait for a reservation start on its nodes while it lasts, whatever the policy is for all others: by
// priority, then by arrival; the first that has no room there is waited for, if it could ever have some. A job that
// would not be over with the reservation, as far as is expected of it, is passed over (under policy slurm only where
// another one follows): once that is over, it waits like all others. So is one over a limit, under a policy that keeps
// to limits when it starts jobs. Cost: O(nodes + jobs that wait so) a cycle for each reservation that lasts, while
// there are such jobs.
#pragma once

#include "plan/plan.h"

namespace rota {

// False: they take licences, or count under limits, and no policy looks for these among what a draft has started before
// it: it is asked once they run, at the same instant.
bool start_within_reservations(const View& view, Plan& plan);

}  // namespace rota
