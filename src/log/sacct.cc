#include "log/sacct.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "log/job_builder.h"
#include "log/sacct_cell.h"
#include "log/sacct_columns.h"

namespace rota::log {
namespace {

constexpr const char* kBadRow = "rows that cannot be read: dropped";
constexpr const char* kStep = "steps of jobs: passed over";
constexpr const char* kCancelled = "cancelled before they started: dropped";
constexpr const char* kWaiting = "not started when the log was taken: dropped";
constexpr const char* kRunning = "still running when the log was taken: dropped";
constexpr const char* kBackwards = "ended before they started, and Elapsed is not there: dropped";
constexpr const char* kClockChange = "started and ended on two sides of a clock change: Elapsed taken as the run time";
constexpr const char* kSuspended = "End - Start is not Elapsed (suspended?): Elapsed taken as the run time";
constexpr const char* kEarlyStart = "started before they were submitted: wait time left unknown";
constexpr const char* kLateEligible =
    "eligible later than submitted (held, or waiting for another job): submit time kept";
constexpr const char* kNoLimit = "no time limit (UNLIMITED, Partition_Limit, or not told): requested time left unknown";
constexpr const char* kNewNumber = "job numbers missing or doubled (members of arrays): new ones given";

constexpr std::int64_t kMostMemory = std::int64_t{1} << 60U;  // bytes of one job

void set(SwfRow& row, SwfField field, std::int64_t value) { row.value[static_cast<std::size_t>(field)] = value; }

void set_time(SwfRow& row, SwfField field, Duration time) {
  const auto i = static_cast<std::size_t>(field);
  row.value[i] = time.count() / 1000;
  row.thousandths[i] = static_cast<std::int16_t>(time.count() % 1000);
  if (row.thousandths[i] != 0) row.fractions |= 1U << i;
}

std::int64_t swf_status(SacctState state) {
  switch (state) {
    case SacctState::completed:
      return 1;
    case SacctState::cancelled:
      return 5;
    case SacctState::failed:
      return 0;
    default:
      return -1;
  }
}

// Numbers for names, from 1 in order of appearance.
class Names {
 public:
  std::int64_t number_of(std::string_view name) {
    if (name.empty()) return -1;
    const auto [at, fresh] = numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(numbers_.size() + 1));
    return at->second;
  }
  std::map<std::uint32_t, std::string> by_number() const {
    std::map<std::uint32_t, std::string> out;
    for (const auto& [name, number] : numbers_) out.emplace(number, one_line(name));
    return out;
  }

 private:
  std::map<std::string, std::uint32_t> numbers_;
};

using Seconds = std::optional<std::int64_t>;  // since 1970

struct Times {
  Seconds submit, eligible, start, end;
  std::optional<Duration> elapsed;
};

// Elapsed knows of clock changes and suspensions; the difference of two local times does not.
std::optional<Duration> run_time(const Times& times) {
  if (times.elapsed || !times.start || !times.end) return times.elapsed;
  return *times.end < *times.start ? std::nullopt : std::optional(seconds(*times.end - *times.start));
}

class Reader {
 public:
  Reader(LineBlocks blocks, SwfOptions options) : blocks_(std::move(blocks)), options_(std::move(options)) {}
  Result<SacctLog> read();

 private:
  Result<void> take_line(std::string_view line);
  Result<void> take_job();
  Result<Times> times() const;
  void remark(const Times& times);
  Result<void> set_processors(SwfRow& row);
  Result<void> set_limit(SwfRow& row);
  Result<void> set_memory(SwfRow& row);
  Result<void> set_names(SwfRow& row);
  Result<std::int64_t> first_count(std::initializer_list<SacctColumn> columns) const;
  Result<void> keep(const SacctId& id, const Times& times, std::optional<Duration> run, SacctState state);
  void give_numbers();
  void finish();

  LineBlocks blocks_;
  SwfOptions options_;
  SacctColumns columns_;
  SacctLog out_;
  Names users_, groups_, partitions_, queues_;
  std::int64_t line_ = 0;
  bool named_ = false;  // the line with the names of the columns has been read
};

Result<SacctLog> Reader::read() {
  for (;;) {
    const auto block = blocks_.next();
    if (!block) return std::unexpected(block.error());
    if (options_.progress) options_.progress(blocks_.share());
    if (block->empty()) break;
    for (std::string_view rest = *block; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      ++line_;
      const auto taken = take_line(rest.substr(0, end));
      if (!taken) return fail(blocks_.shown() + ":" + std::to_string(line_) + ": " + taken.error().message);
      rest.remove_prefix(end + 1);
    }
  }
  if (out_.rows.empty())
    return fail(blocks_.shown() + ": no job can be read from it" +
                (out_.report.rows == 0 ? " because it has no rows" : "; all its rows were dropped") +
                ". Does sacct -X -P show finished jobs in that time?");
  finish();
  return std::move(out_);
}

Result<void> Reader::take_line(std::string_view line) {
  if (trimmed(line).empty()) return {};
  if (!named_) {
    named_ = true;
    return columns_.read_names(line);
  }
  ++out_.report.rows;
  auto taken = columns_.read_row(line);
  if (taken) taken = take_job();
  if (taken) return {};
  if (!options_.skip_bad_rows)
    return fail(taken.error().message + ". Mend the row, or drop such rows with --skip-bad-rows.");
  out_.report.note(kBadRow, line_);
  return {};
}

Result<void> Reader::take_job() {
  const SacctColumn id_column = columns_.has(SacctColumn::job_id_raw) ? SacctColumn::job_id_raw : SacctColumn::job_id;
  const auto id = columns_.read(id_column, parse_sacct_id);
  if (!id) return std::unexpected(id.error());
  const auto note = [this](const char* what) -> Result<void> {
    out_.report.note(what, line_);
    return {};
  };
  if (id->step) return note(kStep);
  const auto when = times();
  if (!when) return std::unexpected(when.error());
  const SacctState state = parse_sacct_state(columns_.cell(SacctColumn::state));
  const auto run = run_time(*when);
  if (state == SacctState::cancelled && (!when->start || (run && run->count() == 0))) {
    if (!options_.keep_cancelled) return note(kCancelled);
    return keep(*id, *when, Duration{0}, state);
  }
  if (state == SacctState::pending || !when->start) return note(kWaiting);
  if (state == SacctState::running || !when->end) return note(kRunning);
  if (!run) return note(kBackwards);
  return keep(*id, *when, run, state);
}

Result<Times> Reader::times() const {
  Times out;
  for (const auto& [column, time] : {std::pair{SacctColumn::submit, &Times::submit},
                                     {SacctColumn::eligible, &Times::eligible},
                                     {SacctColumn::start, &Times::start},
                                     {SacctColumn::end, &Times::end}}) {
    const auto read = columns_.read(column, parse_sacct_time);
    if (!read) return std::unexpected(read.error());
    out.*time = *read;
  }
  if (!out.submit) return fail(columns_.complaint(SacctColumn::submit, "but each job must have that time"));
  const auto raw = columns_.read(SacctColumn::elapsed_raw, parse_sacct_count);
  const auto clock = columns_.read(SacctColumn::elapsed, parse_sacct_duration);
  if (!raw) return std::unexpected(raw.error());
  if (!clock) return std::unexpected(clock.error());
  out.elapsed = *raw >= 0 ? std::optional(seconds(*raw)) : *clock;
  return out;
}

// Counts what is odd about the times of a job that is kept.
void Reader::remark(const Times& times) {
  if (times.start && times.end && times.elapsed) {
    const Duration off = std::chrono::abs(seconds(*times.end - *times.start) - *times.elapsed);
    const bool hour = off == seconds(3600) || off == seconds(1800);
    if (off >= seconds(2)) out_.report.note(hour ? kClockChange : kSuspended, line_);
  }
  const Seconds left_queue = times.start ? times.start : times.end;
  if (left_queue && *left_queue < *times.submit) out_.report.note(kEarlyStart, line_);
  if (times.eligible && *times.eligible > *times.submit) out_.report.note(kLateEligible, line_);
}

Result<void> Reader::keep(const SacctId& id, const Times& times, std::optional<Duration> run, SacctState state) {
  SwfRow row;
  row.value.fill(-1);
  row.columns = kSwfFields;
  row.line = line_;
  set(row, SwfField::number, id.number);
  set(row, SwfField::submit, *times.submit);  // made relative in finish()
  set_time(row, SwfField::run, *run);
  const Seconds left_queue = times.start ? times.start : times.end;
  if (left_queue && *left_queue >= *times.submit) set(row, SwfField::wait, *left_queue - *times.submit);
  set(row, SwfField::status, swf_status(state));
  for (const auto step : {&Reader::set_limit, &Reader::set_processors, &Reader::set_memory, &Reader::set_names}) {
    const auto done = (this->*step)(row);
    if (!done) return done;
  }
  remark(times);
  out_.rows.push_back(row);
  return {};
}

// The first of these columns that tells a number above 0; -1: none does.
Result<std::int64_t> Reader::first_count(std::initializer_list<SacctColumn> columns) const {
  for (const SacctColumn column : columns) {
    const bool tres = column == SacctColumn::alloc_tres || column == SacctColumn::req_tres;
    const auto count = columns_.read(
        column, tres ? +[](std::string_view cell) { return parse_tres(cell, "cpu"); } : parse_sacct_count);
    if (!count || *count > 0) return count;
  }
  return -1;
}

Result<void> Reader::set_processors(SwfRow& row) {
  const auto used = first_count({SacctColumn::alloc_cpus, SacctColumn::ncpus, SacctColumn::alloc_tres});
  if (!used) return std::unexpected(used.error());
  const auto asked = first_count({SacctColumn::req_cpus, SacctColumn::req_tres});
  if (!asked) return std::unexpected(asked.error());
  const auto nodes = first_count({SacctColumn::alloc_nodes, SacctColumn::nnodes});
  if (!nodes) return std::unexpected(nodes.error());
  set(row, SwfField::processors, *used);
  set(row, SwfField::requested_processors, *asked);
  const std::int64_t processors = *used > 0 ? *used : *asked;
  if (*nodes > 0 && processors > 0 && processors % *nodes == 0) row.nodes = static_cast<std::uint32_t>(*nodes);
  return {};
}

Result<void> Reader::set_limit(SwfRow& row) {
  const auto minutes = columns_.read(SacctColumn::timelimit_raw, parse_sacct_count);
  if (!minutes) return std::unexpected(minutes.error());
  const auto clock = columns_.read(SacctColumn::timelimit, parse_sacct_duration);
  if (!clock) return std::unexpected(clock.error());
  const std::optional<Duration> limit = *minutes >= 0 ? std::optional(seconds(*minutes * 60)) : *clock;
  if (limit && limit->count() > 0) {
    set_time(row, SwfField::requested_time, *limit);
  } else {
    out_.report.note(kNoLimit, line_);
  }
  return {};
}

Result<void> Reader::set_memory(SwfRow& row) {
  const auto memory = columns_.read(SacctColumn::req_mem, parse_sacct_memory);
  if (!memory) return std::unexpected(memory.error());
  const std::int64_t used = row[SwfField::processors];
  const std::int64_t processors = used > 0 ? used : row[SwfField::requested_processors];
  const std::int64_t parts = memory->per == SacctMemory::Per::node        ? row.nodes
                             : memory->per == SacctMemory::Per::processor ? processors
                                                                          : 1;
  if (memory->bytes == 0 || processors <= 0 || parts <= 0) return {};
  if (memory->bytes > kMostMemory / parts)
    return fail(columns_.complaint(SacctColumn::req_mem, "which is more memory than there is"));
  if (row.nodes > 0) row.node_memory = memory->bytes * parts / row.nodes;
  set(row, SwfField::requested_memory, memory->bytes * parts / processors / 1024);
  return {};
}

Result<void> Reader::set_names(SwfRow& row) {
  for (const SacctColumn column :
       {SacctColumn::user, SacctColumn::group, SacctColumn::account, SacctColumn::partition, SacctColumn::qos})
    if (!is_utf8(columns_.cell(column))) return fail(columns_.complaint(column, "which is not UTF-8 text"));
  const SacctColumn group = columns_.has(SacctColumn::group) ? SacctColumn::group : SacctColumn::account;
  set(row, SwfField::user, users_.number_of(columns_.cell(SacctColumn::user)));
  set(row, SwfField::group, groups_.number_of(columns_.cell(group)));
  set(row, SwfField::partition, partitions_.number_of(columns_.cell(SacctColumn::partition)));
  set(row, SwfField::queue, queues_.number_of(columns_.cell(SacctColumn::qos)));
  return {};
}

// Members of arrays and jobs that are there twice get numbers above all others.
void Reader::give_numbers() {
  std::vector<std::size_t> order(out_.rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto number = [this](std::size_t i) { return out_.rows[i][SwfField::number]; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return number(a) < number(b); });
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (number(order[i]) < 0 || (i > 0 && number(order[i]) == number(order[i - 1]))) fresh.push_back(order[i]);
  std::int64_t next = std::max<std::int64_t>(number(order.back()), 0);
  std::sort(fresh.begin(), fresh.end());
  for (const std::size_t i : fresh) {
    set(out_.rows[i], SwfField::number, ++next);
    out_.report.note(kNewNumber, out_.rows[i].line);
  }
}

// The largest sum of processors of jobs that ran at the same time.
std::int64_t most_in_use(const std::vector<SwfRow>& rows) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // when (ms), by how much; ends first at one instant
  for (const SwfRow& row : rows) {
    const std::int64_t wait = row[SwfField::wait], used = row[SwfField::processors];
    if (wait < 0 || used <= 0 || row.milli(SwfField::run) <= 0) continue;
    const std::int64_t start = row.milli(SwfField::submit) + wait * 1000;
    changes.emplace_back(start, used);
    changes.emplace_back(start + row.milli(SwfField::run), -used);
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t now = 0, most = 0;
  for (const auto& [when, change] : changes) most = std::max(most, now += change);
  return most;
}

void Reader::finish() {
  give_numbers();
  std::stable_sort(out_.rows.begin(), out_.rows.end(),
                   [](const SwfRow& a, const SwfRow& b) { return a[SwfField::submit] < b[SwfField::submit]; });
  out_.unix_start = out_.rows.front()[SwfField::submit];
  for (SwfRow& row : out_.rows) set(row, SwfField::submit, row[SwfField::submit] - out_.unix_start);
  out_.users = users_.by_number();
  out_.groups = groups_.by_number();
  out_.partitions = partitions_.by_number();
  out_.queues = queues_.by_number();
  out_.most_processors = most_in_use(out_.rows);
  out_.report.kept = static_cast<std::int64_t>(out_.rows.size());
}

}  // namespace

Result<SacctLog> read_sacct_log(LineBlocks blocks, const SwfOptions& options) {
  return Reader(std::move(blocks), options).read();
}

Result<Workload> read_sacct(LineBlocks blocks, const std::string& path, const SwfOptions& options) {
  const std::string shown = blocks.shown();
  auto log = read_sacct_log(std::move(blocks), options);
  if (!log) return std::unexpected(log.error());
  JobBuilder builder(options);
  builder.report() = std::move(log->report);
  builder.make_room(log->rows.size());
  for (const SwfRow& row : log->rows) builder.add(row);
  auto workload = builder.finish(shown);
  if (!workload) return workload;
  workload->name = workload_name(path);
  workload->processors = log->most_processors;
  workload->unix_start = log->unix_start;
  workload->partitions = std::move(log->partitions);
  workload->users = std::move(log->users);
  return workload;
}

Result<Workload> parse_sacct(std::string_view text, const std::string& name, const SwfOptions& options) {
  return read_sacct(LineBlocks::over(text, name), name, options);
}

}  // namespace rota::log
