// Other policies with a site's own priorities: "easy+priority=multifactor+weight-age=1000" backfills as EASY does, at
// every event, and whose turn it is goes by Slurm's sum of factors. So it can be seen what another backfill gains while
// the order that the site has agreed upon stays as it is.
#pragma once

#include <string_view>

namespace rota {

// What a policy stands for then; "": it has an order of its own, which does not go with that.
//
// It is Slurm's planner, which knows the factors, with passes as close together as events (a second apart), every job
// looked at, and as many reservations as the policy makes promises. They are no promises, as under policy slurm.
std::string_view in_order_of_site(std::string_view policy);

}  // namespace rota
