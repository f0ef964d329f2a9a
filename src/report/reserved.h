// What was reserved on the cluster of a rehearsal, in words: times in which nodes are given to no job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/machine.h"

namespace rota::report {

// One sentence without its end for each: "n1 to n4 (4 nodes, 32 processors) from ... to ...". Where there are several
// sites, those of all, with their names. Nodes of one reservation beyond the first and the last are counted, not
// listed.
std::vector<std::string> reservations_of(const Machine& machine, std::int64_t unix_start);

// All of them as a sentence; "" where nothing is reserved.
std::string reserved_text(const std::vector<std::string>& reserved);

}  // namespace rota::report
