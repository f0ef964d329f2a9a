// Whether a machine could run a job at all, if nothing else ran there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"
#include "model/machine.h"

namespace rota {

// Why it never can, as half a sentence ("asks for 96 nodes; partition batch allows 64"); nothing if it can. Counted
// machines too.
std::optional<std::string> never_fits(const Machine& machine, const JobSpec& spec);

// On how many nodes it is to be: one where it does not say how many and its partition lets no job have more.
std::uint32_t nodes_of(const Machine& machine, const JobSpec& spec);

// Whether the nodes for which usable(NodeId) is true have room for it while nothing else runs. Without one: all nodes.
bool fits_when_empty(const Machine& machine, const JobSpec& spec, const std::function<bool(NodeId)>& usable);

// Likewise for these nodes, in any order. O(nodes).
bool fits_on(const Machine& machine, const JobSpec& spec, const std::vector<NodeId>& nodes);

// Whether a node, when it is empty, could be one of those that the job gets.
bool may_serve(const Machine& machine, const JobSpec& spec, NodeId node);

}  // namespace rota
