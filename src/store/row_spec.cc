#include "store/row_spec.h"

#include <algorithm>
#include <utility>

#include "model/job_request.h"
#include "model/licence_names.h"

namespace rota::store {
namespace {

// Unless the cluster has it no more.
void add_licence(const NamedLicences& asked, const Machine& machine, std::vector<LicenceUse>& into) {
  const auto found = std::ranges::find(machine.licences, asked.name, &Licence::name);
  if (found == machine.licences.end()) return;
  into.push_back({LicenceId{static_cast<decltype(LicenceId::value)>(found - machine.licences.begin())}, asked.count});
}

void take_rare(const RareRequest& asked, const Machine& machine, JobSpec& spec) {
  spec.priority = asked.priority;
  spec.restart = asked.checkpoint ? Restart::checkpoint
                 : asked.requeue  ? Restart::from_start
                 : asked.once     ? Restart::once
                                  : Restart::never;
  spec.accelerators = static_cast<std::uint8_t>(asked.accelerators);
  const auto type = std::ranges::find(machine.accelerator_types, asked.accelerator_type);
  if (type != machine.accelerator_types.end())
    spec.accelerator_type = AcceleratorTypeId{static_cast<std::uint8_t>(type - machine.accelerator_types.begin())};
  std::vector<LicenceUse> kinds;
  add_licence({asked.licence, asked.licences}, machine, kinds);
  for (const std::string& more : asked.more_licences) {
    const auto named = parse_named_licences(more);
    if (named && !named->empty()) add_licence(named->front(), machine, kinds);
  }
  static_cast<void>(set_licences(spec, std::move(kinds)));  // of what was accepted there were not too many
  if (auto wish = node_wish_of(node_wish_texts(asked.texts), machine))
    static_cast<void>(set_node_wish(spec, std::move(*wish), machine));  // it stays without one on other nodes
  const auto qos = std::ranges::find(machine.qos, text_of(asked.texts, "qos"), &Qos::name);
  if (qos != machine.qos.end()) spec.qos = QosId{static_cast<decltype(QosId::value)>(qos - machine.qos.begin())};
}

}  // namespace

JobSpec spec_of(const HistoryRow& row, const Machine& machine) {
  JobSpec spec;
  spec.number = row.number;
  spec.submit = row.submit;
  spec.limit = std::max(row.limit, Duration{1});
  spec.memory = row.memory;
  spec.processors = row.processors;
  spec.nodes = row.node_count;
  spec.user = row.uid;
  take_rare(row.asked, machine, spec);
  const auto partition = std::ranges::find(machine.partitions, row.partition, &Partition::name);
  if (partition != machine.partitions.end())
    spec.partition = PartitionId{static_cast<std::uint32_t>(partition - machine.partitions.begin())};
  return spec;
}

}  // namespace rota::store
