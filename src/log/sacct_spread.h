// On how many nodes jobs of sacct may go, where the log does not say it of each: by what it says of the others.
#pragma once

#include <vector>

#include "log/sacct_dispatches.h"
#include "log/swf.h"
#include "model/machine.h"

namespace rota::log {

// What the jobs are to run on.
void suit_to(const Machine& machine, SwfOptions& options);

// Changes nodes, memory and `spread` of jobs that asked for one node at least, as all jobs do that do not say how many:
//   * one that got several may go on any number;
//   * so may one that got a single one (`guessed`), where others of the same user that asked for as many processors got
//     several, and nothing says that it needs one;
//   * but where memory goes by processors and can be short, the first stays on as many as it had (`kept`), for a
//   cluster
//     file knows memory of nodes only, and the second on one. It cannot be short if no job has more beside each of its
//     processors than every node has: then it needs not be looked at, and node_memory becomes 0.
// O(jobs log jobs)
void settle_spread(std::vector<SacctRow>& jobs, const SwfOptions& options);

}  // namespace rota::log
