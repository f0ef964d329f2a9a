// Where Slurm puts a job that asks for processors and for no nodes, or for one: select/cons_tres without a topology.
#pragma once

#include <vector>

#include "model/machine.h"
#include "plan/node_room.h"

namespace rota {

// Nodes in a row, in file order, of one weight, each of which has a processor for the job, are a block. Those of the
// least weight come first, and among these the job goes to the block with
// the fewest processors that has enough, or else to the one with the most, and with what is left on to another. Within
// a block it goes to the one node with the fewest processors that has enough for all that is left, or else fills the
// nodes in their order. The first of equal ones is taken. False: the job does not fit. O(nodes + blocks log blocks)
bool find_consecutive(const NodeRoom& room, const std::vector<Node>& nodes, const JobSpec& spec, Placement& where);

}  // namespace rota
