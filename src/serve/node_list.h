// Nodes as people read them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "model/machine.h"

namespace rota::serve {

// "login,n[8-9],n[10-11]" of `all`, each of which `node_of` makes a NodeId; in any order: names are told by what stands
// before their number, then by that. Empty of none.
template <class All, class NodeOf>
std::string node_list(const Machine& machine, const All& all, const NodeOf& node_of) {
  std::vector<std::string> names;
  for (const auto& each : all) names.push_back(machine.nodes[node_of(each).value].name);
  std::ranges::sort(names, {}, [](const std::string& name) {
    const std::size_t stem = name.find_last_not_of("0123456789") + 1;  // 0 where there is none
    return std::tuple(std::string_view(name).substr(0, stem), name.size(), std::string_view(name));
  });
  return format_host_list(names);
}
inline std::string node_list(const Machine& machine, const std::vector<NodeId>& all) {
  return node_list(machine, all, [](NodeId node) { return node; });
}

// The nodes that such a list names, or "all", each once; fails with a sentence where one of them is not there.
Result<std::vector<NodeId>> nodes_named(const Machine& machine, const std::string& list);

}  // namespace rota::serve
