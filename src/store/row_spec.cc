#include "store/row_spec.h"

#include <algorithm>

namespace rota::store {
namespace {

void take_rare(const RareRequest& asked, const Machine& machine, JobSpec& spec) {
  spec.priority = asked.priority;
  spec.restart = asked.checkpoint ? Restart::checkpoint : asked.requeue ? Restart::from_start : Restart::never;
  spec.accelerators = static_cast<std::uint8_t>(asked.accelerators);
  const auto type = std::ranges::find(machine.accelerator_types, asked.accelerator_type);
  if (type != machine.accelerator_types.end())
    spec.accelerator_type = AcceleratorTypeId{static_cast<std::uint8_t>(type - machine.accelerator_types.begin())};
  const auto licence = std::ranges::find(machine.licences, asked.licence, &Licence::name);
  if (licence == machine.licences.end()) return;
  spec.licence = LicenceId{static_cast<decltype(LicenceId::value)>(licence - machine.licences.begin())};
  spec.licences = asked.licences;
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
