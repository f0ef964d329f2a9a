#include "cli/import/import_unfit.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "model/job.h"
#include "model/licence_use.h"
#include "model/never_fits.h"

namespace rota::cli {
namespace {

// The first thing without which it would fit.
std::string reason_of(const Machine& machine, JobSpec spec) {
  const auto fits = [&] { return !never_fits(machine, spec); };
  spec.limit = Duration{1};
  if (fits()) return "a time limit beyond the max_time of their partition";
  spec.memory = 0;
  if (fits()) return "more memory on each of their nodes, in equal parts, than nodes have";
  spec.accelerators = 0;
  spec.accelerator_type = {};
  if (fits()) return "more accelerators on each of their nodes, in equal parts, than nodes have";
  spec.node_wish = nullptr;
  if (fits())
    return "more nodes with the features that they ask for than there are, or nodes by name that lack something";
  spec.nodes = 0;
  if (fits()) return "nodes as many, or processors on each in equal parts, as the cluster or their partition lacks";
  return "more than the cluster or their partition has";
}

}  // namespace

UnfitCount::UnfitCount(const Machine& machine, const log::NumberedNames& partitions) : machine_(machine) {
  for (const auto& [number, name] : partitions) {
    const auto at = std::ranges::find(machine.partitions, name, &Partition::name);
    if (at == machine.partitions.end()) continue;
    partitions_.emplace(number, PartitionId{static_cast<std::uint32_t>(at - machine.partitions.begin())});
  }
}

// As a rehearsal submits it.
JobSpec UnfitCount::spec_of(const log::SwfRow& row, const log::JobAttributes& asks) const {
  using log::SwfField;
  JobSpec spec;
  spec.number = row[SwfField::number];
  const std::int64_t used = row[SwfField::processors], asked = row[SwfField::requested_processors];
  spec.processors = static_cast<std::uint32_t>(std::max<std::int64_t>(used > 0 ? used : asked, 1));
  spec.nodes = row.nodes;
  spec.memory = row.node_memory;
  const auto partition = partitions_.find(row[SwfField::partition]);
  spec.partition = partition != partitions_.end() ? partition->second : machine_.default_partition;
  const Duration run = used > 0 || asked > 0 ? Duration{row.milli(SwfField::run)} : seconds(1);
  spec.limit = Duration{row.milli(SwfField::requested_time)};
  if (spec.limit <= Duration{0}) {
    spec.limit = run;
    if (spec.partition.valid()) {
      const Partition& of = machine_.partitions[spec.partition.value];
      spec.limit = std::min(std::max(of.default_time, run), of.max_time);
    }
  }
  spec.accelerators = asks.accelerators;
  if (!asks.accelerator_type.empty()) {
    const auto& types = machine_.accelerator_types;
    const auto at = std::ranges::find(types, asks.accelerator_type);
    spec.accelerator_type = AcceleratorTypeId{static_cast<std::uint8_t>(at - types.begin())};
  }
  spec.node_wish = node_wish_of(asks.wish, machine_).value_or(nullptr);
  std::vector<LicenceUse> licences;
  for (const NamedLicences& each : asks.licences) {
    const auto at = std::ranges::find(machine_.licences, each.name, &Licence::name);
    licences.push_back({LicenceId{static_cast<std::uint32_t>(at - machine_.licences.begin())}, each.count});
  }
  if (!licences.empty()) CHECK(set_licences(spec, std::move(licences)), "what no job can ask for was left out");
  return spec;
}

void UnfitCount::add(const log::SwfRow& row, const log::JobAttributes& asks) {
  const JobSpec spec = spec_of(row, asks);
  const auto why = never_fits(machine_, spec);
  if (!why) return;
  const std::string what = reason_of(machine_, spec);
  const auto at = std::ranges::find(found_, what, &UnfitJobs::what);
  if (at == found_.end()) {
    found_.push_back({what, 1, spec.number, *why});
  } else {
    ++at->jobs;
  }
}

std::vector<UnfitJobs> UnfitCount::by_reason() const {
  std::vector<UnfitJobs> all = found_;
  std::ranges::sort(all, {}, &UnfitJobs::what);
  return all;
}

}  // namespace rota::cli
