#include "cli/import/import_jobs.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "cli/convert_output.h"
#include "cli/import/import_names.h"
#include "log/attribute_table.h"
#include "log/log_top.h"
#include "log/packed_output.h"

namespace rota::cli {
namespace {

constexpr const char* kImportSlurm = "rota import slurm";  // as the header of a workload names it

// What the cluster has none of goes, for with it no job of the log could be rehearsed. What that was; "" : nothing.
std::string leave_out_unmet(log::JobAttributes& asks, const Machine& machine, bool any_accelerators) {
  std::string what;
  std::erase_if(asks.licences, [&](const NamedLicences& asked) {
    const bool lacks = std::ranges::find(machine.licences, asked.name, &Licence::name) == machine.licences.end();
    if (lacks) what += (what.empty() ? "licence " : ", licence ") + rota::quoted(asked.name);
    return lacks;
  });
  const auto leave_out_unknown = [&](std::string& text, const char* kind, const auto& parse) {
    if (text.empty() || parse(text, machine)) return;
    what += fmt::format("{}{} {}", what.empty() ? "" : ", ", kind, rota::quoted(text));
    text.clear();
  };
  NodeWishTexts& wish = asks.wish;
  leave_out_unknown(wish.features, "features", parse_features);
  leave_out_unknown(wish.among, "nodes", parse_node_names);
  leave_out_unknown(wish.without, "nodes to stay away from", parse_node_names);
  if (asks.accelerators == 0) return what;
  const auto& types = machine.accelerator_types;
  if (!any_accelerators) {
    what += std::string(what.empty() ? "" : ", ") + "accelerators";
    asks.accelerators = 0;
    asks.accelerator_type.clear();
  } else if (!asks.accelerator_type.empty() && std::ranges::find(types, asks.accelerator_type) == types.end()) {
    what += fmt::format("{}{} (any others will do)", what.empty() ? "accelerators of type " : ", accelerators of type ",
                        rota::quoted(asks.accelerator_type));
    asks.accelerator_type.clear();
  }
  return what;
}

// What a job of the log asks for beside the fields of SWF.
log::JobAttributes asks_of(const log::SwfRow& row, const log::SacctLog& log, site::MadeUpNames* names) {
  if (!log.attributes) return {};
  log::JobAttributes asks = log.attributes->attributes_of(row[log::SwfField::number]);
  if (names != nullptr) rename(asks, *names);
  return asks;
}

}  // namespace

JudgedJobs judge_jobs(const log::SacctLog& log, const Machine& machine, site::MadeUpNames* names) {
  JudgedJobs judged;
  UnfitCount unfit(machine, log.partitions);
  const bool accelerators = machine.has_accelerators();
  for (const log::SwfRow& row : log.rows) {
    auto asks = asks_of(row, log, names);
    if (const std::string what = leave_out_unmet(asks, machine, accelerators); !what.empty()) ++judged.unmet[what];
    unfit.add(row, asks);
  }
  judged.unfit = unfit.by_reason();
  return judged;
}

Result<void> write_jobs(const log::SacctLog& log, const Machine& machine, site::MadeUpNames* names,
                        const std::vector<std::string>& notes, const std::string& path) {
  auto file = TRY(log::PackedOutput::create(path));
  log::LogTop top;
  top.workload = machine.name;
  top.notes = {std::string(log::kMadeBy) + kImportSlurm};
  top.notes.insert(top.notes.end(), notes.begin(), notes.end());
  top.unix_start = log.unix_start;
  top.processors = machine.processors;
  top.nodes = static_cast<std::int64_t>(machine.nodes.size());
  top.partitions = log.partitions;
  top.queues = log.queues;
  top.users = log.users;
  top.groups = log.groups;
  top.node_lists = log.node_lists;
  auto out = json_output(file.stream());
  out->top(top);
  const bool accelerators = machine.has_accelerators();
  for (const log::SwfRow& row : log.rows) {
    auto asks = asks_of(row, log, names);
    leave_out_unmet(asks, machine, accelerators);
    TRY(out->job(row, asks));
  }
  out.reset();  // hands the rest to the stream
  return file.commit();
}

}  // namespace rota::cli
