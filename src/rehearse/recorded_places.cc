#include "rehearse/recorded_places.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "base/text.h"
#include "log/node_lists.h"

namespace rota {

RecordedPlaces::RecordedPlaces(const log::Workload& workload, const Machine& machine)
    : workload_(workload), machine_(machine) {
  if (!workload.node_lists) return;
  for (std::uint32_t i = 0; i < machine.nodes.size(); ++i) nodes_.emplace(machine.nodes[i].name, i);
}

std::vector<Share> RecordedPlaces::of(std::size_t job) const {
  const log::RecordedJob& recorded = workload_.recorded[job];
  if (!workload_.node_lists || recorded.ran_on == 0 || !recorded.start_is_known()) return {};
  const auto names = parse_host_list(workload_.node_lists->text(recorded.ran_on));
  if (!names) return {};
  const auto room = [&](NodeId node) { return machine_.nodes[node.value].processors; };
  std::vector<NodeId> nodes;
  for (const std::string& name : *names) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) return {};
    nodes.push_back(NodeId{found->second});
  }
  std::ranges::sort(nodes, {}, [&](NodeId node) { return std::tuple(room(node), node.value); });
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  std::vector<Share> shares;
  auto left = workload_.jobs[job].processors;
  for (std::size_t i = 0; i < nodes.size(); ++i) {  // the smallest first: what they have no room for goes to the others
    const auto even = static_cast<std::uint32_t>(left / (nodes.size() - i));
    shares.push_back({nodes[i], std::clamp(even, std::uint32_t{1}, room(nodes[i]))});
    left -= std::min(left, shares.back().processors);
  }
  return shares;
}

}  // namespace rota
