// rota job, explain, logs, wait: single jobs.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/live/array_summary.h"
#include "cli/live/explained.h"
#include "cli/live/job_filter.h"
#include "cli/live/job_state.h"
#include "cli/live/service.h"
#include "cli/live/watch.h"
#include "cli/printed.h"
#include "cli/rehearse/story.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

struct JobFlags {
  ServiceFlags service;
  std::string job;
  std::vector<std::string> jobs;
  bool follow = false;
  bool errors = false;
  bool script = false;
  std::string journal;  // explain: tells a story out of this one
};

std::string target_of(const JobFlags& flags, const char* more = "") {
  return fmt::format("/v1/jobs/{}{}", percent_encoded(flags.job), more);
}

bool by_id(const std::string& selector) {
  return std::ranges::all_of(split(selector, ','), [](std::string_view part) {
    return trimmed(part) == "last" || trimmed(part).find_first_not_of("0123456789_[]-%") == std::string_view::npos;
  });
}

constexpr std::int64_t kJustEnded = 3600;  // seconds for which an end counts where no id is given

// The jobs that have just ended among those that a selector means by what they are.
Result<Json> just_ended(const Service& service, const std::string& selector) {
  return service.rows("/v1/history", {{"ids", selector}, {"from", std::to_string(unix_now() - kJustEnded)}}, "jobs");
}

// These commands are about one job: of several that are named, the one that there is.
Result<std::string> one_named(const Service& service, const std::string& job) {
  const bool range = by_id(job) && job.find('-') != std::string::npos;
  if (job.find_first_of("=,[") == std::string::npos && !range && job != "all") return job;
  const bool ids = by_id(job);
  auto jobs = service.rows("/v1/jobs", {{"ids", job}, {"ended", ids ? "yes" : ""}}, "jobs");
  if (jobs && jobs->empty() && !ids && job != "all") jobs = just_ended(service, job);
  if (!jobs) return std::unexpected(jobs.error());
  if (jobs->size() == 1) return text_of(jobs->front(), "id");
  const std::string which =
      jobs->empty() ? " names no job" : fmt::format(" means {} jobs", grouped(static_cast<std::int64_t>(jobs->size())));
  return fail("{}{}, and this command is about one, such as 130 or last; `rota queue {}` lists those that are meant.",
              rota::quoted(job), which, one_line(job));
}

Result<int> show_script(const Service& service, const JobFlags& flags) {
  const auto script = TRY(service.text(target_of(flags, "/script")));
  if (script.body.empty()) return fail("job {} has no script; `rota job {}` tells its command.", flags.job, flags.job);
  return printed(script.body);
}

// Where a job has a script, the words of its command are the script's arguments.
void tell_script(const Service& service, const JobFlags& flags, Json& job) {
  const auto script = service.text(target_of(flags, "/script"));
  if (!script || script->body.empty()) return;
  job["script"] = fmt::format("`rota job {} --script` prints it", text_of(job, "id"));
  job["arguments"] = job["command"];
  job.erase("command");
}

Result<int> show_job(JobFlags flags) {
  const Service service(flags.service);
  flags.job = TRY(one_named(service, flags.job));
  if (flags.script) return show_script(service, flags);
  auto job = TRY(service.get(target_of(flags)));
  const auto tasks = TRY(tasks_of_array(service, flags.job, job));
  if (tasks) return printed(flags.service.json ? shown_json(array_json(*tasks)) : array_text(*tasks));
  if (flags.service.json) return printed(shown_json(job));
  if (job.is_object() && job.contains("command")) tell_script(service, flags, job);
  if (job.is_object() && job.contains("auction"))
    job["auction"] = fmt::format("`rota auction {}` prints it", text_of(job, "id"));
  return printed(members_text(job));
}

// The task that stands for its array; the job itself where it is none.
Result<std::string> explained_one(const Service& service, const std::string& id) {
  const auto job = service.get("/v1/jobs/" + percent_encoded(id));
  if (!job) return id;  // what is wrong is said in answer to the question itself
  const auto tasks = TRY(tasks_of_array(service, id, *job));
  if (!tasks) return id;
  const std::string array = text_of(*job, "array");
  const Json* first = first_waiting(*tasks);
  if (first == nullptr)
    return fail("no task of array {} waits; `rota job {}` tells what has become of them.", array, array);
  remark(
      fmt::format("rota: Job {} is an array; this is of {}, the first task that waits.", array, text_of(*first, "id")));
  return text_of(*first, "id");
}

Result<int> explain_job(const JobFlags& asked) {
  if (!asked.journal.empty()) {
    const auto number = parse_integer(asked.job);
    if (!number) return fail("a journal knows jobs by their numbers, and {} is none.", rota::quoted(asked.job));
    const auto story = TRY(story_of(*number, asked.journal));
    return printed(asked.service.json ? story_json(story) : story_text(story));
  }
  const Service service(asked.service);
  const auto named = TRY(one_named(service, asked.job));
  const auto one = TRY(explained_one(service, named));
  JobFlags flags = asked;
  flags.job = one;
  auto answer = TRY(service.get(target_of(flags, "/explain")));
  if (!flags.service.json && has_ended(text_of(answer, "state"))) {
    const auto job = service.get(target_of(flags));
    if (job && !text_of(*job, "message").empty()) answer["why"] = text_of(*job, "message");
  }
  return printed(flags.service.json ? shown_json(answer) : explained(answer));
}

// For an array, the user has to say which task is meant.
Result<void> is_one_task(const Service& service, const JobFlags& flags) {
  const auto job = service.get(target_of(flags));
  if (!job) return {};  // what is wrong is said in answer to the question itself
  const auto tasks = TRY(tasks_of_array(service, flags.job, *job));
  if (!tasks) return {};
  const std::string array = text_of(*job, "array");
  std::string those;
  for (const char* state : {"FAILED", "RUNNING", "COMPLETED"}) {
    if (const std::string some = tasks_in(*tasks, state); !some.empty())
      those += fmt::format("{}{} {}", those.empty() ? "" : ", ", state, some);
  }
  return fail("job {} is an array of {}; say whose output, as `rota logs {}`{}", array,
              amount(static_cast<std::int64_t>(tasks->size()), "task"), text_of((*tasks)[0], "id"),
              those.empty() ? "." : fmt::format(" ({}).", those));
}

// Why there is nothing to be seen of a job.
void tell_why_nothing(const Service& service, const JobFlags& flags) {
  const auto job = service.get(target_of(flags));
  if (!job) return;
  const std::string state = text_of(*job, "state");
  if (has_ended(state)) return tell_what_was_said(service, Json::array({*job}));
  if (state == "PENDING" || state == "CONFIGURING")
    remark(fmt::format("rota: job {} has not started; `rota explain {}` tells why.", text_of(*job, "id"),
                       text_of(*job, "id")));
}

// Says why a job waits whose output is waited for; true once that has been said.
bool tell_that_it_waits(const Service& service, const JobFlags& flags) {
  const auto job = service.get(target_of(flags));
  const std::string sentence = job ? why_it_waits(*job) : "";
  if (!sentence.empty()) remark("rota: " + sentence);
  return !sentence.empty();
}

Result<int> show_logs(JobFlags flags) {
  const Service service(flags.service);
  if (flags.follow) service.follow();
  flags.job = TRY(one_named(service, flags.job));
  TRY(is_one_task(service, flags));
  JobOutput output(service, flags.job, flags.errors ? "error" : "output");
  constexpr int kSoon = 3;  // pauses, 0.1 s together: a job that starts at once is not said to wait
  bool told = false;
  int looks = 0;
  for (Pauses pauses;; pauses.pause()) {
    const auto over = TRY(output.copy(stdout));
    if (!over && flags.follow) {
      if (!told && !output.written() && ++looks > kSoon) told = tell_that_it_waits(service, flags);
      continue;
    }
    if (!output.written()) tell_why_nothing(service, flags);
    return kDone;
  }
}

// The jobs that a selector means. Ended ones count where their ids are given, or where they have just ended.
Result<Json> meant(const Service& service, const std::string& selector) {
  const bool ids = by_id(selector);
  auto jobs = service.rows("/v1/jobs", {{"ids", selector}, {"ended", ids ? "yes" : ""}}, "jobs");
  if (!jobs || ids || selector == "all") return jobs;
  const auto ended = TRY(just_ended(service, selector));
  std::set<std::string> known;
  for (const Json& job : *jobs) known.insert(text_of(job, "id"));
  for (const Json& job : ended) {
    if (known.insert(text_of(job, "id")).second) jobs->push_back(job);
  }
  return jobs;
}

Result<int> wait_for_jobs(const JobFlags& flags) {
  const Service service(flags.service);
  const std::string selector = joined(flags.jobs);
  const auto jobs = TRY(meant(service, selector));
  if (jobs.empty() && selector != "all") {
    return fail(rota::quoted(selector) +
                " names no job that waits, runs or ended within the last hour; `rota queue` and `rota history` list "
                "them.");
  }
  const auto known = TRY(all_known(service, selector));
  std::vector<std::string> ids;
  for (const Json& job : jobs) ids.push_back(text_of(job, "id"));
  const auto ended = TRY(ended_jobs(service, ids));
  if (flags.service.json) {
    if (auto done = printed(shown_json(Json{{"jobs", ended}})); !done) return done;
  } else {
    tell_what_was_said(service, ended);
  }
  return known ? worst_exit_code(ended) : std::max(worst_exit_code(ended), kFailed);
}

// `array`: what an id of an array alone means.
Command add_one(Command app, const char* name, const char* summary, const std::string& array, JobFlags& flags) {
  Command command = app.add_subcommand(name, summary);
  command
      .add_option("JOB", flags.job,
                  fmt::format("its id, as 12, or 14_3 of an array ({}), last: your latest, or what means "
                              "one job, as name=fit",
                              array))
      .required();
  return command;
}

}  // namespace

void add_job(Command app, Action& action) {
  auto flags = std::make_shared<JobFlags>();
  Command command = add_one(app, "job", "tell all that is known of a job", "14: the whole array", *flags);
  command.add_flag("--script", flags->script, "print the script that was submitted, and nothing else");
  flags->service.declare_json(command);
  command.footer("Examples:\n  rota job 12\n  rota job last --json\n  rota job 12 --script");
  command.callback([&action, flags] { action = [flags] { return show_job(*flags); }; });
}

void add_explain(Command app, Action& action) {
  auto flags = std::make_shared<JobFlags>();
  Command command = add_one(app, "explain", "explain why a job waits, and what would change that",
                            "14: its first task that waits", *flags);
  command
      .add_option("--journal", flags->journal,
                  "tell its story out of a journal that rota simulate wrote, or out of the state folder of a service: "
                  "promises, and who passed it")
      .type_name("FILE");
  flags->service.declare_json(command);
  command.footer("Examples:\n  rota explain 12\n  rota explain 12 --journal rehearsal.journal");
  command.callback([&action, flags] { action = [flags] { return explain_job(*flags); }; });
}

void add_logs(Command app, Action& action) {
  auto flags = std::make_shared<JobFlags>();
  Command command = add_one(app, "logs", "print what a job has written", "14 alone names its tasks", *flags);
  command.add_flag("-f,--follow", flags->follow, "go on until the job has ended");
  command.add_flag("--error", flags->errors, "its standard error, where that is a file of its own");
  flags->service.declare(command);
  command.footer("Examples:\n  rota logs -f last\n  rota logs 14_3");
  command.callback([&action, flags] { action = [flags] { return show_logs(*flags); }; });
}

void add_wait(Command app, Action& action) {
  auto flags = std::make_shared<JobFlags>();
  Command command = app.add_subcommand("wait", "wait until jobs have ended");
  command.add_option("JOB", flags->jobs, kSelectorHelp).required();
  flags->service.declare_json(command);
  command.footer(
      "The exit code is the largest among those of the jobs: each one's own, 128 and the signal's number where a "
      "signal ended it, and 1 where it ended otherwise without one or can never start, since a job before it failed. "
      "An "
      "id that no job has is told, the others are waited for, and the exit code is 1 at least.\n"
      "By user=, name=, partition= and state= those are meant, too, that ended within the last hour; all means what "
      "waits and runs, and where nothing does that is no failure.\n\n"
      "Examples:\n  rota wait 12 13\n  rota wait name=sweep");
  command.callback([&action, flags] { action = [flags] { return wait_for_jobs(*flags); }; });
}

}  // namespace rota::cli
