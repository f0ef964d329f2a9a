// rota history: jobs that have ended, and sums over them.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/letters.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/live/job_filter.h"
#include "cli/live/job_use.h"
#include "cli/live/service.h"
#include "cli/printed.h"
#include "cli/when.h"
#include "model/job_request.h"

namespace rota::cli {
namespace {

struct HistoryFlags {
  ServiceFlags service;
  JobFilter filter;
  std::string from, until, by, format;
  bool no_header = false;
};

bool narrows(const HistoryFlags& flags) {
  return flags.filter.narrows() || !flags.from.empty() || !flags.until.empty();
}

Result<std::map<std::string, std::string>> query(const HistoryFlags& flags) {
  auto out = flags.filter.query();
  if (!out) return out;
  out->erase("ended");
  const std::int64_t now = unix_now();
  for (const auto& [name, text] : {std::pair{"from", &flags.from}, std::pair{"until", &flags.until}}) {
    if (text->empty()) continue;
    const auto when = TRY(parse_when(*text, now, true));
    (*out)[name] = std::to_string(when);
  }
  return out;
}

std::string number(const Json& row, const char* name, const char* otherwise = "-") {
  return has_number(row, name) ? std::to_string(static_cast<std::int64_t>(number_of(row, name))) : otherwise;
}

// As sacct has it; "-" of a job that never was a process.
std::string status(const Json& job) {
  if (!has_number(job, "exit_code") && !has_number(job, "signal")) return "-";
  return fmt::format("{}:{}", number(job, "exit_code", "0"), number(job, "signal", "0"));
}

std::string time(const Json& job, const char* name) {
  return has_number(job, name) ? time_text(number_of(job, name)) : "-";
}

// As sacct calls them, where it has them.
struct JobColumn {
  Column column;
  std::function<std::string(const Json& job)> text;
  bool usual = false;  // shown without --format
};

// Behind them a column for each wish that is kept as a text.
std::vector<JobColumn> with_kept_texts(std::vector<JobColumn> columns) {
  each_wish([&](const auto& wish) {
    if (wish.kept == KeptAs::nothing) return;
    columns.push_back(
        {{upper(wish.name)}, [name = std::string(wish.name)](const Json& job) { return text_of(job, name.c_str()); }});
  });
  return columns;
}

const std::vector<JobColumn>& job_columns() {
  static const std::vector<JobColumn> columns = with_kept_texts(
      {{{"JOBID"}, [](const Json& job) { return text_of(job, "id"); }, true},
       {{"NAME"}, [](const Json& job) { return text_of(job, "name"); }, true},
       {{"USER"}, [](const Json& job) { return text_of(job, "user"); }, true},
       {{"PARTITION"}, [](const Json& job) { return text_of(job, "partition"); }, true},
       {{"CPUS", true}, [](const Json& job) { return number(job, "processors", "1"); }, true},
       {{"STATE"}, [](const Json& job) { return text_of(job, "state"); }, true},
       {{"EXITCODE", true}, status, true},
       {{"SUBMIT"}, [](const Json& job) { return time(job, "submit"); }, true},
       {{"START"}, [](const Json& job) { return time(job, "start"); }, true},
       {{"END"}, [](const Json& job) { return time(job, "end"); }, true},
       {{"ELAPSED", true}, [](const Json& job) { return run_text(number_of(job, "elapsed")); }, true},
       {{"OVERLIMIT", true},
        [](const Json& job) { return has_number(job, "over_limit") ? run_text(number_of(job, "over_limit")) : "-"; }},
       {{"TOTALCPU", true}, cpu_used},
       {{"CPUTIME", true}, cpu_held},
       {{"CPUEFF", true}, cpu_share},
       {{"MAXRSS", true}, memory_used},
       {{"REQMEM", true}, memory_held},
       {{"MEMEFF", true}, memory_share},
       {{"NODELIST"}, [](const Json& job) { return text_of(job, "node_list"); }}});
  return columns;
}

Result<std::vector<JobColumn>> columns_of(const std::string& format) {
  const std::vector<JobColumn>& all = job_columns();
  std::vector<JobColumn> columns;
  if (format.empty()) {
    std::ranges::copy_if(all, std::back_inserter(columns), &JobColumn::usual);
    return columns;
  }
  for (const std::string_view name : split(format, ',')) {
    const auto found =
        std::ranges::find(all, upper(trimmed(name)), [](const JobColumn& each) { return each.column.head; });
    if (found == all.end()) {
      std::string names;
      for (const JobColumn& each : all) names += (names.empty() ? "" : ", ") + lower(each.column.head);
      return fail("{} is no column of the history; there are {}.", rota::quoted(name), names);
    }
    columns.push_back(*found);
  }
  return columns;
}

// How many jobs the history has; 0 where that cannot be counted now.
std::int64_t ended_in_all(const Service& service) {
  const auto sums = service.get("/v1/history?by=month");
  std::int64_t all = 0;
  for (const Json& sum : sums ? list_of(*sums, "sums") : Json::array())
    all += static_cast<std::int64_t>(number_of(sum, "jobs"));
  return all;
}

// The exit code of a list that is printed; says what of the question there is not, where that may be why it is short.
Result<int> code_of(const Service& service, const std::map<std::string, std::string>& what, bool empty, bool narrowed) {
  const bool words = !empty || tell_unknown(service, what);
  const auto ids = TRY(all_known(service, what.at("ids")));
  if (!ids || !words) return kFailed;
  if (empty && narrowed) tell_none_meets(ended_in_all(service), "that ended");
  return kDone;
}

Result<int> list_jobs(const HistoryFlags& flags, const std::map<std::string, std::string>& what) {
  const auto columns = TRY(columns_of(flags.format));
  const std::size_t most = flags.filter.most == 0 ? SIZE_MAX : static_cast<std::size_t>(flags.filter.most);
  const Service service(flags.service);
  auto jobs = TRY(service.rows("/v1/history", what, "jobs", most == SIZE_MAX ? most : most + 1));
  const auto code = TRY(code_of(service, what, jobs.empty(), narrows(flags)));
  const bool more = jobs.size() > most;
  if (more) jobs.erase(jobs.size() - 1);
  if (flags.service.json) return printed(shown_json(Json{{"jobs", jobs}}), code);
  std::vector<Column> heads;
  for (const JobColumn& each : columns) heads.push_back(each.column);
  std::vector<std::vector<std::string>> rows;
  for (const Json& job : jobs) {
    auto& row = rows.emplace_back();
    for (const JobColumn& each : columns) row.push_back(each.text(job));
  }
  std::ranges::reverse(rows);  // the latest last, as sacct has it
  auto done = printed(table(heads, rows, !flags.no_header), code);
  if (done && more)
    remark(fmt::format("rota: there are more; these are the latest {} to end. --limit 0 lists all, --from narrows.",
                       grouped(flags.filter.most)));
  return done;
}

Result<int> list_sums(const HistoryFlags& flags, std::map<std::string, std::string> what) {
  what["by"] = flags.by;
  const Service service(flags.service);
  const auto answer = TRY(service.get(target_of("/v1/history", what)));
  const auto code = TRY(code_of(service, what, list_of(answer, "sums").empty(), narrows(flags)));
  if (flags.service.json) return printed(shown_json(answer), code);
  std::vector<std::vector<std::string>> rows;
  for (const Json& sum : list_of(answer, "sums")) {
    std::array<char, 32> hours{};
    constexpr double kHour = 3600;
    std::snprintf(hours.data(), hours.size(), "%.1f", number_of(sum, "processor_seconds") / kHour);
    rows.push_back({text_of(sum, "key"), number(sum, "jobs", "0"), number(sum, "failed", "0"), hours.data(),
                    has_number(sum, "mean_wait") ? run_text(number_of(sum, "mean_wait")) : "-"});
  }
  return printed(table({{upper(flags.by)}, {"JOBS", true}, {"FAILED", true}, {"CPU_HOURS", true}, {"MEAN_WAIT", true}},
                       rows, !flags.no_header),
                 code);
}

Result<int> history(const HistoryFlags& flags) {
  const auto what = TRY(query(flags));
  return flags.by.empty() ? list_jobs(flags, what) : list_sums(flags, what);
}

}  // namespace

void add_history(Command app, Action& action) {
  auto flags = std::make_shared<HistoryFlags>();
  Command command = app.add_subcommand("history", "list jobs that have ended, or sums over them");
  command.description("Those that ended last stand last.");
  flags->filter.most = 100;
  flags->filter.declare(command, "those that ended last", "F or TIMEOUT");
  command.add_option("-S,--from", flags->from, "ended since, as 2026-11-01, yesterday or now-7days").type_name("WHEN");
  command.add_option("-E,--until", flags->until, "ended before").type_name("WHEN");
  command.add_option("--by", flags->by, "sums in place of jobs, a row for each of these; months are those of UTC")
      .one_of({"user", "partition", "month"})
      .excludes("--limit");
  command
      .add_option("-o,--format", flags->format,
                  "these columns, with commas: those that stand without it, and overlimit (for so long it was let run "
                  "beyond its "
                  "limit), totalcpu (processor time used), cputime (with all its processors busy), cpueff (their "
                  "ratio), maxrss (the most memory at one time), reqmem, "
                  "memeff, nodelist, account, qos, features, required_nodes, excluded_nodes, reservation")
      .type_name("COLUMNS")
      .excludes("--by");
  command.add_flag("--noheader", flags->no_header, "without the line that names the columns");
  flags->service.declare_json(command);
  command.footer(
      "Of the sums, FAILED counts what ended neither as COMPLETED nor as CANCELLED: at its limit, too.\n\n"
      "Examples:\n"
      "  rota history --me --from now-7days\n"
      "  rota history -n 3\n"
      "  rota history --state F,TO --limit 0\n"
      "  rota history name=sweep,state=FAILED\n"
      "  rota history -o jobid,name,elapsed,totalcpu,cpueff,maxrss,memeff\n"
      "  rota history --by month");
  command.callback([&action, flags] { action = [flags] { return history(*flags); }; });
}

}  // namespace rota::cli
