#include "log/partition_names.h"

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
  for (const auto& [number, name] : log.names) {
    const auto jobs = log.jobs_of.find(number);
    if (jobs == log.jobs_of.end() || jobs->second == 0 || std::ranges::find(known, name) != known.end()) continue;
    const std::string_view near = nearest(name, known);
    return fail(log.shown + ": " + amount(jobs->second, "job") + (jobs->second == 1 ? " is" : " are") +
                " of partition " + quoted(name) + ", which " + cluster + " does not describe" +
                (near.empty() ? ". " : "; did you mean " + quoted(near) + "? ") + advice);
  }
  return {};
}

}  // namespace rota::log
