// On how many nodes jobs of sacct may go, where the log does not say it of each: by what it says of the others.
#pragma once

#include <vector>

#include "log/sacct_dispatches.h"
#include "log/swf.h"

namespace rota::log {

// Changes nodes, memory and `spread` of jobs that asked for one node at least, as all do who do not say how many:
//   * one that got several may go on any number;
//   * so may one that got a single one (`guessed`), where others of the same user with as many processors got several;
//   * but where memory goes by processors and can be short, the first stays on as many as it had (`kept`), for a
//   cluster
//     file knows memory of nodes only, and the second on one. It cannot be short if no job has more beside each of its
//     processors than every node has: then it needs not be looked at, and node_memory becomes 0.
// O(jobs log jobs)
void settle_spread(std::vector<SacctRow>& jobs, const SwfOptions& options);

}  // namespace rota::log
