// What `scontrol -o show node` prints, as nodes in the terms of the state. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/machine.h"
#include "model/node_power.h"

namespace rota::slurm {

struct NodeRow {
  std::string name;
  std::uint32_t processors = 0;
  std::int64_t memory = 0;
  std::uint32_t accelerators = 0;
  std::vector<std::string> partitions = {};
  Health health = Health::up;
  PowerState power = PowerState::on;
  std::string reason = {};  // why it is out of use, as an operator or Slurm put it
};

// Fails where there is no node, and where the text ends in the middle of one.
Result<std::vector<NodeRow>> read_nodes(std::string_view text);

// The node as the state is to have it, where it differs from what it has: `was` is what that has; a node that is new
// has a name alone. Partitions are those that the machine knows. What Slurm does not tell, such as watts, stays.
Node described_by(const NodeRow& row, Node was, const Machine& machine);

}  // namespace rota::slurm
