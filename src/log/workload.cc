#include "log/workload.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace rota::log {

namespace {

void count(std::vector<ImportReport::Finding>& findings, const char* what, std::int64_t line, bool dropped) {
  for (ImportReport::Finding& finding : findings) {
    if (finding.what != what) continue;
    ++finding.rows;
    finding.first_line = std::min(finding.first_line, line);
    return;
  }
  findings.push_back({what, 1, line, dropped});
}

}  // namespace

void ImportReport::note(const char* what, std::int64_t line) { count(findings, what, line, false); }
void ImportReport::drop(const char* what, std::int64_t line) { count(findings, what, line, true); }

std::int64_t ImportReport::dropped() const {
  std::int64_t sum = 0;
  for (const Finding& finding : findings) sum += finding.dropped ? finding.rows : 0;
  return sum;
}

void take_top(Workload& workload, const LogTop& top) {
  workload.processors = top.processors;
  workload.nodes = top.nodes;
  workload.unix_start = top.unix_start;
  workload.queue_floor = top.queue_floor;
  workload.partitions = top.partitions;
  workload.users = top.users;
  workload.groups = top.groups;
  workload.queues = top.queues;
  workload.node_lists = top.node_lists;
  for (const std::string& note : top.notes) {
    if (workload.made_by.empty() && note.starts_with(kMadeBy)) workload.made_by = note.substr(kMadeBy.size());
    if (workload.site_policy.empty() && note.starts_with(kSitePolicy))
      workload.site_policy = note.substr(kSitePolicy.size());
    if (note.starts_with(kLeftOut)) workload.left_out.push_back(note.substr(kLeftOut.size()));
    if (note == kWholeSeconds) workload.whole_seconds = true;
    if (note.starts_with(kTurnaround)) {
      const auto after = parse_integer(note.substr(kTurnaround.size()));
      if (after) workload.turnaround = Duration(std::clamp(*after, std::int64_t{0}, std::int64_t{86'400'000}));
    }
  }
  workload.of_slurm = !workload.site_policy.empty() || std::ranges::count(top.notes, kFromSacct) > 0;
}

std::vector<std::string> sentences_of(const ImportReport& report) {
  std::vector<std::string> all;
  for (const ImportReport::Finding& finding : report.findings)
    all.push_back(fmt::format("{} ({})", finding.what, amount(finding.rows, "row")));
  return all;
}

std::string describe(const ImportReport& report) {
  std::string out = fmt::format("{} read, {} kept\n", amount(report.rows, "row"), amount(report.kept, "job"));
  std::size_t width = 0;
  for (const auto& finding : report.findings) width = std::max(width, grouped(finding.rows).size());
  for (const auto& finding : report.findings) {
    const std::string rows = grouped(finding.rows);
    out += fmt::format("  {}{}  {} (first in line {})\n", std::string(width - rows.size(), ' '), rows, finding.what,
                       finding.first_line);
  }
  return out;
}

std::string why_none(const ImportReport& report, const std::string& rows) {
  if (report.rows == 0) return " because it has no " + rows;
  std::string why;
  for (const auto& finding : report.findings) {
    if (!finding.dropped) continue;
    constexpr std::string_view kDropped = ": dropped";
    const std::string_view what = finding.what;
    why += why.empty() ? " (" : "; ";
    why += what.ends_with(kDropped) ? what.substr(0, what.size() - kDropped.size()) : what;
    why += ": " + grouped(finding.rows);
    if (finding.first_line > 0) why += ", first in line " + std::to_string(finding.first_line);
  }
  return fmt::format("; all its {} were dropped{}", rows, (why.empty() ? why : why + ")"));
}

}  // namespace rota::log
