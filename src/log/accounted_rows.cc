#include "log/accounted_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "log/job_builder.h"
#include "log/line_blocks.h"
#include "log/sort_rows.h"

namespace rota::log {
namespace {

constexpr const char* kNewNumber = "job numbers missing or doubled (members of arrays): new ones given";

// The largest sum of processors of jobs that ran at the same time. When those that were suspended held theirs is not
// known.
std::int64_t most_in_use(const std::vector<SwfRow>& rows, bool with_suspended) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // in milliseconds
  for (const SwfRow& row : rows) {
    const std::int64_t wait = row[SwfField::wait], used = row[SwfField::processors];
    if (wait < 0 || used <= 0 || row.milli(SwfField::run) <= 0 || (row.suspended > Duration{0} && !with_suspended))
      continue;
    const std::int64_t start = row.milli(SwfField::submit) + wait * 1000 + row.earlier.count();
    changes.emplace_back(start, used);
    changes.emplace_back(start + row.milli(SwfField::run), -used);
  }
  return most_at_once(std::move(changes));
}

// How much earlier starts of the jobs held, which are no rows of their own.
void tell_earlier(AccountedLog& log) {
  ImportReport::Finding finding;
  double processor_hours = 0;
  for (const SwfRow& row : log.rows) {
    if (row.earlier <= Duration{0}) continue;
    if (finding.rows++ == 0) finding.first_line = row.line;
    processor_hours +=
        to_seconds(row.earlier) / 3600 * static_cast<double>(std::max<std::int64_t>(row[SwfField::processors], 1));
  }
  if (finding.rows == 0) return;
  std::array<char, 32> hours{};
  std::snprintf(hours.data(), hours.size(), "%.1f", processor_hours);
  finding.what = fmt::format(
      "ran before and were queued again: these {} processor hours are no waiting, and in use in the row \"recorded\"",
      hours.data());
  log.report.findings.push_back(std::move(finding));
}

}  // namespace

std::int64_t most_at_once(std::vector<std::pair<std::int64_t, std::int64_t>> changes) {
  std::ranges::sort(changes);
  std::int64_t now = 0, most = 0;
  for (const auto& [when, change] : changes) most = std::max(most, now += change);
  return most;
}

std::int64_t most_processors(const AccountedLog& log) {
  const std::int64_t most = most_in_use(log.rows, false);
  return most > 0 ? most : most_in_use(log.rows, true);
}

void give_numbers(std::vector<SwfRow>& rows, ImportReport& report) {
  std::vector<std::pair<std::int64_t, std::size_t>> order;  // number and place
  order.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) order.emplace_back(rows[i][SwfField::number], i);
  std::ranges::sort(order);
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i].first < 0 || (i > 0 && order[i].first == order[i - 1].first)) fresh.push_back(order[i].second);
  std::int64_t next = std::max<std::int64_t>(order.back().first, 0);
  std::ranges::sort(fresh);
  for (const std::size_t i : fresh) {
    rows[i].set(SwfField::number, ++next);
    report.note(kNewNumber, rows[i].line);
  }
}

void close(AccountedLog& log) {
  sort_rows(log.rows, [](const SwfRow& row) { return row[SwfField::submit]; });
  log.unix_start = log.rows.front()[SwfField::submit];
  for (SwfRow& row : log.rows) row.set(SwfField::submit, row[SwfField::submit] - log.unix_start);
  tell_earlier(log);
  log.report.kept = static_cast<std::int64_t>(log.rows.size());
}

Result<Workload> workload_of(AccountedLog log, const std::string& path, const SwfOptions& options,
                             const std::string& shown) {
  auto workload = workload_of_rows(log.rows, std::move(log.report), shown.empty() ? path : shown, options);
  if (!workload) return workload;
  workload->name = workload_name(path);
  workload->processors = most_processors(log);
  workload->unix_start = log.unix_start;
  workload->partitions = std::move(log.partitions);
  workload->users = std::move(log.users);
  workload->groups = std::move(log.groups);
  workload->queues = std::move(log.queues);
  workload->attributes = std::move(log.attributes);
  workload->node_lists = std::move(log.node_lists);
  workload->recorded_attributes = workload->guessed_processors = true;
  return workload;
}

}  // namespace rota::log
