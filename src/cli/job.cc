// rota job, explain, logs, wait: single jobs.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/job_filter.h"
#include "cli/job_state.h"
#include "cli/printed.h"
#include "cli/service.h"
#include "cli/watch.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

constexpr std::size_t kWidth = 100;

struct JobFlags {
  ServiceFlags service;
  std::string job;
  std::vector<std::string> jobs;
  bool follow = false;
  bool errors = false;
};

std::string target_of(const JobFlags& flags, const char* more = "") {
  return "/v1/jobs/" + percent_encoded(flags.job) + more;
}

// A number without a fraction where it has none.
std::string plain_number(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e15) return std::to_string(static_cast<std::int64_t>(number));
  std::string out = std::to_string(number);
  while (out.ends_with('0')) out.pop_back();
  return out;
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::ranges::find(names, name) != names.end();
}

std::string value_text(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) {
    const double number = value.get<double>();
    if (is_one_of(name, {"submit", "begin", "start", "end", "expected_start"})) return time_text(number);
    if (is_one_of(name, {"limit", "elapsed", "kill_wait", "warning_time"})) return limit_text(number);
    return name == "memory" ? memory_text(number) : plain_number(number);
  }
  std::string out;
  if (!value.is_array()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (const Json& each : value) out += (out.empty() ? "" : " ") + value_text("", each);
  return out;
}

// What people look for first stands first; all else as it comes.
std::vector<std::string> in_order(const Json& job) {
  std::vector<std::string> names;
  for (const char* name :
       {"id",         "name",    "user",      "state",     "reason", "why",   "message",        "partition",
        "processors", "nodes",   "memory",    "limit",     "submit", "begin", "expected_start", "start",
        "end",        "elapsed", "node_list", "exit_code", "signal"}) {
    if (job.contains(name)) names.emplace_back(name);
  }
  for (const auto& [name, value] : job.items()) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string members_text(const Json& job) {
  std::vector<std::pair<std::string, std::string>> lines;
  std::size_t width = 0;
  for (const std::string& name : in_order(job)) {
    const std::string value = value_text(name, job.at(name));
    if (value.empty()) continue;
    width = std::max(width, name.size());
    lines.emplace_back(name, value);
    std::ranges::replace(lines.back().first, '_', ' ');
  }
  std::string out;
  for (auto& [head, value] : lines) {
    head.resize(width + 2, ' ');
    out += one_line(head + value) + "\n";
  }
  return out;
}

Result<int> show_job(const JobFlags& flags) {
  const auto job = Service(flags.service).get(target_of(flags));
  if (!job) return std::unexpected(job.error());
  return printed(flags.service.json ? shown_json(*job) : members_text(*job));
}

std::string paragraph(const std::string& text) { return wrapped(one_line(text), kWidth, 0) + "\n"; }

std::string item(const std::string& text) { return "  - " + wrapped(one_line(text), kWidth, 4) + "\n"; }

std::string ahead_text(const Json& job) {
  std::string out = "job " + text_of(job, "id") + " of " + text_of(job, "user");
  if (has_number(job, "processors"))
    out += ", " + amount(static_cast<std::int64_t>(number_of(job, "processors")), "processor");
  if (has_number(job, "limit")) out += " for " + spoken_time(number_of(job, "limit"));
  if (has_number(job, "expected_start")) out += ", expected at " + time_text(number_of(job, "expected_start"));
  return out;
}

std::string explained(const Json& answer) {
  const std::string state = text_of(answer, "state"), why = text_of(answer, "why");
  std::string out = "Job " + text_of(answer, "id") + " is " + state;
  if (!text_of(answer, "reason").empty()) out += " (" + text_of(answer, "reason") + ")";
  out = paragraph(out + (why.empty() ? "." : ": " + why));
  if (has_number(answer, "promise"))
    out += paragraph("It is promised a start at " + time_text(number_of(answer, "promise")) + ".");
  if (!has_number(answer, "promise") && has_number(answer, "at_the_latest")) {
    out += paragraph("If every job takes its whole limit and nobody comes before it, it starts at " +
                     time_text(number_of(answer, "at_the_latest")) + ".");
  }
  if (!list_of(answer, "ahead").empty()) out += "\nAhead of it:\n";
  for (const Json& job : list_of(answer, "ahead")) out += item(ahead_text(job));
  if (const auto more = static_cast<std::int64_t>(number_of(answer, "more_ahead")); more > 0)
    out += item("and " + amount(more, "more job"));
  if (!list_of(answer, "would_start").empty()) out += "\nWhat would change it, tried on a copy of the state:\n";
  for (const Json& change : list_of(answer, "would_start")) {
    const std::string start = has_number(change, "start") ? " (at " + time_text(number_of(change, "start")) + ")" : "";
    out += item("it " + text_of(change, "text") + start);
  }
  if (!list_of(answer, "facts").empty()) out += "\nWhat this rests on:\n";
  for (const Json& fact : list_of(answer, "facts")) {
    if (fact.is_string()) out += item(fact.get<std::string>());
  }
  return out;
}

Result<int> explain_job(const JobFlags& flags) {
  const auto answer = Service(flags.service).get(target_of(flags, "/explain"));
  if (!answer) return std::unexpected(answer.error());
  return printed(flags.service.json ? shown_json(*answer) : explained(*answer));
}

Result<int> show_logs(const JobFlags& flags) {
  const Service service(flags.service);
  JobOutput output(service, flags.job, flags.errors ? "error" : "output");
  for (Pauses pauses;; pauses.pause()) {
    const auto over = output.copy(stdout);
    if (!over) return std::unexpected(over.error());
    if (*over || !flags.follow) return kDone;
  }
}

// The jobs that a selector means: ended ones only where their ids are given.
Result<Json> meant(const Service& service, const std::string& selector) {
  const bool ids = selector.find_first_not_of("0123456789_[]-,") == std::string::npos || selector == "last";
  return service.rows("/v1/jobs", {{"ids", selector}, {"ended", ids ? "yes" : ""}}, "jobs");
}

Result<int> wait_for_jobs(const JobFlags& flags) {
  const Service service(flags.service);
  const auto jobs = meant(service, joined(flags.jobs));
  if (!jobs) return std::unexpected(jobs.error());
  if (jobs->empty()) return fail(rota::quoted(joined(flags.jobs)) + " names no job; `rota queue` lists them.");
  std::vector<std::string> ids;
  for (const Json& job : *jobs) ids.push_back(text_of(job, "id"));
  const auto ended = ended_jobs(service, ids);
  if (!ended) return std::unexpected(ended.error());
  if (flags.service.json) {
    if (auto done = printed(shown_json(Json{{"jobs", *ended}})); !done) return done;
  }
  return worst_exit_code(*ended);
}

CLI::App* add_one(CLI::App& app, const char* name, const char* summary, JobFlags& flags) {
  CLI::App* command = app.add_subcommand(name, summary);
  command->add_option("JOB", flags.job, "its id, as 12 or 14_3, or last: the latest of who asks")->required();
  return command;
}

}  // namespace

void add_job(CLI::App& app, Action& action) {
  auto flags = std::make_shared<JobFlags>();
  CLI::App* command = add_one(app, "job", "tell all that is known of a job", *flags);
  flags->service.declare_json(*command);
  command->footer("Examples:\n  rota job 12\n  rota job last --json");
  command->callback([&action, flags] { action = [flags] { return show_job(*flags); }; });
}

void add_explain(CLI::App& app, Action& action) {
  auto flags = std::make_shared<JobFlags>();
  CLI::App* command = add_one(app, "explain", "explain why a job waits, and what would change that", *flags);
  flags->service.declare_json(*command);
  command->footer("Examples:\n  rota explain 12");
  command->callback([&action, flags] { action = [flags] { return explain_job(*flags); }; });
}

void add_logs(CLI::App& app, Action& action) {
  auto flags = std::make_shared<JobFlags>();
  CLI::App* command = add_one(app, "logs", "print what a job has written", *flags);
  command->add_flag("-f,--follow", flags->follow, "go on until the job has ended");
  command->add_flag("--error", flags->errors, "its standard error, where that is a file of its own");
  flags->service.declare(*command);
  command->footer("Examples:\n  rota logs -f last");
  command->callback([&action, flags] { action = [flags] { return show_logs(*flags); }; });
}

void add_wait(CLI::App& app, Action& action) {
  auto flags = std::make_shared<JobFlags>();
  CLI::App* command = app.add_subcommand("wait", "wait until jobs have ended");
  command->add_option("JOB", flags->jobs, kSelectorHelp)->required();
  flags->service.declare_json(*command);
  command->footer(
      "The exit code is the largest among those of the jobs: each one's own, 128 and the signal's number where a "
      "signal "
      "ended it, and 1 where it ended otherwise without one.\n\n"
      "Examples:\n  rota wait 12 13\n  rota wait name=sweep");
  command->callback([&action, flags] { action = [flags] { return wait_for_jobs(*flags); }; });
}

}  // namespace rota::cli
