// rota queue: which jobs wait and run.
#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/live/job_filter.h"
#include "cli/live/queue_format.h"
#include "cli/live/service.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

constexpr const char* kUsual = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";  // squeue's own
constexpr const char* kLong = "%.18i %.9P %.8j %.8u %.9T %.10M %.10l %.19S %.6D %@";
constexpr const char* kStarts = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %R";

struct QueueFlags {
  ServiceFlags service;
  JobFilter filter;
  std::string format;
  std::string sort;
  bool in_full = false;
  bool starts = false;
  bool array = false;
  bool no_header = false;
  std::int64_t every = 0;
};

struct Shown {
  std::string text;
  bool all_known;
  std::size_t left_out = 0;  // rows
  bool none_meets = false;   // of the jobs the filter, and nothing else was said of that
};

std::string rows_text(const QueueFlags& flags, const std::vector<QueueField>& fields, bool by_name, const Json& jobs) {
  if (by_name) return queue_table(fields, jobs, !flags.no_header);
  std::string out = flags.no_header ? "" : queue_header(fields) + "\n";
  for (const Json& job : jobs) out += queue_row(fields, job) + "\n";
  return out;
}

Result<Shown> shown_queue(const Service& service, const QueueFlags& flags) {
  const bool own = !flags.format.empty();
  const bool by_name = own && flags.format.find('%') == std::string::npos;
  const auto fields = TRY(by_name ? parse_queue_columns(flags.format)
                                  : parse_queue_format(own             ? flags.format
                                                       : flags.in_full ? kLong
                                                       : flags.starts  ? kStarts
                                                                       : kUsual));
  const std::string sort = flags.sort.empty() && flags.starts ? "S" : flags.sort;
  const bool starts = std::ranges::any_of(fields, [](const QueueField& f) { return tells_start(f.letter); }) ||
                      std::ranges::any_of(sort, tells_start);
  auto asked = TRY(flags.filter.ask(service, {{"starts", starts ? "yes" : ""}}));
  Json& jobs = asked.jobs;
  if (flags.starts) {
    Json waiting = Json::array();
    for (Json& job : jobs) {
      if (text_of(job, "state") == "PENDING") waiting.push_back(std::move(job));
    }
    jobs = std::move(waiting);
  }
  if (!sort.empty()) {
    TRY(sort_jobs(jobs, sort));
  }
  Shown shown{.text = {}, .all_known = asked.all_known};
  shown.none_meets = jobs.empty() && asked.all_known && (flags.filter.narrows() || flags.starts);
  if (!flags.service.json && !flags.array) jobs = folded_arrays(jobs);
  if (const auto most = static_cast<std::size_t>(flags.filter.most); most > 0 && jobs.size() > most) {
    shown.left_out = jobs.size() - most;
    jobs.erase(jobs.begin() + flags.filter.most, jobs.end());
  }
  shown.text = flags.service.json ? shown_json(Json{{"jobs", jobs}}) : rows_text(flags, fields, by_name, jobs);
  return shown;
}

void tell_what_is_not_shown(const Service& service, const Shown& shown) {
  if (shown.left_out > 0)
    remark(fmt::format("rota: there {}{} more; --limit 0 lists all.", shown.left_out == 1 ? "is " : "are ",
                       amount(static_cast<std::int64_t>(shown.left_out), "row")));
  if (!shown.none_meets) return;
  const auto status = service.get("/v1/status");
  if (!status) return;
  const auto count = [&](const char* name) { return static_cast<std::int64_t>(number_of(*status, name)); };
  tell_none_meets(count("running") + count("waiting") + count("held"), "that wait or run",
                  " `rota history` lists what has ended.");
}

Result<int> queue(const QueueFlags& flags) {
  const Service service(flags.service);
  if (flags.every > 0) service.follow();
  for (;;) {
    const auto shown = TRY(shown_queue(service, flags));
    const bool screen = flags.every > 0 && ::isatty(STDOUT_FILENO) == 1;
    if (auto done = printed((screen ? "\x1b[H\x1b[2J\x1b[3J" : "") + shown.text); !done) return done;
    tell_what_is_not_shown(service, shown);
    if (flags.every == 0) return shown.all_known ? kDone : kFailed;
    const std::timespec time{.tv_sec = flags.every, .tv_nsec = 0};
    ::nanosleep(&time, nullptr);
  }
}

}  // namespace

void add_queue(Command app, Action& action) {
  auto flags = std::make_shared<QueueFlags>();
  Command command = app.add_subcommand("queue", "list the jobs that wait and run");
  command.description(
      "The columns are squeue's. The last one says where a job runs or, in brackets, why it waits; "
      "`rota explain` says more.");
  flags->filter.declare(command, "the first in the order of the list", "PD or RUNNING");
  command.add_flag("-l,--long", flags->in_full, "with states in full, time limits, expected starts and accelerators");
  command.add_flag("--start", flags->starts,
                   "only what waits, by expected start; where none is promised, by the latest one");
  command.add_flag("-r,--array", flags->array, "a row for each job of an array, also while they wait");
  command.add_option("-S,--sort", flags->sort, "order by letters of --format, as -p,i: highest priority first, then id")
      .type_name("LETTERS");
  command
      .add_option("-o,--format", flags->format,
                  "columns, as \"%.18i %.9P %8j %T\": %, a dot for right, width, letter; or by name: jobid,name,state")
      .type_name("FORMAT");
  command.add_flag("--noheader", flags->no_header, "without the line that names the columns");
  command.add_option("-i,--iterate", flags->every, "again after so many seconds, until it is stopped")
      .range(std::int64_t{1}, std::int64_t{86400})
      .type_name("SECONDS");
  flags->service.declare_json(command);
  command.footer(
      "Letters: %i id, %F id of the array, %K index, %j name, %u user, %U its number, %P partition, %t state, %T in "
      "full, "
      "%M running time, %l limit, %L what is left of it, %D nodes, %C processors, %m memory, %b accelerators asked for "
      "on "
      "each node, %# which ones it holds, %W licences, %N nodes by name, %r reason, %R either, %@ with accelerators, "
      "%S "
      "(expected) start, %e (expected) end, %V submission, %p %Q priority, %E dependencies, %k comment, %s restarts, "
      "%o "
      "command, %Z folder. The other letters of squeue give N/A.\n\n"
      "Examples:\n"
      "  rota queue --me\n"
      "  rota queue -u ada,bob -p long\n"
      "  rota queue -t PD --start\n"
      "  rota queue -o '%.12i %20j %T %r' --noheader\n"
      "  rota queue -o jobid,name,user,state,reason\n"
      "  rota queue -l -i 5");
  command.callback([&action, flags] { action = [flags] { return queue(*flags); }; });
}

}  // namespace rota::cli
