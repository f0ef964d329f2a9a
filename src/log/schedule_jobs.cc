#include "log/schedule_jobs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.h"
#include "log/csv.h"
#include "log/line_blocks.h"
#include "model/machine.h"

namespace rota::log {
namespace {

constexpr Duration kNotRun = seconds(-1);  // the start of a job that Batsim did not run

enum Column : std::uint8_t {
  kNumber,
  kSubmit,
  kStart,
  kEnd,
  kRun,
  kWait,
  kSuspended,
  kProcessors,
  kLimit,
  kUser,
  kState,
  kPromise,
  kBackfilled,
  kKills,
  kPlace,
  kColumns
};

struct ColumnName {
  Column column;
  std::string_view name;
};
constexpr std::array kNames{ColumnName{kNumber, "number"},
                            ColumnName{kNumber, "job_id"},
                            ColumnName{kSubmit, "submit"},
                            ColumnName{kSubmit, "submission_time"},
                            ColumnName{kStart, "start"},
                            ColumnName{kStart, "starting_time"},
                            ColumnName{kEnd, "end"},
                            ColumnName{kEnd, "finish_time"},
                            ColumnName{kRun, "execution_time"},
                            ColumnName{kWait, "wait"},
                            ColumnName{kSuspended, "suspended"},
                            ColumnName{kProcessors, "processors"},
                            ColumnName{kProcessors, "requested_number_of_resources"},
                            ColumnName{kLimit, "limit"},
                            ColumnName{kLimit, "requested_time"},
                            ColumnName{kUser, "user"},
                            ColumnName{kState, "state"},
                            ColumnName{kState, "final_state"},
                            ColumnName{kPromise, "first_promise"},
                            ColumnName{kBackfilled, "backfilled"},
                            ColumnName{kKills, "kills"},
                            ColumnName{kPlace, "allocated_resources"}};

using Cells = std::vector<std::string_view>;

class Reader {
 public:
  Result<Schedule> read(LineBlocks blocks) {
    CsvCells cells;
    std::int64_t line = 0;
    auto read = blocks.each_line([&](std::string_view text) -> Result<void> {
      ++line;
      if (trimmed(text).empty()) return {};
      const auto row = cells.read(text, blocks.cut());
      auto taken = !row ? std::unexpected(row.error()) : named_ ? read_row(**row) : take_names(**row);
      if (!taken) return fail("{}:{}: {}", blocks.shown(), line, taken.error().message);
      return {};
    });
    if (!read) return std::unexpected(read.error());
    if (out_.jobs.empty()) return fail(blocks.shown() + ": the schedule has no jobs.");
    std::ranges::stable_sort(out_.jobs, {}, [](const Job& job) { return job.spec.submit; });
    return std::move(out_);
  }

 private:
  Result<void> take_names(const Cells& names) {
    named_ = true;
    at_.fill(SIZE_MAX);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto known = std::ranges::find(kNames, names[i], &ColumnName::name);
      if (known != kNames.end() && at_[known->column] == SIZE_MAX) at_[known->column] = i;
    }
    const auto lacks = [&](Column column) { return at_[column] == SIZE_MAX; };
    for (const auto& [column, name] : {std::pair{kNumber, "number or job_id"},
                                       {kSubmit, "submit or submission_time"},
                                       {kStart, "start or starting_time"},
                                       {kProcessors, "processors or requested_number_of_resources"}}) {
      if (lacks(column))
        return fail("{}{}.", std::string("a schedule begins with a line that names its columns, and none is called "),
                    name);
    }
    if (lacks(kEnd) && lacks(kRun)) return fail("no column tells when jobs ended: end, finish_time or execution_time.");
    return {};
  }

  std::string_view cell(const Cells& cells, Column column) const {
    return at_[column] < cells.size() ? cells[at_[column]] : std::string_view{};
  }

  // Seconds; nothing where the cell is empty.
  Result<std::optional<Duration>> time(const Cells& cells, Column column, const char* name) const {
    const std::string_view text = cell(cells, column);
    if (text.empty()) return std::nullopt;
    const auto number = parse_number(text);
    if (!number || std::abs(*number) > to_seconds(kLongest))
      return fail("{}: {} is no time in seconds.", name, quoted(text));
    return Duration{std::llround(*number * 1000)};
  }

  // One that did not run: refused, unless its state is that of another one. Batsim's states are its own.
  static JobState state_without_run(std::string_view state) {
    constexpr std::array kTaken{"waiting", "running",     "barred",        "completed", "timed_out",
                                "failed",  "node_failed", "out_of_memory", "cancelled", "unknown"};
    return std::ranges::find(kTaken, state) != kTaken.end() ? JobState::waiting : JobState::rejected;
  }

  Result<void> read_row(const Cells& cells) {
    Job job;
    const auto number = parse_integer(cell(cells, kNumber));
    if (!number) return fail("number: " + number.error().message);
    if (!seen_.insert(*number).second) return fail("job {} stands in the schedule twice.", *number);
    const auto processors = parse_integer(cell(cells, kProcessors));
    if (!processors || *processors < 1 || *processors > kMostProcessors)
      return fail("processors: {} is no number from 1 to 2147483647.", quoted(cell(cells, kProcessors)));
    job.spec.number = *number;
    job.spec.processors = static_cast<std::uint32_t>(*processors);
    if (auto done = take_times(cells, job); !done) return done;
    if (const auto user = parse_integer(cell(cells, kUser)); user && *user >= 0 && *user < UINT32_MAX)
      job.spec.user = static_cast<std::uint32_t>(*user);
    job.backfilled = cell(cells, kBackfilled) == "1";
    job.backfills = job.backfilled ? 1 : 0;
    if (const auto kills = parse_integer(cell(cells, kKills)); kills && *kills > 0 && *kills < 1'000'000)
      job.kills = static_cast<decltype(job.kills)>(*kills);
    out_.processors = std::max(out_.processors, highest(cell(cells, kPlace)));
    out_.unfinished += job.ended() || job.state == JobState::rejected ? 0 : 1;
    out_.jobs.push_back(job);
    return {};
  }

  Result<void> take_times(const Cells& cells, Job& job) const {
    const auto submit = time(cells, kSubmit, "submit"), start = time(cells, kStart, "start"),
               end = time(cells, kEnd, "end"), run = time(cells, kRun, "execution_time"),
               limit = time(cells, kLimit, "limit"), promise = time(cells, kPromise, "first_promise");
    for (const auto* each : {&submit, &start, &end, &run, &limit, &promise}) {
      if (!*each) return std::unexpected(each->error());
    }
    if (!*submit) return fail("submit: the job must have that time.");
    job.spec.submit = kEpoch + **submit;
    if (*promise) job.first_promise = kEpoch + **promise;
    const std::string_view state = cell(cells, kState);
    const bool told_end = end->has_value() || run->has_value();
    if (!*start || !told_end || state == "REJECTED" || state == "rejected" ||
        (**start == kNotRun && **submit >= Duration{0})) {
      job.state = state_without_run(state);
      job.spec.limit = std::max(limit->value_or(Duration{1000}), Duration{1});
      return {};
    }
    job.start = kEpoch + **start;
    job.end = *end ? kEpoch + **end : job.start + **run;
    if (job.end < job.start) return fail("the job ends before it starts.");
    if (job.start < job.spec.submit) return fail("the job starts before it was submitted.");
    job.state =
        state == "timed_out" || state == "COMPLETED_WALLTIME_REACHED" ? JobState::timed_out : JobState::completed;
    job.spec.limit = std::max(limit->value_or(job.end - job.start), Duration{1});
    return take_parts(cells, job);
  }

  // What of its time before its start was no wait but an earlier run, and what of that behind it was none.
  Result<void> take_parts(const Cells& cells, Job& job) const {
    const auto wait = TRY(time(cells, kWait, "wait"));
    const auto stood = TRY(time(cells, kSuspended, "suspended"));
    if (wait && *wait >= Duration{0}) job.done = std::max(job.wait() - *wait, Duration{0});
    if (!stood) return {};
    if (*stood < Duration{0} || *stood > job.end - job.start)
      return fail("suspended: {} is not from 0 to the time between start and end.", quoted(cell(cells, kSuspended)));
    job.stood = *stood;
    return {};
  }

  // "0-3 8" : 9.
  static std::int64_t highest(std::string_view place) {
    std::int64_t most = 0;
    for (const std::string_view range : split(place, ' ')) {
      const auto last =
          parse_integer(range.substr(range.find('-') == std::string_view::npos ? 0 : range.find('-') + 1));
      if (last && *last >= 0 && *last < kMostProcessors) most = std::max(most, *last + 1);
    }
    return most;
  }

  std::array<std::size_t, kColumns> at_{};
  bool named_ = false;
  std::set<std::int64_t> seen_;
  Schedule out_;
};

}  // namespace

Result<Schedule> read_schedule_jobs(const std::string& path) {
  auto blocks = TRY(LineBlocks::open(path));
  return Reader().read(std::move(blocks));
}

Result<Schedule> parse_schedule_jobs(std::string_view text, const std::string& name) {
  return Reader().read(LineBlocks::over(text, name));
}

}  // namespace rota::log
