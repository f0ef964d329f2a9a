// rota cancel, hold, release, requeue, suspend, resume, update: something is done to jobs.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/live/change_request.h"
#include "cli/live/job_filter.h"
#include "cli/live/service.h"
#include "cli/live/submit_request.h"
#include "cli/live/submit_value.h"
#include "cli/printed.h"
#include "cli/when.h"
#include "model/job_request.h"

namespace rota::cli {
namespace {

struct ActionFlags {
  ServiceFlags service;
  std::vector<std::string> jobs;
  std::string signal, user;
  bool me = false;
  std::string limit, partition, begin;
  std::string priority, throttle;
  std::string licences;
  SubmitValues asked;
};

// One sentence for each job for which it was not done; the exit code says whether there is one.
Result<int> told(const Json& answer, const ServiceFlags& flags) {
  int code = kDone;
  std::int64_t done = 0;
  for (const Json& job : list_of(answer, "jobs")) {
    if (flag_of(job, "done")) {
      done += has_number(job, "more") ? static_cast<std::int64_t>(number_of(job, "more")) : 1;
      continue;
    }
    code = kFailed;
    const std::string detail = text_of(job, "detail");
    if (!flags.json)
      remark("rota: " + (detail.empty() ? fmt::format("job {} is as it was.", text_of(job, "id")) : detail));
  }
  if (!flags.json && code != kDone && done > 0) remark(fmt::format("rota: Done to the other {}.", amount(done, "job")));
  if (!flags.json) return code;
  if (auto said = printed(shown_json(answer)); !said) return said;
  return code;
}

Result<int> act(const ActionFlags& flags, const std::string& action, Json more) {
  Json body{{"ids", joined(flags.jobs)}};
  body.update(more);
  const auto answer = TRY(Service(flags.service).post("/v1/jobs/" + action, body));
  return told(answer, flags.service);
}

// All that it is to hold from now on.
Result<void> licences_of(const std::string& text, Json& out) {
  out["licence"] = "";
  if (text == "none") return {};
  const auto licences = parse_named_licences(text);
  if (!licences) return fail("--licences: " + licences.error().message);
  put_licences(*licences, out);
  return {};
}

Result<Json> changes(const ActionFlags& flags) {
  Json out = Json::object();
  if (!flags.limit.empty()) {
    const auto limit = TRY(limit_seconds(flags.limit, Dialect::rota));
    out["limit"] = limit;
  }
  if (!flags.partition.empty()) out["partition"] = flags.partition;
  if (!flags.begin.empty()) {
    const auto begin = TRY(parse_when(flags.begin, unix_now()));
    out["begin"] = begin;
  }
  for (const auto& [name, text] : {std::pair{"priority", &flags.priority}, std::pair{"throttle", &flags.throttle}}) {
    if (text->empty()) continue;
    const auto number = parse_integer(*text);
    if (!number) return fail("--{} takes a whole number, not {}.", name, rota::quoted(*text));
    out[name] = *number;
  }
  if (!flags.licences.empty()) {
    TRY(licences_of(flags.licences, out));
  }
  TRY(put_changes(flags.asked, out));
  if (out.empty())
    return fail(
        "there is nothing to change; name a new --limit, --priority, --partition, --begin, --licences, --name, "
        "--processors, --nodes or --mem.");
  return out;
}

std::shared_ptr<ActionFlags> declared(Command command) {
  auto flags = std::make_shared<ActionFlags>();
  command.add_option("JOB", flags->jobs, kSelectorHelp).required();
  return flags;
}

constexpr const char* kOutcome =
    "Nothing is said where it was done to every job. Else standard error has a sentence for each of the others, and "
    "the exit "
    "code is 1.\n\n";

// A command that has nothing but jobs to name.
struct Plain {
  const char* name;
  const char* summary;
  const char* more;
  const char* examples;
};

void add_plain(Command app, Action& action, const Plain& plain) {
  Command command = app.add_subcommand(plain.name, plain.summary);
  command.description(plain.more);
  auto flags = declared(command);
  flags->service.declare_json(command);
  command.footer(fmt::format("{}Examples:\n{}", kOutcome, plain.examples));
  command.callback([&action, flags, name = std::string(plain.name)] {
    action = [flags, name] { return act(*flags, name, Json::object()); };
  });
}

void add_cancel(Command app, Action& action) {
  Command command = app.add_subcommand("cancel", "end jobs, or send them a signal");
  command.description(
      "A job that runs gets SIGTERM, and SIGKILL once its kill wait is over. One that waits ends at "
      "once.");
  auto flags = std::make_shared<ActionFlags>();
  command.add_option("JOB", flags->jobs, kSelectorHelp);
  command.add_option("-u,--user", flags->user, "only those of this user").type_name("NAME");
  command.add_flag("--me", flags->me, "only your own");
  command.add_option("-s,--signal", flags->signal, "send this signal, as USR1, and do nothing else").type_name("NAME");
  flags->service.declare_json(command);
  command.footer(std::string(kOutcome) +
                 "Examples:\n"
                 "  rota cancel 12 14_[1-5]\n"
                 "  rota cancel --signal USR1 12\n"
                 "  rota cancel name=sweep\n"
                 "  rota cancel --me");
  command.callback([&action, flags] {
    if (flags->me) flags->user = kCallingUser;
    if (!flags->user.empty()) flags->jobs.push_back("user=" + flags->user);
    if (flags->jobs.empty()) throw UsageError{"JOB", true};
    action = [flags] {
      return act(*flags, "cancel", flags->signal.empty() ? Json::object() : Json{{"signal", flags->signal}});
    };
  });
}

// As `rota submit` spells them.
void declare_size(Command command, SubmitValues& asked) {
  for (const auto& [name, meaning] : {std::pair{"--name", "name"},
                                      {"--processors", "processors; with -c: how many times so many"},
                                      {"--cpus-per-task", "with -n: processors of each"},
                                      {"--nodes", "nodes to spread them over evenly; 0: as if none had been named"},
                                      {"--ntasks-per-node", "with -N, in place of -n: how many on each node"},
                                      {"--mem", "memory on each node, as 500M or 4G; none: it asks for none"}}) {
    SubmitOption option = *submit_option(name);
    option.meaning = meaning;
    declare_submit_option(command, asked, option);
  }
}

// "-A,--account" and what else is kept with a job and decides nothing; "none" takes it away.
void declare_labels(Command command, SubmitValues& asked) {
  const auto kept = labels();
  for (const SubmitOption& option : submit_options()) {
    if (std::ranges::find(kept, option.key) != kept.end()) declare_submit_option(command, asked, option);
  }
}

void add_update(Command app, Action& action) {
  Command command = app.add_subcommand("update", "change what jobs ask for");
  command.description(
      "Of a job that runs only the time limit can be changed: its user may lower it, an "
      "operator also raise it.");
  auto flags = declared(command);
  command.add_option("-t,--limit,--time", flags->limit, "time limit, as 1h30m or 1:30:00; a bare number counts seconds")
      .type_name("TIME");
  command.add_option("--priority", flags->priority, "higher goes first; only operators may raise it").type_name("N");
  command.add_option("-p,--partition", flags->partition, "partition").type_name("NAME");
  command.add_option("-b,--begin", flags->begin, "not before, as now+1hour, 16:00 or 2026-11-30T12:00")
      .type_name("WHEN");
  command.add_option("--throttle", flags->throttle, "how many jobs of an array run at a time").type_name("N");
  command
      .add_option("-L,--licences,--licenses", flags->licences,
                  "of a job that waits: the licences that it is to hold, as matlab:2,simulink; none: no more")
      .type_name("NAMES");
  declare_size(command, flags->asked);
  declare_labels(command, flags->asked);
  flags->service.declare_json(command);
  command.footer(std::string(kOutcome) +
                 "Examples:\n"
                 "  rota update 12 --limit 2h\n"
                 "  rota update 13 --licences matlab:2\n"
                 "  rota update 13 -n 8 --mem 4G --name smaller\n"
                 "  rota update 14 --throttle 20");
  command.callback([&action, flags] {
    action = [flags]() -> Result<int> {
      const auto what = TRY(changes(*flags));
      return act(*flags, "update", what);
    };
  });
}

}  // namespace

void add_job_actions(Command app, Action& action) {
  add_cancel(app, action);
  add_plain(app, action,
            {"hold", "keep jobs that wait from starting", "They wait until they are released.", "  rota hold 12"});
  add_plain(app, action,
            {"release", "let jobs start that were held", "What an operator holds only an operator releases.",
             "  rota release 12 13"});
  add_plain(app, action,
            {"requeue", "end jobs and queue them again", "They begin anew from their start.", "  rota requeue 12"});
  add_plain(app, action,
            {"suspend", "stop the processes of jobs that run",
             "They keep what they hold, and go on with `rota resume`. That time does not count for their limits.",
             "  rota suspend 12"});
  add_plain(app, action,
            {"resume", "let suspended jobs go on",
             "Their processes go on where they stopped. What an operator has suspended only an operator resumes.",
             "  rota resume 12"});
  add_update(app, action);
}

}  // namespace rota::cli
