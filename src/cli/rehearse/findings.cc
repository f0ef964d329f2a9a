#include "cli/rehearse/findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "cli/printed.h"
#include "log/job_builder.h"
#include "log/window.h"

namespace rota::cli {
namespace {

std::string in_brackets(const std::string& text) { return fmt::format(" ({})", text); }

// Rows are counted while the log is read, before a window is cut out of it.
std::string rows_of(const log::ImportReport::Finding& finding, bool cut) {
  const std::string count = cut ? "of the whole log: " : "";
  return in_brackets(count +
                     (finding.rows == 1 ? "1 row, in line " : grouped(finding.rows) + " rows, the first in line ") +
                     grouped(finding.first_line));
}

// For jobs that tell no limit: a cluster file may have one.
void print_limits(const log::Workload& workload, const RehearseOptions& options,
                  const log::ImportReport::Finding& finding, bool cut) {
  const PartitionLimits limits = limits_of_partitions(workload, options);
  const std::int64_t by_partition = limits.by_default + limits.by_most + limits.unlimited;
  const auto without = std::ranges::count_if(workload.jobs, [&](const JobSpec& job) {
    return std::ranges::binary_search(workload.without_limit, job.number);
  });
  if (by_partition == 0) return remark(fmt::format("{}: {}{}", workload.name, finding.what, rows_of(finding, cut)));
  for (const auto& [which, jobs] : {std::pair{"default_time", limits.by_default}, {"max_time", limits.by_most}}) {
    if (jobs == 0) continue;
    remark(fmt::format("{}: no requested time: the {} of the partition taken as the limit{}", workload.name, which,
                       in_brackets(amount(jobs, "job"))));
  }
  if (limits.unlimited > 0)
    remark(
        fmt::format("{}: no requested time, and the partition has no limit: planned as without an end, as Slurm does. "
                    "A `default_time` of the partition would say how long to count on{}",
                    workload.name, in_brackets(amount(limits.unlimited, "job"))));
  if (without > by_partition)
    remark(fmt::format("{}: {}{}", workload.name, finding.what, in_brackets(amount(without - by_partition, "job"))));
}

}  // namespace

void print_findings(const log::Workload& workload, const RehearseOptions& options, const WindowFlags& window) {
  if (const std::string note = window.note(workload); !note.empty()) remark(note);
  if (options.machine && !options.machine->sites.empty() && !workload.terms.empty())
    remark(fmt::format("{}: throttles of arrays and what jobs wait for, which are not kept between several sites{}",
                       workload.name, in_brackets(amount(std::ssize(workload.terms), "job"))));
  const bool cut = log::cut_anywhere(workload);
  for (const auto& finding : workload.report.findings) {
    if (finding.what == log::kNoRequestedTime) {
      print_limits(workload, options, finding, cut);
    } else if (finding.first_line == 0) {  // it is of jobs, and not of rows
      remark(fmt::format("{}: {}{}", workload.name, finding.what, in_brackets(amount(finding.rows, "job"))));
    } else {
      remark(fmt::format("{}: {}{}", workload.name, finding.what, rows_of(finding, cut)));
    }
  }
}

}  // namespace rota::cli
