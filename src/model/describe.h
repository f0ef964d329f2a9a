// Nodes that come, change and go while a cluster is in use: the machine is a part of the state, and facts change it. An
// id stands for a name for ever; a node that has gone keeps both, with no processors.
#pragma once

#include <optional>
#include <string>

#include "model/fact.h"

namespace rota {

// Why that cannot be, as a sentence; nothing if it can. O(nodes)
std::optional<std::string> objection_to(const Machine& machine, const Described& fact);

// Puts the node in its place, and the sums over nodes right. O(nodes)
void describe(Machine& machine, const Described& fact);

// All nodes at once. O(nodes log nodes) and O(nodes)
std::optional<std::string> objection_to(const Machine& machine, const MachineKept& fact);
void describe(Machine& machine, const MachineKept& fact);

}  // namespace rota
