// What readers of accounting logs have in common: jobs as a batch system tells of them become rows on the terms of SWF,
// with names as numbers, times from the first one on, and requests that SWF has no fields for beside them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/accounted_rows.h"
#include "log/attribute_table.h"
#include "log/job_attributes.h"
#include "log/sacct_reader.h"
#include "log/swf.h"
#include "log/swf_row.h"
#include "log/workload.h"

namespace rota::log {

// What readers count under the same words, whichever system the log is of.
inline constexpr const char* kCancelled = "cancelled before they started: dropped";
inline constexpr const char* kEarlyStart = "started before they were submitted: wait time left unknown";
inline constexpr const char* kLateEligible =
    "eligible later than submitted (held, begin time, or waiting for another job): they come when they are eligible";

// Whether a job began to wait when it was eligible, and not when it was submitted. It left the queue with its start, or
// with its end if it never started. Seconds; less than 0: not told.
constexpr bool eligible_late(std::int64_t submit, std::int64_t eligible, std::int64_t left_queue) {
  return eligible > submit && (left_queue < 0 || eligible <= left_queue);
}

// Times in seconds since 1970; kUnknown: not told, as the other numbers.
struct AccountedJob {
  static constexpr std::int64_t kUnknown = -1;
  enum class State : std::uint8_t { completed, failed, cancelled, waiting, running, ended };  // ended: not told how

  State state = State::completed;
  std::int64_t line = 0;
  std::int64_t number = kUnknown;  // it gets one above all others
  std::int64_t submit = kUnknown;
  std::int64_t eligible = kUnknown;  // when it began to wait for nodes
  std::int64_t start = kUnknown;
  std::int64_t end = kUnknown;
  std::int64_t stopped = 0;       // seconds of start to end in which it was suspended
  std::int64_t earlier = 0;       // and for which it ran before, and was queued again
  std::int64_t limit = kUnknown;  // seconds
  std::int64_t processors = kUnknown;
  std::int64_t requested_processors = kUnknown;
  std::string_view user, group, queue;  // empty: not told
  JobAttributes asks;                   // its nodes and memory among them
};

class AccountedJobs {
 public:
  // `shown` is what messages call the log.
  AccountedJobs(std::string shown, const SwfOptions& options) : shown_(std::move(shown)), options_(options) {}

  ImportReport& report() { return out_.report; }
  // Keeps a job, or drops and counts it: what was cancelled before it started, waits or runs, as sacct's are.
  Result<void> add(const AccountedJob& job);
  // A record that cannot be read ends the reading with its place, or is dropped and counted.
  Result<void> bad_record(const Error& error, std::int64_t line);
  Result<AccountedLog> finish();

  static constexpr const char* kBadRecord = "records that cannot be read: dropped";

 private:
  void remark(const AccountedJob& job);
  void collect_requests();

  std::string shown_;
  const SwfOptions& options_;
  AccountedLog out_;
  std::vector<JobAttributes> asks_;  // of each row
  bool any_asks_ = false;
  NumbersOfNames users_, groups_, queues_;
};

}  // namespace rota::log
