#include "log/partition_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace rota::log {

Result<void> partitions_known(const PartitionsOfLog& log, const Machine& machine, const std::string& cluster,
                              const std::string& advice) {
  if (machine.partitions.empty()) return {};
  std::vector<std::string_view> known;
  for (const Partition& partition : machine.partitions) known.push_back(partition.name);
  struct Unknown {
    std::string name, hint;  // "; did you mean ...?"
    std::int64_t jobs;
  };
  std::vector<Unknown> unknown;
  std::int64_t jobs = 0;
  for (const auto& [number, name] : log.names) {
    const auto of = log.jobs_of.find(number);
    if (of == log.jobs_of.end() || of->second == 0 || std::ranges::find(known, name) != known.end()) continue;
    const std::string_view near = nearest(name, known);
    unknown.push_back({quoted(name), near.empty() ? "" : fmt::format("; did you mean {}?", quoted(near)), of->second});
    jobs += of->second;
  }
  if (unknown.empty()) return {};
  const std::string are = amount(jobs, "job") + (jobs == 1 ? " is" : " are");
  const Unknown& one = unknown.front();
  if (unknown.size() == 1) {
    return fail("{}: {} of partition {}, which {} does not describe{} {}", log.shown, are, one.name, cluster,
                one.hint.empty() ? "." : one.hint, advice);
  }
  std::string list;
  for (const Unknown& each : unknown)
    list += fmt::format("{}{} ({}{})", list.empty() ? "" : ", ", each.name, amount(each.jobs, "job"), each.hint);
  return fail("{}: {} of partitions that {} does not describe: {}. {}", log.shown, are, cluster, list, advice);
}

}  // namespace rota::log
