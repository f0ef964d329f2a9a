#include "serve/node_list.h"

namespace rota::serve {

Result<std::vector<NodeId>> nodes_named(const Machine& machine, const std::string& list) {
  if (machine.nodes.empty()) return fail("here processors are only counted, and there are no nodes to name.");
  if (list == "all" && std::ranges::find(machine.nodes, list, &Node::name) == machine.nodes.end()) {
    std::vector<NodeId> all;
    all.reserve(machine.nodes.size());
    for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
      if (!machine.nodes[n].has_gone()) all.push_back(NodeId{n});
    }
    return all;
  }
  const auto names = TRY(parse_host_list(list));
  std::vector<NodeId> ids;
  std::vector<bool> named(machine.nodes.size());
  for (const std::string& name : names) {
    const auto found = std::ranges::find(machine.nodes, name, &Node::name);
    if (found == machine.nodes.end() || found->has_gone())
      return fail("there is no node {}; nothing was changed.", rota::quoted(name));
    const NodeId id{static_cast<std::uint32_t>(found - machine.nodes.begin())};
    if (!named[id.value]) ids.push_back(id);
    named[id.value] = true;
  }
  return ids;
}

}  // namespace rota::serve
