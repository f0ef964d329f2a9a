// What accounting logs of whatever system are held to: any bytes are never a crash, every record is accounted for, and
// what is read holds what the headers promise.
#pragma once

#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/text.h"
#include "log/accounted_jobs.h"
#include "log/line_blocks.h"

namespace rota::log {

inline void check_rows(const AccountedLog& log) {
  std::int64_t last = 0;
  for (const SwfRow& row : log.rows) {
    CHECK(row[SwfField::submit] >= last, "rows are in order of submit time, from 0");
    last = row[SwfField::submit];
    CHECK(row[SwfField::number] >= 0 && row.milli(SwfField::run) >= 0, "numbers and run times are possible");
    CHECK(row[SwfField::user] <= static_cast<std::int64_t>(log.users.size()), "every user has a name");
    CHECK(row.node_memory >= 0 && row[SwfField::requested_memory] >= -1, "memory is possible");
  }
}

inline void check_sentence(const std::string& message) {
  CHECK(is_utf8(message) && message.find_last_of(".?") + 1 == message.size(), "errors are sentences");
}

inline void check_times(const Workload& workload) {
  for (std::size_t i = 0; i < workload.jobs.size(); ++i)
    CHECK(workload.run_times[i].count() > 0 && workload.jobs[i].limit.count() > 0, "times are possible");
}

inline void check_requests(const AccountedLog& log) {
  if (!log.attributes) return;
  for (const SwfRow& row : log.rows) {
    const JobAttributes asks = log.attributes->attributes_of(row[SwfField::number]);
    if (asks.licences.empty()) continue;
    CHECK(parse_named_licences(named_licences_text(asks.licences)) == asks.licences,
          "licences are read again as they are");
  }
}

inline void check_log(const AccountedLog& log) {
  check_rows(log);
  check_requests(log);
  CHECK(log.report.rows == log.report.kept + log.report.dropped(), "records are jobs, or are told to be dropped");
}

template <class Read>
void read_accounts(const std::string& text, const Read& read) {
  const SwfOptions plain, lenient{.skip_bad_rows = true, .keep_cancelled = true};
  const auto strict = read(LineBlocks::over(text, "fuzz.txt"), plain);
  if (strict) check_log(*strict);
  if (!strict) check_sentence(strict.error().message);
  auto log = read(LineBlocks::over(text, "fuzz.txt"), lenient);
  CHECK(!strict || log, "skipping bad records reads no less");
  if (!log) return;
  check_log(*log);
  const auto workload = workload_of(std::move(*log), "fuzz.txt", lenient);
  CHECK(workload.has_value(), "what was read is a workload");
  check_times(*workload);
}

}  // namespace rota::log
