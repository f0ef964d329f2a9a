#include "log/pbs.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "log/pbs_request.h"
#include "log/sacct_cell.h"
#include "log/searched_line.h"
#include "log/seen_jobs.h"

namespace rota::log {
namespace {

constexpr const char* kOther = "records of reservations, licences and nodes: passed over";
constexpr const char* kWhole = "records of whole arrays: passed over, for their members have their own";
constexpr const char* kMoved = "records of jobs that were moved, altered, held or provisioned: passed over";
constexpr const char* kToldLater = "records of jobs whose end or deletion is told by a later one: passed over";
constexpr const char* kReruns = "earlier starts of jobs that were queued again: told by the last one";
constexpr const char* kAgain = "told again: dropped";
constexpr const char* kDeleted = "deletions of jobs of which nothing else is told: dropped";
constexpr const char* kShared = "chunks that may share nodes: spread over the nodes that they had";
constexpr const char* kUneven = "chunks of several kinds: spread evenly over their nodes";
constexpr const char* kOtherResources = "other resources of the site (Resource_List) are asked for: left out";
constexpr const char* kGuessedProcessors = "processors are not told: taken as one";

struct Record {
  std::string_view when;  // "03/01/2024 12:00:41"
  char type = 0;
  std::string_view id;
  std::string_view text;
};

bool digits_at(std::string_view text, std::string_view form) {  // form: 9 for a digit, else the character itself
  if (text.size() < form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '9' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return false;
  }
  return true;
}

Result<Record> parse_record(std::string_view line) {
  if (!looks_like_pbs(line))
    return fail(
        "a record begins with its time and type, as in 03/01/2024 12:00:41;E;1234.server;user=anna, and this is " +
        quoted(line));
  const std::size_t end = line.find(';', 22);
  if (end == std::string_view::npos) return fail("the record breaks off behind " + quoted(line));
  return Record{line.substr(0, 19), line[20], line.substr(22, end - 22), line.substr(end + 1)};
}

// The next "name=value" of a record; values may stand in quotes of either kind. False: there is no more.
bool next_entry(std::string_view& rest, std::string_view& name, std::string_view& value) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r"), rest.size()));
  if (rest.empty()) return false;
  const std::size_t equals = rest.find_first_of("= ");
  if (equals == std::string_view::npos || rest[equals] == ' ') {  // a word without a value
    name = rest.substr(0, equals);
    value = {};
    rest.remove_prefix(name.size());
    return true;
  }
  name = rest.substr(0, equals);
  rest.remove_prefix(equals + 1);
  const char quote = rest.empty() ? ' ' : rest.front();
  std::size_t end = rest.find(' ');
  if (quote == '"' || quote == '\'') {
    for (end = rest.find(quote, 1); end != std::string_view::npos; end = rest.find(quote, end + 1)) {
      if (end + 1 == rest.size() || rest[end + 1] == ' ') break;
    }
    if (end != std::string_view::npos) {
      value = rest.substr(1, end - 1);
      rest.remove_prefix(end + 1);
      return true;
    }
    end = rest.find(' ');
  }
  value = rest.substr(0, end);
  rest.remove_prefix(value.size());
  return true;
}

// What is remembered of a job that has not ended yet.
struct Open {
  std::vector<std::int64_t> lines;  // of its records so far
  std::string last;                 // the one that says most of it
  std::int64_t last_line = 0;
  bool running = false;
  bool deleted = false;
  std::int64_t stopped = 0;                        // seconds
  std::optional<std::int64_t> stopped_since;       // by the server's clock
  std::int64_t earlier = 0;                        // seconds of starts that are over,
  std::optional<std::int64_t> reran;               // and when it was last told of one
  std::int64_t eligible = AccountedJob::kUnknown;  // before the first start
  std::int64_t went_on = 0;                        // likewise, last: what is told of earlier is told again

  void stop(std::int64_t now) {
    if (!stopped_since && now >= went_on) stopped_since = now;
  }
  void go_on(std::int64_t now) {
    if (!stopped_since || now < *stopped_since) return;
    stopped += now - *std::exchange(stopped_since, std::nullopt);
    went_on = now;
  }
};

class Reader {
 public:
  Reader(LineBlocks blocks, const SwfOptions& options)
      : blocks_(std::move(blocks)), options_(options), jobs_(blocks_.shown(), options) {}
  Result<AccountedLog> read();

 private:
  Result<void> read_line(std::string_view line);
  Result<void> take_end(const Record& record);
  Result<void> take_rest();
  static std::int64_t earlier_run(const Record& over, const Open& open);
  void take_opened(const Record& record, std::string_view line);
  Result<AccountedJob> job_of(const Record& record, PbsRequest& request, std::int64_t line);
  void remark(const PbsRequest& request, std::int64_t hosts, std::int64_t line);
  SeenJobs::Key key_of(std::string_view id, const AccountedJob& job);
  bool has_ended(std::string_view id, const AccountedJob& job);
  ImportReport& report() { return jobs_.report(); }

  LineBlocks blocks_;
  const SwfOptions& options_;
  AccountedJobs jobs_;
  std::map<std::string, Open, std::less<>> open_;
  NumbersOfNames servers_;  // of what stands behind the number in a job's id
  SeenJobs ended_;          // number, index and server, start and end
  std::int64_t line_ = 0;
};

Result<AccountedLog> Reader::read() {
  auto read = blocks_.each_line(
      [&](std::string_view line) -> Result<void> {
        ++line_;
        if (trimmed(line).empty()) return {};
        ++report().rows;
        const auto taken = read_line(behind_file_name(trimmed(line), looks_like_pbs));
        return taken ? taken : jobs_.bad_record(taken.error(), line_);
      },
      options_.progress);
  if (!read) return std::unexpected(read.error());
  TRY(take_rest());
  return jobs_.finish();
}

Result<void> Reader::read_line(std::string_view line) {
  const auto record = TRY(parse_record(line));
  const bool of_job = !record.id.empty() && record.id.front() >= '0' && record.id.front() <= '9';
  if (!of_job) {
    report().drop(kOther, line_);
    return Result<void>{};
  }
  if (record.id.find("[]") != std::string_view::npos) {
    report().drop(kWhole, line_);
    return Result<void>{};
  }
  switch (record.type) {
    case 'E':
      return take_end(record);
    case 'Q':
    case 'S':
    case 'T':
    case 'R':
    case 'D':
    case 'A':
    case 's':
    case 'z': {
      take_opened(record, line);
      return Result<void>{};
    }
    default: {
      report().drop(kMoved, line_);
      return Result<void>{};
    }
  }
}

// Seconds of the server's clock.
std::optional<std::int64_t> clock_of(std::string_view when) {
  const std::string iso =
      fmt::format("{}-{}-{}T{}", when.substr(6, 4), when.substr(0, 2), when.substr(3, 2), when.substr(11));
  const auto time = parse_sacct_time(iso);
  return time ? *time : std::nullopt;
}

std::int64_t time_in(const Record& record, std::string_view wanted) {
  std::string_view rest = record.text, name, value;
  while (next_entry(rest, name, value))
    if (name == wanted) return parse_integer(value).value_or(AccountedJob::kUnknown);
  return AccountedJob::kUnknown;
}

// For how long a start of a job lasted that is told to be over: as the record says, else until then by the server's
// clock.
std::int64_t Reader::earlier_run(const Record& over, const Open& open) {
  const std::int64_t start = time_in(over, "start"), end = time_in(over, "end");
  constexpr std::int64_t kMost = kLongest / seconds(1);
  if (start > 0 && end >= start) return std::min(end - start, kMost);
  const auto started = open.running ? clock_of(std::string_view(open.last).substr(0, 19)) : std::nullopt;
  const auto ended = clock_of(over.when);
  return started && ended ? std::clamp<std::int64_t>(*ended - *started, 0, kMost) : 0;
}

void Reader::take_opened(const Record& record, std::string_view line) {
  auto at = open_.find(record.id);
  if (at == open_.end()) at = open_.emplace(record.id, Open{}).first;
  Open& open = at->second;
  open.lines.push_back(line_);
  switch (record.type) {
    case 's':
      if (const auto now = clock_of(record.when)) open.stop(*now);
      return;
    case 'z':
      if (const auto now = clock_of(record.when)) open.go_on(*now);
      return;
    case 'D':
    case 'A':
      open.deleted = true;
      return;
    case 'R':  // this start of it is over
      report().drop(kReruns, line_);
      open.lines.pop_back();
      if (const auto now = clock_of(record.when)) {
        if (open.reran && *now <= *open.reran) return;  // told again
        open.reran = now;
      }
      open.earlier += earlier_run(record, open);
      open.running = false;
      open.stopped = open.went_on = 0;
      open.stopped_since.reset();
      return;
    default:
      open.running = record.type != 'Q';
      if (open.running && open.eligible == AccountedJob::kUnknown) open.eligible = time_in(record, "etime");
      open.last = line;
      open.last_line = line_;
  }
}

// The number that a text begins with, and takes it off; -1: it begins with none that such a text alone can stand for.
std::int64_t take_number(std::string_view& text, std::size_t most_digits) {
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  if (digits.empty() || digits.size() > most_digits || (digits.size() > 1 && digits.front() == '0')) return -1;
  text.remove_prefix(digits.size());
  return parse_integer(digits).value_or(-1);
}

// As small as it can be: "1234[5].server" in numbers, of which no other id has the same.
SeenJobs::Key Reader::key_of(std::string_view id, const AccountedJob& job) {
  const std::int64_t number = take_number(id, 15);
  std::int64_t index = -1;
  if (id.starts_with('[')) {
    std::string_view inside = id.substr(1);
    index = take_number(inside, 9);
    if (index >= 0) id = inside;
  }
  return {number, index * (std::int64_t{1} << 32U) + servers_.number_of(id), job.start, job.end};
}

// Whether an end of this job has been told, and not of another one that had its number before.
bool Reader::has_ended(std::string_view id, const AccountedJob& job) {
  constexpr std::int64_t kMost = INT64_MAX;
  const auto [number, place, start, end] = key_of(id, job);
  return ended_.any({number, place, job.submit, 0}, {number, place, kMost, kMost}) ||
         ended_.any({number, place, AccountedJob::kUnknown, job.submit},
                    {number, place, AccountedJob::kUnknown, kMost});
}

Result<void> Reader::take_end(const Record& record) {
  PbsRequest request;
  auto job = TRY(job_of(record, request, line_));
  const auto at = open_.find(record.id);
  if (at != open_.end()) {
    for (const std::int64_t line : at->second.lines) report().drop(kToldLater, line);
    if (const auto now = clock_of(record.when)) at->second.go_on(*now);  // it was never told to go on
    job.stopped = at->second.stopped;
    job.earlier = at->second.earlier;
    if (job.earlier > 0) job.eligible = at->second.eligible;  // and not when it was so again
    if (at->second.deleted && job.state != AccountedJob::State::completed) job.state = AccountedJob::State::cancelled;
    open_.erase(at);
  }
  if (!ended_.add(key_of(record.id, job))) {
    report().drop(kAgain, line_);
    return Result<void>{};
  }
  return jobs_.add(job);
}

// Jobs whose end the log does not tell: each is one row, and what else is told of it is passed over.
Result<void> Reader::take_rest() {
  for (const auto& [id, open] : open_) {
    for (const std::int64_t line : open.lines) {
      if (line != open.last_line) report().drop(open.last.empty() ? kDeleted : kToldLater, line);
    }
    if (open.last.empty()) continue;
    const auto record = parse_record(open.last);
    PbsRequest request;
    auto job = job_of(*record, request, open.last_line);
    if (!job) {
      if (auto bad = jobs_.bad_record(job.error(), open.last_line); !bad) return bad;
      continue;
    }
    if (open.deleted && job->submit == AccountedJob::kUnknown) {
      report().drop(kDeleted, open.last_line);
      continue;
    }
    if (has_ended(id, *job)) {
      report().drop(kAgain, open.last_line);
      continue;
    }
    job->start = job->end = AccountedJob::kUnknown;
    job->state = open.running   ? AccountedJob::State::running
                 : open.deleted ? AccountedJob::State::cancelled
                                : AccountedJob::State::waiting;
    if (open.running) job->start = job->submit;
    if (auto added = jobs_.add(*job); !added) {
      if (auto bad = jobs_.bad_record(added.error(), open.last_line); !bad) return bad;
    }
  }
  return {};
}

// "1234.server" and "1234[5].server"; members of arrays get numbers later.
Result<std::int64_t> number_of(std::string_view id) {
  const std::string_view digits = id.substr(0, id.find_first_not_of("0123456789"));
  const auto number = parse_integer(digits);
  if (!number || *number > 1'000'000'000'000'000) return fail("the job {} has no number", quoted(id));
  return id.size() > digits.size() && id[digits.size()] == '[' ? AccountedJob::kUnknown : *number;
}

Result<void> take_time(std::string_view name, std::string_view value, std::int64_t& into) {
  const auto time = parse_number(value);
  if (!time || *time < 0 || *time > 32'503'680'000.0)
    return fail("{} is {}, which is no time in seconds since 1970", name, quoted(value));
  if (*time > 0) into = static_cast<std::int64_t>(*time);
  return {};
}

Result<AccountedJob> Reader::job_of(const Record& record, PbsRequest& request, std::int64_t line) {
  AccountedJob job;
  job.line = line;
  job.state = AccountedJob::State::ended;  // until Exit_status says more
  const auto number = TRY(number_of(record.id));
  job.number = number;
  std::int64_t queued = AccountedJob::kUnknown, used = AccountedJob::kUnknown;
  PbsPlace host, vnode;
  std::string_view rest = record.text, name, value, account, project;
  Result<void> taken;
  while (taken && next_entry(rest, name, value)) {
    if (name.starts_with("Resource_List.")) {
      taken = request.read_resource(name.substr(14), value);
    } else if (name == "ctime" || name == "qtime" || name == "etime" || name == "start" || name == "end") {
      std::int64_t& into = name == "ctime"   ? job.submit
                           : name == "qtime" ? queued
                           : name == "etime" ? job.eligible
                           : name == "start" ? job.start
                                             : job.end;
      taken = take_time(name, value, into);
    } else if (name == "user") {
      job.user = value;
    } else if (name == "group") {
      job.group = value;
    } else if (name == "account") {
      account = value;
    } else if (name == "project" && value != "_pbs_project_default") {
      project = value;
    } else if (name == "queue") {
      job.queue = value;
    } else if (name == "exec_host") {
      host = parse_exec_host(value);
    } else if (name == "exec_vnode") {
      vnode = parse_exec_vnode(value);
    } else if (name == "Exit_status") {
      job.state = value == "0" ? AccountedJob::State::completed : AccountedJob::State::failed;
    } else if (name == "resources_used.ncpus") {
      used = parse_integer(value).value_or(AccountedJob::kUnknown);
    }
  }
  if (!taken) return std::unexpected(taken.error());
  if (job.submit == AccountedJob::kUnknown) job.submit = queued;
  if (job.submit == AccountedJob::kUnknown && record.type == 'E')  // older releases queue jobs with no word of it
    return fail("neither ctime nor qtime tells when the job was submitted");
  if (!account.empty() || !project.empty()) job.group = account.empty() ? project : account;
  job.limit = request.limit;
  job.requested_processors = processors_of(request);
  job.processors = request.width > 0      ? job.requested_processors  // what PBS knows of is a login node
                   : vnode.processors > 0 ? vnode.processors
                   : host.processors > 0  ? host.processors
                   : used > 0             ? used
                                          : job.requested_processors;
  auto asks = TRY(attributes_of(request, host.hosts > 0 ? host.hosts : vnode.hosts));
  job.asks = std::move(asks);
  if (record.type == 'E') {
    remark(request, host.hosts, line);
    if (job.processors <= 0) {
      report().note(kGuessedProcessors, line);
      job.processors = 1;
    }
  }
  return job;
}

void Reader::remark(const PbsRequest& request, std::int64_t hosts, std::int64_t line) {
  if (request.uneven) report().note(kUneven, line);
  if (request.chunks > 1 && !request.spread && !request.one_node && hosts != request.chunks)
    report().note(kShared, line);
  if (!request.other.empty()) report().note(kOtherResources, line);
}

}  // namespace

bool looks_like_pbs(std::string_view line) {
  return digits_at(line, "99/99/9999 99:99:99;") && line.size() > 22 && line[21] == ';';
}

Result<AccountedLog> read_pbs_log(LineBlocks blocks, const SwfOptions& options) {
  return Reader(std::move(blocks), options).read();
}

}  // namespace rota::log
