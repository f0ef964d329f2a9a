#include "log/schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "log/csv.h"
#include "log/line_blocks.h"

namespace rota::log {
namespace {

struct Columns {
  std::size_t number = SIZE_MAX;
  std::size_t start = SIZE_MAX;
  bool batsim = false;  // in whose schedules a job that did not run starts at -1
};

using Cells = std::vector<std::string_view>;

Result<Columns> read_columns(std::string_view line, const Cells& names, const std::string& file) {
  Columns columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    if (name == "job_id" || name == "number") columns.number = i;
    if (name == "start" || name == "starting_time") columns.start = i;
    if (name == "starting_time") columns.batsim = true;
  }
  if (columns.number == SIZE_MAX || columns.start == SIZE_MAX) {
    return fail("{}:1: a schedule begins with a line that names its columns, job_id and start among them, not {}.",
                file, quoted(line));
  }
  return columns;
}

Result<SavedStart> read_row(const Cells& fields, const Columns& columns) {
  if (fields.size() <= std::max(columns.number, columns.start))
    return fail("it has too few columns; its first line promises a job_id and a start.");
  const auto number = parse_integer(fields[columns.number]);
  if (!number) return fail("job_id: " + number.error().message);
  if (fields[columns.start].empty()) return SavedStart{*number, kNever};
  const auto start = parse_number(fields[columns.start]);
  if (!start) return fail("start: " + start.error().message);
  if (std::abs(*start) > to_seconds(kLongest))
    return fail("start: {} is out of range; no schedule lasts that long.", quoted(fields[columns.start]));
  if (columns.batsim && *start == -1) return SavedStart{*number, kNever};
  if (*start < 0)
    return fail(
        "start: {} lies before second 0, at which the workload begins; leave it empty where a job did not start.",
        quoted(fields[columns.start]));
  return SavedStart{*number, Instant{Duration{std::llround(*start * 1000.0)}}};
}

std::string place(const std::string& file, std::int64_t line) { return fmt::format("{}:{}: ", file, line); }

Result<void> check_unique(const std::vector<SavedStart>& starts, const std::string& file) {
  const auto twice = std::adjacent_find(starts.begin(), starts.end(),
                                        [](const SavedStart& a, const SavedStart& b) { return a.number == b.number; });
  if (twice == starts.end()) return {};
  return fail("{}: job {} stands in the schedule twice.", file, twice->number);
}

}  // namespace

Result<std::vector<SavedStart>> read_schedule(const std::string& path) {
  auto blocks = TRY(LineBlocks::open(path));
  std::vector<SavedStart> starts;
  Columns columns;
  CsvCells cells;
  std::int64_t number = 0;
  auto done = blocks.each_line([&](std::string_view line) -> Result<void> {
    const auto row = cells.read(line, blocks.cut());
    ++number;
    if (!row) return fail(place(blocks.shown(), number) + row.error().message);
    if (number == 1) {
      columns = TRY(read_columns(line, **row, blocks.shown()));
    } else if (!trimmed(line).empty()) {
      const auto start = read_row(**row, columns);
      if (!start) return fail(place(blocks.shown(), number) + start.error().message);
      starts.push_back(*start);
    }
    return {};
  });
  if (!done) return std::unexpected(done.error());
  if (number == 0) return fail(blocks.shown() + ": the schedule is empty.");
  std::stable_sort(starts.begin(), starts.end(),
                   [](const SavedStart& a, const SavedStart& b) { return a.number < b.number; });
  TRY(check_unique(starts, blocks.shown()));
  return starts;
}

}  // namespace rota::log
