// Which accelerators a job holds, by the numbers that their drivers and so its programs know them by.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/machine.h"

namespace rota::serve {

using HeldAccelerators = std::map<NodeId, std::vector<std::uint32_t>>;

// `numbers`: of all its accelerators, counted over the nodes in the order of the machine. O(nodes) where there are
// some.
HeldAccelerators held_accelerators(const Machine& machine, const std::vector<std::uint32_t>& numbers);

}  // namespace rota::serve
