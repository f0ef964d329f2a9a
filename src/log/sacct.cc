#include "log/sacct.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>

#include "base/text.h"
#include "log/accounted_jobs.h"
#include "log/accounted_rows.h"
#include "log/job_builder.h"
#include "log/sacct_reader.h"
#include "log/sacct_spread.h"

namespace rota::log {
namespace {

constexpr const char* kAtOnce = "cancelled within their first second: taken as jobs of 1 s";
constexpr const char* kNeverStarted = "ended before they started (DEADLINE, REVOKED, ...): dropped";
constexpr const char* kRefused = "refused by Slurm (FAILED at once and without a node): they never ran: dropped";
constexpr const char* kWaiting = "not started when the log was taken: dropped";
constexpr const char* kWaitsAgain = "ran, and queued again when the log was taken: dropped";
constexpr const char* kRunning = "still running when the log was taken: dropped";
constexpr const char* kBackwards = "ended before they started, and Elapsed is not there: dropped";
constexpr const char* kClockChange = "started and ended on two sides of a clock change: Elapsed taken as the run time";
constexpr const char* kSuspended = "End - Start is not Elapsed (suspended?): Elapsed taken as the run time";
constexpr const char* kNoLimit = "no time limit (UNLIMITED, Partition_Limit, or not told): requested time left unknown";
constexpr const char* kThrottled =
    "eligible after others of their array had started (its throttle, as --array=0-9%3 sets it): they come when they "
    "are "
    "eligible";
constexpr const char* kKnownThrottle =
    "eligible after others of their array had started, whose throttle is known: they come with its first task, and a "
    "rehearsal keeps to the throttle";
constexpr const char* kComponent = "components of heterogeneous jobs: each a job of its own, which may start alone";
constexpr const char* kKeptSpread =
    "would go on any number of nodes, and have memory by their processors: kept on as many nodes as they had";
constexpr const char* kNeverShort =
    "go on any number of nodes, and have memory by their processors: left out, for no job has more beside each "
    "processor than every node has, so that it is never short";

constexpr std::int64_t kNoticed = 2000;  // milliseconds by which times may differ

// By SacctRemark.
constexpr std::array kRemarks{
    "accelerators of several kinds: all taken as of the first",
    "other resources (gres) than gpu and licences: passed over",
    "accelerators spread unevenly: as many on each node as on the fullest",
    kOddLicences,
    "times in the hour that comes twice when clocks are put back: taken as Elapsed and their order say, else as the "
    "first",
    "times in the hour that is left out when clocks are put forward: is it the right time zone?",
    "given all the memory of their nodes (--mem=0): as much as sacct says that they asked for, else as they were given",
    "had more processors than they asked for, and AllocTRES does not tell their memory: as asked",
    "had accelerators or licences of which ReqTRES tells nothing: taken as not asked for",
    "a state that is not known: taken as ended, with no status",
    "ReqMem is more memory than there can be: memory left unknown",
    "ReqMem is 0 (--mem=0, or none told), and AllocTRES does not tell what they were given: memory left unknown",
    "never ran, and asked for more accelerators than a node can have: left out, as it is not told on how many nodes",
    "Start is not End less Elapsed and Suspended, but Eligible (sacct --json of Slurm 22.05.0 to 22.05.7): taken as "
    "their difference",
    "NodeList is no host list such as n[1-3,7]: left unknown where they ran",
    kSeveralPartitions,
    "accelerators or licences of which sacct tells nothing: as SubmitLine has them, which does not know a script's own "
    "#SBATCH",
    "constraints with counts or brackets (a*4, [a|b]): left out",
    "asked by SubmitLine for nodes by name, and for others as well: left out",
    "gave way to other jobs (PREEMPTED) and ended with that: nothing tells how long they would have run, and they are "
    "taken to run as long as they did"};

std::int64_t swf_status(SacctState state) {
  switch (state) {
    case SacctState::completed:
      return kSwfCompleted;
    case SacctState::cancelled:
      return kSwfCancelled;
    case SacctState::failed:
    case SacctState::given_up:
      return kSwfFailed;
    default:
      return -1;
  }
}

// Elapsed knows of clock changes and suspensions; the difference of two local times does not.
std::int64_t run_time(const SacctRow& job) {
  if (job.elapsed != kNoTime || job.start == kNoTime || job.end == kNoTime || job.end < job.start) return job.elapsed;
  return (job.end - job.start) * 1000;
}

// Whether it has ended without having run.
bool never_started(const SacctRow& job, std::int64_t run) {
  if (job.end == kNoTime || run > 0) return false;
  if (job.state == SacctState::given_up && job.start == job.end) return true;
  const bool ended = job.state == SacctState::completed || job.state == SacctState::failed ||
                     job.state == SacctState::given_up || job.state == SacctState::unknown;
  return ended && job.start == kNoTime;
}

// Jobs of rows on the terms of SWF, and what is odd about them.
class SacctJobs {
 public:
  SacctJobs(SacctRows rows, const SwfOptions& options) : rows_(std::move(rows)), options_(options) {
    out_.report = std::move(rows_.report);
  }
  SacctLog finish();

 private:
  void add_row(const SacctRow& job);
  void keep(const SacctRow& job, std::int64_t run);
  void remark(const SacctRow& job);
  void collect_requests();
  bool throttled(const SacctRow& job) const;
  std::int64_t comes(const SacctRow& job) const;
  std::map<std::uint32_t, std::string> named_anew(SwfField field, const NumbersOfNames& names);

  SacctRows rows_;
  const SwfOptions& options_;
  SacctLog out_;
  std::vector<std::uint32_t> requests_;  // of each row that is kept
  struct Array {
    std::int64_t first_start, first_came;
    bool throttle_known = false;
  };
  std::map<std::uint32_t, Array> arrays_;  // of which a task has started
};

void SacctJobs::add_row(const SacctRow& job) {
  const auto drop = [&](const char* what) { out_.report.drop(what, job.line); };
  const std::int64_t run = run_time(job);
  if (job.state == SacctState::cancelled && (job.start == kNoTime || run == 0)) {
    if (job.start != kNoTime && job.given) {
      out_.report.note(kAtOnce, job.line);
      return keep(job, 1000);
    }
    if (!options_.keep_cancelled) return drop(kCancelled);
    return keep(job, 0);
  }
  if (never_started(job, run)) return drop(kNeverStarted);
  if (job.state == SacctState::failed && run == 0 && !job.placed) return drop(kRefused);
  const bool waits = job.state == SacctState::pending || job.state == SacctState::requeued;
  if (waits || job.start == kNoTime) return drop(run > 0 ? kWaitsAgain : kWaiting);
  const bool runs = job.state == SacctState::running || job.state == SacctState::resizing;
  if (runs || job.end == kNoTime) return drop(kRunning);
  if (run < 0) return drop(kBackwards);
  keep(job, run);
}

// How far End - Start is from Elapsed, where all are told.
std::int64_t off(const SacctRow& job) {
  if (job.start == kNoTime || job.end == kNoTime || job.elapsed == kNoTime) return 0;
  return std::abs((job.end - job.start) * 1000 - job.elapsed);
}

// Whether clocks are put forward anywhere in a month between these times.
bool in_season(std::int64_t from, std::int64_t to) {
  using std::chrono::days, std::chrono::months, std::chrono::year_month_day;
  const auto month = [](std::int64_t time) {
    const year_month_day date{std::chrono::floor<days>(std::chrono::sys_seconds{std::chrono::seconds{time}})};
    return date.year() / date.month();
  };
  for (auto at = month(from); at <= month(to); at += months{1})
    for (const unsigned season : {3U, 4U, 8U, 9U, 10U, 11U})
      if (unsigned{at.month()} == season) return true;
  return false;
}

// Whether the clock was changed meanwhile: only for times of a wall clock without a known zone, as End - Start allows
// for it otherwise. A suspension never makes that shorter than Elapsed, as a clock that is put back does.
bool clock_changed(const SacctRow& job) {
  const std::int64_t by = off(job);
  if (!job.wall_clock || (by != 3'600'000 && by != 1'800'000)) return false;
  return (job.end - job.start) * 1000 < job.elapsed || in_season(job.start, job.end);
}

// For how long the job was suspended. One that is told to have run for longer than from Start to End was not.
Duration suspended(const SacctRow& job) {
  if (off(job) < kNoticed || clock_changed(job)) return Duration{0};
  return Duration{std::clamp<std::int64_t>((job.end - job.start) * 1000 - job.elapsed, 0, kLongest.count())};
}

void SacctJobs::keep(const SacctRow& job, std::int64_t run) {
  remark(job);
  SwfRow& row = out_.rows.emplace_back(SwfRow::blank());
  row.suspended = suspended(job);
  row.line = job.line;
  row.nodes = job.nodes;
  row.node_memory = job.node_memory;
  row.set(SwfField::processors, job.processors);
  row.set(SwfField::requested_processors, job.requested_processors);
  if (job.limit != kNoTime) row.set_milli(SwfField::requested_time, job.limit);
  row.set(SwfField::requested_memory, job.processor_memory);
  row.set(SwfField::user, job.user);
  row.set(SwfField::group, job.group);
  row.set(SwfField::partition, job.partition);
  row.set(SwfField::queue, job.queue);
  const std::int64_t left_queue = job.start != kNoTime ? job.start : job.end;
  // Between an earlier dispatch and when it was eligible again it neither ran nor waited: it comes so much later.
  const std::int64_t aside = std::max<std::int64_t>(std::int64_t{job.away} - job.earlier, 0);
  const std::int64_t waits_since = comes(job) + aside;
  row.earlier = seconds(job.earlier);
  row.array = job.array;
  row.throttle = job.throttle;
  row.ran_on = job.ran_on;
  row.set(SwfField::number, job.id.part == SacctId::kWhole ? job.id.number : -1);
  row.set(SwfField::submit, waits_since);  // made relative in finish()
  row.set_milli(SwfField::run, run);
  if (left_queue >= waits_since + job.earlier) row.set(SwfField::wait, left_queue - waits_since - job.earlier);
  row.set(SwfField::status, swf_status(job.state));
  requests_.push_back(job.request);
}

// Whether it was a task of its array that had to wait: what keeps the whole array keeps its first task, too.
bool SacctJobs::throttled(const SacctRow& job) const {
  const auto array = arrays_.find(job.array);
  return job.array > 0 && array != arrays_.end() && array->second.first_start < came(job);
}

// From when on a job waits. Where a throttle is known that is as for the first task: the throttle keeps the others.
std::int64_t SacctJobs::comes(const SacctRow& job) const {
  if (!throttled(job)) return came(job);
  const Array& array = arrays_.at(job.array);
  return array.throttle_known ? array.first_came : came(job);
}

// Counts what is odd about a job that is kept.
void SacctJobs::remark(const SacctRow& job) {
  const auto note = [&](const char* what) { out_.report.note(what, job.line); };
  if (off(job) >= kNoticed) note(clock_changed(job) ? kClockChange : kSuspended);
  const std::int64_t left_queue = job.start != kNoTime ? job.start : job.end;
  if (left_queue != kNoTime && left_queue < job.submit) note(kEarlyStart);
  if (came(job) != job.submit)
    note(!throttled(job) ? kLateEligible : comes(job) != came(job) ? kKnownThrottle : kThrottled);
  if (job.limit == kNoTime) note(kNoLimit);
  if (job.component) note(kComponent);
  if (job.spread == SacctSpread::kept) note(kKeptSpread);
  if (job.spread == SacctSpread::guessed) note(kGuessedSpread);
  const bool anywhere = job.spread == SacctSpread::any || job.spread == SacctSpread::guessed;
  if (anywhere && job.by_processors && options_.memory_counts) note(kNeverShort);
  for (std::size_t i = 0; i < kRemarks.size(); ++i)
    if ((job.remarks >> i & 1U) != 0) note(kRemarks[i]);
}

// What the jobs ask for beyond SWF, by their numbers.
void SacctJobs::collect_requests() {
  if (std::ranges::all_of(requests_, [](std::uint32_t request) { return request == 0; })) return;
  auto table = std::make_shared<AttributeTable>(rows_.shown);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == 0) continue;
    const SwfRow& row = out_.rows[i];
    JobAttributes asks = rows_.requests[requests_[i]];
    asks.nodes = row.nodes;
    asks.memory = row.node_memory;
    table->add(row[SwfField::number], asks, row.line);
  }
  table->finish();
  out_.attributes = std::move(table);
}

// Numbers for names in order of appearance among the jobs that are kept, whatever exports told them in which order.
std::map<std::uint32_t, std::string> SacctJobs::named_anew(SwfField field, const NumbersOfNames& names) {
  const auto old = names.by_number();
  std::vector<std::int64_t> fresh(old.size() + 1, 0);
  std::map<std::uint32_t, std::string> named;
  for (SwfRow& row : out_.rows) {
    if (row[field] < 0) continue;
    std::int64_t& number = fresh[static_cast<std::size_t>(row[field])];
    if (number == 0) {
      number = static_cast<std::int64_t>(named.size()) + 1;
      named.emplace(static_cast<std::uint32_t>(number), old.at(static_cast<std::uint32_t>(row[field])));
    }
    row.set(field, number);
  }
  return named;
}

// sacct --json tells the throttle of an array in the row of its last task alone. What has none needs no array.
void spread_throttles(std::vector<SwfRow>& rows) {
  std::map<std::int64_t, std::uint32_t> told;
  for (const SwfRow& row : rows)
    if (row.throttle > 0) told.emplace(row.array, row.throttle);
  for (SwfRow& row : rows) {
    const auto at = told.find(row.array);
    row.throttle = at != told.end() ? at->second : 0;
    if (row.throttle == 0) row.array = 0;
  }
}

// Tasks that come together start in the order in which they did; sacct lists an array's last task first. Each takes the
// line of the one in whose place it stands.
void order_tasks(std::vector<SwfRow>& rows) {
  std::map<std::int64_t, std::vector<std::size_t>> tasks;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].array > 0) tasks[rows[i].array].push_back(i);
  for (const auto& [array, places] : tasks) {
    std::vector<SwfRow> sorted;
    for (const std::size_t place : places) sorted.push_back(rows[place]);
    std::ranges::stable_sort(sorted, {}, [](const SwfRow& row) { return row[SwfField::submit] + row[SwfField::wait]; });
    for (std::size_t i = 0; i < places.size(); ++i) {
      sorted[i].line = rows[places[i]].line;
      rows[places[i]] = sorted[i];
    }
  }
}

SacctLog SacctJobs::finish() {
  {
    std::vector<SacctRow> jobs = jobs_of_rows(std::move(rows_.rows), out_.report);
    settle_spread(jobs, options_);
    out_.rows.reserve(jobs.size());
    requests_.reserve(jobs.size());
    for (const SacctRow& job : jobs) {
      if (job.array == 0 || job.start == kNoTime) continue;
      Array& array = arrays_.try_emplace(job.array, Array{job.start, came(job)}).first->second;
      array.first_start = std::min(array.first_start, job.start);
      array.first_came = std::min(array.first_came, came(job));
      array.throttle_known |= job.throttle > 0;
    }
    for (const SacctRow& job : jobs) add_row(job);
  }
  out_.cluster = std::move(rows_.cluster);
  out_.exports = std::move(rows_.exports);
  if (rows_.node_lists.size() > 0) out_.node_lists = std::make_shared<NodeLists>(std::move(rows_.node_lists));
  out_.local_times = rows_.local_times;
  if (out_.rows.empty()) return std::move(out_);
  give_numbers(out_.rows, out_.report);
  spread_throttles(out_.rows);
  collect_requests();
  order_tasks(out_.rows);
  close(out_);
  out_.users = named_anew(SwfField::user, rows_.users);
  out_.groups = named_anew(SwfField::group, rows_.groups);
  out_.partitions = named_anew(SwfField::partition, rows_.partitions);
  out_.queues = named_anew(SwfField::queue, rows_.queues);
  return std::move(out_);
}

}  // namespace

Result<SacctLog> read_sacct_log(std::vector<LineBlocks> exports, const SwfOptions& options) {
  auto rows = TRY(read_sacct_rows(std::move(exports), options));
  const std::string shown = rows.shown;
  if (rows.rows.empty() && !rows.other_cluster.empty()) {
    return fail(
        "{} has jobs of cluster {}, and none of cluster {}, which is the one described: ask sacct for the jobs of that "
        "one, with --clusters={}. To rehearse jobs of one cluster on another, leave the column Cluster out of the "
        "export.",
        shown, quoted(rows.other_cluster), quoted(options.cluster), one_line(options.cluster));
  }
  SacctLog log = SacctJobs(std::move(rows), options).finish();
  if (log.rows.empty()) {
    return fail("{}: no job can be read from it{}. Does sacct -X -P show finished jobs in that time?", shown,
                why_none(log.report, "rows"));
  }
  return log;
}

Result<SacctLog> read_sacct_log(LineBlocks blocks, const SwfOptions& options) {
  std::vector<LineBlocks> one;
  one.push_back(std::move(blocks));
  return read_sacct_log(std::move(one), options);
}

Result<Workload> read_sacct(LineBlocks blocks, const std::string& path, const SwfOptions& options) {
  const std::string shown = blocks.shown();
  auto log = TRY(read_sacct_log(std::move(blocks), options));
  auto workload = workload_of(std::move(log), path, options, shown);
  if (workload) workload->of_slurm = true;
  return workload;
}

Result<Workload> parse_sacct(std::string_view text, const std::string& name, const SwfOptions& options) {
  return read_sacct(LineBlocks::over(text, name), name, options);
}

}  // namespace rota::log
