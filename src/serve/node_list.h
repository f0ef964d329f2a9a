// Nodes as people read them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "model/machine.h"

namespace rota::serve {

// "n[1-3],login" of `all`, each of which `node_of` makes a NodeId; in any order. Empty of none.
template <class All, class NodeOf>
std::string node_list(const Machine& machine, const All& all, const NodeOf& node_of) {
  std::vector<std::string> names;
  for (const auto& each : all) names.push_back(machine.nodes[node_of(each).value].name);
  std::ranges::sort(names);
  return format_host_list(names);
}
inline std::string node_list(const Machine& machine, const std::vector<NodeId>& all) {
  return node_list(machine, all, [](NodeId node) { return node; });
}

}  // namespace rota::serve
