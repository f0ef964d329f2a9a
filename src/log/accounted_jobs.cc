#include "log/accounted_jobs.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "log/accounted_rows.h"
#include "log/job_builder.h"
#include "log/line_blocks.h"
#include "model/machine.h"

namespace rota::log {
namespace {

constexpr const char* kWaiting = "not started when the log ends: dropped";
constexpr const char* kRunning = "still running when the log ends: dropped";
constexpr const char* kBackwards = "ended before they started: dropped";
constexpr const char* kStopped = "suspended while they ran: that time is not run time";
constexpr const char* kNoLimit = "no time limit is told: requested time left unknown";

std::int64_t swf_status(AccountedJob::State state) {
  if (state == AccountedJob::State::completed) return kSwfCompleted;
  if (state == AccountedJob::State::ended) return -1;
  return state == AccountedJob::State::cancelled ? kSwfCancelled : kSwfFailed;
}

bool is_late(const AccountedJob& job) {
  return eligible_late(job.submit, job.eligible, job.start != AccountedJob::kUnknown ? job.start : job.end);
}

constexpr std::int64_t kMostTime = 32'503'680'000;  // the year 3000
constexpr std::int64_t kMostNumber = 1'000'000'000'000'000;
constexpr std::int64_t kMostKilobytes = 1'000'000'000'000'000;  // readers of SWF refuse more

// What no job can be.
Result<void> check(const AccountedJob& job) {
  for (const auto& [name, value, most] : {std::tuple{"number", job.number, kMostNumber},
                                          {"time of submission", job.submit, kMostTime},
                                          {"time when it is eligible", job.eligible, kMostTime},
                                          {"start", job.start, kMostTime},
                                          {"end", job.end, kMostTime},
                                          {"limit", job.limit, kLongest / seconds(1)},
                                          {"number of processors", job.processors, kMostProcessors},
                                          {"number of processors", job.requested_processors, kMostProcessors}}) {
    if (value >= AccountedJob::kUnknown && value <= most) continue;
    return fail("the job's {} is {}, which cannot be", name, value);
  }
  for (const std::string_view name : {job.user, job.group, job.queue}) {
    if (!is_utf8(name)) return fail("the name {} is not UTF-8 text", quoted(name));
  }
  return {};
}

}  // namespace

Result<void> AccountedJobs::add(const AccountedJob& job) {
  using State = AccountedJob::State;
  constexpr std::int64_t kUnknown = AccountedJob::kUnknown;
  const auto drop = [&](const char* what) { out_.report.drop(what, job.line); };
  if (auto possible = check(job); !possible) return possible;
  std::int64_t run = 0, stopped = 0;
  if (job.state == State::cancelled && job.start == kUnknown) {
    if (!options_.keep_cancelled) {
      drop(kCancelled);
      return Result<void>{};
    }
  } else {
    if (job.state == State::waiting || job.start == kUnknown) {
      drop(kWaiting);
      return Result<void>{};
    }
    if (job.state == State::running || job.end == kUnknown) {
      drop(kRunning);
      return Result<void>{};
    }
    if (job.end < job.start) {
      drop(kBackwards);
      return Result<void>{};
    }
    stopped = std::clamp<std::int64_t>(job.stopped, 0, job.end - job.start);
    run = job.end - job.start - stopped;
  }
  remark(job);
  SwfRow row = SwfRow::blank();
  row.line = job.line;
  row.nodes = job.asks.nodes;
  row.node_memory = job.asks.memory;
  row.suspended = seconds(stopped);
  row.earlier = seconds(job.earlier);
  const std::int64_t came = is_late(job) ? job.eligible : job.submit;
  row.set(SwfField::number, job.number);
  row.set(SwfField::submit, came);  // made relative in finish()
  if (job.start >= came + job.earlier) row.set(SwfField::wait, job.start - came - job.earlier);
  row.set(SwfField::run, run);
  row.set(SwfField::processors, job.start == kUnknown ? -1 : job.processors);
  row.set(SwfField::requested_processors, job.requested_processors);
  if (job.limit > 0) row.set(SwfField::requested_time, job.limit);
  const std::int64_t processors = std::max(job.processors, job.requested_processors);
  const std::int64_t nodes = std::max<std::int64_t>(job.asks.nodes, 1);
  if (job.asks.memory > 0 && processors > 0 && job.asks.memory / 1024 < kMostKilobytes / nodes)
    row.set(SwfField::requested_memory, job.asks.memory / 1024 * nodes / processors);
  row.set(SwfField::status, swf_status(job.state));
  row.set(SwfField::user, users_.number_of(job.user));
  row.set(SwfField::group, groups_.number_of(job.group));
  row.set(SwfField::partition, queues_.number_of(job.queue));
  out_.rows.push_back(row);
  JobAttributes& asks = asks_.emplace_back(job.asks);
  if (!keep_askable(asks.licences)) out_.report.note(kOddLicences, job.line);
  any_asks_ |= asks.accelerators > 0 || !asks.licences.empty();
  return {};
}

// Counts what is odd about a job that is kept.
void AccountedJobs::remark(const AccountedJob& job) {
  const auto note = [&](const char* what) { out_.report.note(what, job.line); };
  if (job.stopped > 0) note(kStopped);
  if (job.start != AccountedJob::kUnknown && job.start < job.submit) note(kEarlyStart);
  if (is_late(job)) note(kLateEligible);
  if (job.limit <= 0) note(kNoLimit);
}

void AccountedJobs::collect_requests() {
  if (!any_asks_) return;
  auto table = std::make_shared<AttributeTable>(shown_);
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    if (asks_[i].accelerators == 0 && asks_[i].licences.empty()) continue;
    table->add(out_.rows[i][SwfField::number], asks_[i], out_.rows[i].line);
  }
  table->finish();
  out_.attributes = std::move(table);
}

Result<void> AccountedJobs::bad_record(const Error& error, std::int64_t line) {
  if (options_.skip_bad_rows) {
    report().drop(kBadRecord, line);
    return Result<void>{};
  }
  return fail("{}:{}: {}. Mend the record, or drop such records with --skip-bad-rows.", shown_, line, error.message);
}

Result<AccountedLog> AccountedJobs::finish() {
  if (out_.rows.empty()) {
    return fail("{}: no job can be read from it{}. Does it tell of jobs that have ended?", shown_,
                why_none(out_.report, "records"));
  }
  give_numbers(out_.rows, out_.report);
  collect_requests();
  close(out_);
  out_.users = users_.by_number();
  out_.groups = groups_.by_number();
  out_.partitions = queues_.by_number();
  return std::move(out_);
}

}  // namespace rota::log
