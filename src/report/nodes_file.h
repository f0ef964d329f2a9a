// What each node did and drew, as a file for other programs. Write errors are left in the stream's state.
#pragma once

#include <iosfwd>

#include "report/outcome.h"

namespace rota::report {

// node,processors,work_s,idle_s,off_s,cycles: times in processor-seconds; cycles counts how often it was sent to sleep.
// Then site with several sites, energy_j where the cluster file tells watts, and cost where it tells a price too. The
// rows add up to the table's figures.
void write_nodes_csv(std::ostream& out, const Outcome& outcome);

}  // namespace rota::report
