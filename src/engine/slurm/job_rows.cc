#include "engine/slurm/job_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "site/date.h"

namespace rota::slurm {
namespace {

// Above all numbers of Slurm's own (26 bits). 2^40 + array * 2^22 + index stays below 2^53, as JSON wants it.
constexpr std::int64_t kTaskNumbers = std::int64_t{1} << 40U;
constexpr std::int64_t kMostTasks = std::int64_t{1} << 22U;

using Cells = std::vector<std::string_view>;

// By these names squeue -O knows what stands in each place; the name, which a user chooses, comes last.
constexpr std::array kQueueFields{
    "JobID",         "ArrayJobID", "ArrayTaskID", "State",       "UserID",       "GroupID",   "UserName",   "Account",
    "Partition",     "QOS",        "Reason",      "SubmitTime",  "EligibleTime", "StartTime", "EndTime",    "TimeLimit",
    "NumCPUs",       "NumNodes",   "MaxNodes",    "tres",        "NodeList",     "exit_code", "RestartCnt", "Requeue",
    "OverSubscribe", "Licenses",   "Feature",     "Reservation", "Dependency",   "ReqNodes",  "Name"};
constexpr std::array kAccountFields{"JobID",   "State",  "UID",      "GID",      "User",     "Account",   "Partition",
                                    "QOS",     "Submit", "Eligible", "Start",    "End",      "Timelimit", "AllocCPUS",
                                    "ReqCPUS", "NNodes", "ReqTRES",  "NodeList", "ExitCode", "JobName"};

std::string_view told(std::string_view cell) {
  cell = trimmed(cell);
  return cell == "N/A" || cell == "(null)" || cell == "None" || cell == "Unknown" || cell == "NONE" ? std::string_view{}
                                                                                                    : cell;
}

std::int64_t time_of(std::string_view cell) {
  cell = told(cell);
  if (cell.empty()) return -1;
  const auto at = site::unix_milliseconds_of(std::string(cell) + "Z");
  return at.value_or(-1);
}

template <class Number>
Number number_of(std::string_view cell, Number fallback) {
  const auto number = parse_integer(told(cell));
  return number && *number >= 0 && *number <= std::numeric_limits<Number>::max() ? static_cast<Number>(*number)
                                                                                 : fallback;
}

Duration limit_of(std::string_view cell) {
  const auto limit = parse_duration(told(cell));
  return limit ? *limit : Duration{0};
}

// "cpu=7,mem=400M,node=2,gres/gpu=2"
void take_tres(std::string_view text, JobRow& row) {
  for (const std::string_view each : split(told(text), ',')) {
    const std::size_t equals = each.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = each.substr(0, equals), value = each.substr(equals + 1);
    if (name == "mem") {
      const auto size = parse_size(value);
      if (size) row.memory = *size;
    } else if (name == "gres/gpu") {
      row.accelerators = number_of<std::int64_t>(value, 0);
    }
  }
}

struct StateWord {
  std::string_view word;
  Stage stage;
  Outcome outcome = Outcome::unknown;
};
// One that is COMPLETING holds its nodes still, and how it has ended is told behind that.
constexpr std::array kStates{StateWord{"PENDING", Stage::waiting},
                             StateWord{"REQUEUED", Stage::waiting},
                             StateWord{"REQUEUE_HOLD", Stage::waiting},
                             StateWord{"REQUEUE_FED", Stage::waiting},
                             StateWord{"RESV_DEL_HOLD", Stage::waiting},
                             StateWord{"SPECIAL_EXIT", Stage::waiting},
                             StateWord{"RUNNING", Stage::running},
                             StateWord{"CONFIGURING", Stage::running},
                             StateWord{"COMPLETING", Stage::running},
                             StateWord{"RESIZING", Stage::running},
                             StateWord{"SIGNALING", Stage::running},
                             StateWord{"STAGE_OUT", Stage::running},
                             StateWord{"SUSPENDED", Stage::suspended},
                             StateWord{"STOPPED", Stage::suspended},
                             StateWord{"COMPLETED", Stage::ended, Outcome::completed},
                             StateWord{"FAILED", Stage::ended, Outcome::failed},
                             StateWord{"TIMEOUT", Stage::ended, Outcome::timed_out},
                             StateWord{"DEADLINE", Stage::ended, Outcome::timed_out},
                             StateWord{"CANCELLED", Stage::ended, Outcome::cancelled},
                             StateWord{"REVOKED", Stage::ended, Outcome::cancelled},
                             StateWord{"PREEMPTED", Stage::ended, Outcome::cancelled},
                             StateWord{"NODE_FAIL", Stage::ended, Outcome::node_failed},
                             StateWord{"BOOT_FAIL", Stage::ended, Outcome::node_failed},
                             StateWord{"OUT_OF_MEMORY", Stage::ended, Outcome::out_of_memory}};

bool take_state(std::string_view cell, JobRow& row) {
  const std::string_view word = split(trimmed(cell), ' ').front();  // "CANCELLED by 1000"
  const auto found = std::ranges::find(kStates, word, &StateWord::word);
  if (found == kStates.end()) return false;
  row.stage = found->stage;
  row.outcome = found->outcome;
  row.completing = word == "COMPLETING";
  return true;
}

bool take_id(std::string_view id, std::string_view array, std::string_view index, JobRow& row) {
  row.id = number_of<std::int64_t>(id, 0);
  row.index = number_of<std::int64_t>(index, -1);
  row.array = row.index >= 0 ? number_of<std::int64_t>(array, 0) : 0;
  return row.id > 0 && row.index < kMostTasks && (row.index < 0 || row.array > 0);
}

bool read_queued(const Cells& cells, JobRow& row) {
  std::size_t at = 0;
  const auto next = [&] { return cells[at++]; };
  const std::string_view id = next(), array = next(), index = next();
  if (!take_id(id, array, index, row) || !take_state(next(), row)) return false;
  row.uid = number_of<std::uint32_t>(next(), UINT32_MAX);
  row.gid = number_of<std::uint32_t>(next(), UINT32_MAX);
  for (std::string_view* text : {&row.user, &row.account, &row.partition, &row.qos, &row.reason}) *text = told(next());
  for (std::int64_t* time : {&row.submit, &row.eligible, &row.start, &row.end}) *time = time_of(next());
  row.limit = limit_of(next());
  row.processors = number_of<std::uint32_t>(next(), 0);
  row.node_count = number_of<std::uint32_t>(next(), 0);
  row.most_nodes = number_of<std::uint32_t>(next(), 0);
  take_tres(next(), row);
  row.nodes = told(next());
  row.status = number_of<std::int32_t>(next(), 0);
  row.restarts = number_of<std::int64_t>(next(), 0);
  row.requeue = trimmed(next()) != "0";
  row.exclusive = trimmed(next()) == "NO";
  for (std::string_view* text : {&row.licences, &row.features, &row.reservation, &row.dependency, &row.required_nodes})
    *text = told(next());
  row.name = next();
  return row.submit >= 0 && row.processors > 0;
}

// "12", "12_3"; tasks that never ran, "12_[4-9]", and parts of a job that runs as several, "12+1", are of no use.
bool take_shown_id(std::string_view shown, JobRow& row) {
  const std::size_t bar = shown.find('_');
  if (bar == std::string_view::npos) return take_id(shown, "", "", row);
  return take_id(shown.substr(0, bar), shown.substr(0, bar), shown.substr(bar + 1), row) && row.index >= 0;
}

bool read_accounted(const Cells& cells, JobRow& row) {
  std::size_t at = 0;
  const auto next = [&] { return cells[at++]; };
  if (!take_shown_id(next(), row) || !take_state(next(), row)) return false;
  row.uid = number_of<std::uint32_t>(next(), UINT32_MAX);
  row.gid = number_of<std::uint32_t>(next(), UINT32_MAX);
  for (std::string_view* text : {&row.user, &row.account, &row.partition, &row.qos}) *text = told(next());
  for (std::int64_t* time : {&row.submit, &row.eligible, &row.start, &row.end}) *time = time_of(next());
  row.limit = limit_of(next());
  const auto got = number_of<std::uint32_t>(next(), 0), asked = number_of<std::uint32_t>(next(), 0);
  row.processors = got > 0 ? got : asked;
  row.node_count = number_of<std::uint32_t>(next(), 0);
  take_tres(next(), row);
  row.nodes = next();
  if (row.nodes == "None assigned") row.nodes = {};
  const auto code = split(next(), ':');
  row.status = number_of<std::int32_t>(code.front(), 0) << 8U;
  if (code.size() == 2) row.status |= number_of<std::int32_t>(code[1], 0);
  row.name = next();
  return row.submit >= 0 && row.processors > 0;
}

template <std::size_t kFields>
Result<JobRows> read_rows(std::string_view text, std::string_view mark, const std::array<const char*, kFields>& fields,
                          bool (*read)(const Cells&, JobRow&)) {
  JobRows all;
  const std::string ends = std::string(mark) + "\n";
  Cells cells;
  while (!text.empty()) {
    cells.clear();
    for (std::size_t cell = 0; cell < fields.size(); ++cell) {
      const std::string_view end = cell + 1 < fields.size() ? mark : std::string_view(ends);
      const std::size_t at = text.find(end);
      if (at == std::string_view::npos)
        return fail("what Slurm printed ends in the middle of a row, or is no list of jobs: {}",
                    quoted(text.substr(0, std::min(text.find('\n'), text.size()))));
      cells.push_back(text.substr(0, at));
      text.remove_prefix(at + end.size());
    }
    JobRow row;
    if (read(cells, row)) {
      all.rows.push_back(row);
    } else {
      ++all.unread;
    }
  }
  return all;
}

std::string sacct_format(const std::string& mark) {
  std::string text = fmt::format("sacct -X -P -n -a --delimiter={} -o ", mark);
  for (const char* field : kAccountFields) text += fmt::format("{},", field);
  text.pop_back();
  return text;
}

}  // namespace

std::int64_t JobRow::number() const { return index < 0 ? id : kTaskNumbers + array * kMostTasks + index; }

std::string shown_job(std::int64_t number) {
  if (number < kTaskNumbers) return std::to_string(number);
  return fmt::format("{}_{}", (number - kTaskNumbers) / kMostTasks, (number - kTaskNumbers) % kMostTasks);
}

std::string squeue_command(const std::string& mark) {
  std::string text = "squeue -h -a -r -t all -O ";
  for (const char* field : kQueueFields) text += fmt::format("{}:{},", field, mark);
  text.pop_back();
  return text;
}

std::string sacct_command(const std::string& mark, const std::string& since) {
  return fmt::format("{} -S {} -E now -s BF,CA,CD,DL,F,NF,OOM,PR,TO", sacct_format(mark), since);
}

std::string sacct_command_for(const std::string& mark, const std::vector<std::string>& jobs) {
  std::string text = sacct_format(mark) + " -S 1970-01-02 -j ";
  for (const std::string& job : jobs) text += job + ",";
  text.pop_back();
  return text;
}

std::string throttle_command(const std::string& mark, const std::vector<std::int64_t>& arrays) {
  std::string text = fmt::format("squeue -h -a -t PD -O ArrayJobID:{0},ArrayTaskID:{0} -j ", mark);
  for (const std::int64_t array : arrays) text += fmt::format("{},", array);
  text.pop_back();
  return text;
}

// "0-9%4" stands for the tasks that are still one row.
std::map<std::int64_t, std::uint32_t> read_throttles(std::string_view text, std::string_view mark) {
  std::map<std::int64_t, std::uint32_t> throttles;
  for (std::string_view line : split(text, '\n')) {
    const std::size_t end = line.find(mark);
    if (end == std::string_view::npos) continue;
    const auto array = number_of<std::int64_t>(line.substr(0, end), 0);
    line.remove_prefix(end + mark.size());
    const std::size_t percent = line.find('%');
    if (array == 0 || percent == std::string_view::npos) continue;
    const auto most = number_of<std::uint32_t>(line.substr(percent + 1, line.find(mark) - percent - 1), 0);
    if (most > 0) throttles[array] = most;
  }
  return throttles;
}

std::string after_of(std::string_view dependency) {
  std::string after;
  const bool any = dependency.contains('?');
  for (const std::string_view all : split(dependency, ','))
    for (const std::string_view each : split(all, '?')) {
      std::string_view word = each.substr(0, each.find('('));
      if (word.ends_with("_*")) word.remove_suffix(2);
      if (!word.empty()) after += fmt::format("{}{}", after.empty() ? "" : " ", word);
    }
  if (any && !after.empty()) after += " any";
  return after;
}

Result<JobRows> read_squeue(std::string_view text, std::string_view mark) {
  return read_rows(text, mark, kQueueFields, read_queued);
}

Result<JobRows> read_sacct(std::string_view text, std::string_view mark) {
  // Its last cell ends with the line: it is the name, and rows begin behind lines that have all marks.
  JobRows all;
  Cells cells;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    cells.clear();
    std::string_view rest = line;
    for (std::size_t at = rest.find(mark); at != std::string_view::npos; at = rest.find(mark)) {
      cells.push_back(rest.substr(0, at));
      rest.remove_prefix(at + mark.size());
    }
    cells.push_back(rest);
    if (cells.size() == 1) continue;  // the rest of a name
    JobRow row;
    if (cells.size() == kAccountFields.size() && read_accounted(cells, row)) {
      all.rows.push_back(row);
    } else {
      ++all.unread;
    }
  }
  if (!text.empty() && !text.ends_with('\n')) return fail("what sacct printed ends in the middle of a row.");
  return all;
}

}  // namespace rota::slurm
