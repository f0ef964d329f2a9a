#include "engine/slurm/node_rows.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "site/slurm_nodes.h"

namespace rota::slurm {
namespace {

// "IDLE+DRAIN", "DOWN*", "MIXED+POWERED_DOWN": a state, flags behind it, and signs of what is under way.
bool has_word(std::string_view state, std::string_view word) {
  for (std::string_view each : split(state, '+')) {
    while (!each.empty() && (each.back() < 'A' || each.back() > 'Z')) each.remove_suffix(1);
    if (each == word) return true;
  }
  return false;
}

Health health_of(std::string_view state) {
  const bool silent = state.find('*') != std::string_view::npos;  // it does not answer
  for (const std::string_view word : {"DOWN", "FAIL", "ERROR", "UNKNOWN", "FUTURE"})
    if (has_word(state, word)) return Health::down;
  if (silent) return Health::down;
  for (const std::string_view word : {"DRAIN", "DRAINED", "DRAINING", "FAILING"})
    if (has_word(state, word)) return Health::draining;
  return Health::up;
}

bool sleeps(std::string_view state) { return has_word(state, "POWERED_DOWN") || has_word(state, "POWERING_DOWN"); }

}  // namespace

Result<std::vector<NodeRow>> read_nodes(std::string_view text) {
  if (!text.ends_with('\n')) return fail("what scontrol printed of nodes is cut off.");
  const auto records = TRY(site::slurm_records(text, "NodeName", "scontrol show node"));
  site::SlurmRemarks remarks;
  const auto nodes = TRY(site::nodes_of_slurm(records, true, remarks));
  std::map<std::string_view, const site::SlurmRecord*> by_name;
  for (const site::SlurmRecord& record : records) by_name[record.values.front().second] = &record;
  std::vector<NodeRow> rows;
  for (const site::SlurmNode& node : nodes) {
    const site::SlurmRecord& record = *by_name.at(node.name);
    NodeRow row{.name = node.name,
                .processors = static_cast<std::uint32_t>(node.processors),
                .memory = node.memory,
                .accelerators = static_cast<std::uint32_t>(node.accelerators)};
    for (const std::string_view partition : split(record.value("Partitions"), ','))
      if (!partition.empty()) row.partitions.emplace_back(partition);
    row.health = health_of(record.value("State"));
    row.power = sleeps(record.value("State")) ? PowerState::off : PowerState::on;
    row.reason = std::string(record.value("Reason"));
    rows.push_back(std::move(row));
  }
  return rows;
}

Node described_by(const NodeRow& row, Node was, const Machine& machine) {
  was.name = row.name;
  was.processors = row.processors;
  const bool counts_memory = std::ranges::any_of(machine.nodes, [](const Node& node) { return node.memory > 0; });
  was.memory = counts_memory ? row.memory : 0;
  was.accelerators = row.accelerators;
  if (row.accelerators == 0) was.accelerator_type = {};
  was.partitions.clear();
  for (std::uint32_t p = 0; p < machine.partitions.size(); ++p)
    if (std::ranges::find(row.partitions, machine.partitions[p].name) != row.partitions.end())
      was.partitions.push_back(PartitionId{p});
  return was;
}

}  // namespace rota::slurm
