// rota status, policy: the service itself.
#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/live/service.h"
#include "cli/live/submission.h"
#include "cli/live/top_view.h"
#include "cli/printed.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

struct StatusFlags {
  ServiceFlags service;
  std::string policy;
  bool dry_run = false;
  bool yes = false;
};

std::string count(const Json& status, const char* name) {
  return grouped(static_cast<std::int64_t>(number_of(status, name)));
}

// Which nodes sleep that the policy will not wake; empty: none.
std::string asleep_text(const Json& answer) {
  const std::string nodes = text_of(answer, "left_asleep");
  return nodes.empty() ? nodes
                       : fmt::format("{}; the policy wakes no node, `rota nodes power-up {}` does", nodes, nodes);
}

// What is known and not queued: held by a user, or kept back by its begin time, another job or its array.
std::string held_text(const Json& status) {
  if (!has_number(status, "not_eligible")) return count(status, "held") + " held, or that may not start yet";
  const auto kept_back = static_cast<std::int64_t>(number_of(status, "not_eligible"));
  const auto all = static_cast<std::int64_t>(number_of(status, "held"));
  return fmt::format("{} held, {} that may not start yet", grouped(std::max<std::int64_t>(0, all - kept_back)),
                     grouped(kept_back));
}

std::string status_text(const Json& status) {
  std::string out;
  const auto line = [&](const char* head, const std::string& text) {
    std::string name = head;
    name.resize(12, ' ');
    if (!text.empty()) out += one_line(name + text) + "\n";
  };
  line("version", text_of(status, "version"));
  line("policy", text_of(status, "policy") +
                     (flag_of(status, "plain") ? ", not followed: jobs start in order of the queue" : ""));
  line("machine", text_of(status, "machine"));
  line("processors", fmt::format("{}: {} busy, {} free{}", count(status, "processors"), count(status, "busy"),
                                 count(status, "free"), unusable_text(status)));
  line("asleep", asleep_text(status));
  line("jobs", fmt::format("{} running, {} waiting, {}", count(status, "running"), count(status, "waiting"),
                           held_text(status)));
  if (has_number(status, "started"))
    line("since", fmt::format("{}, for {}", time_text(number_of(status, "started")),
                              spoken_time(number_of(status, "now") - number_of(status, "started"))));
  line("cycles", count(status, "cycles") + " looks at the queue");
  line("facts", count(status, "facts") + " changes of the state");
  if (number_of(status, "refusals") > 0)
    line("refusals", fmt::format("{}; the last one: {}", count(status, "refusals"), text_of(status, "last_refusal")));
  line("state in", text_of(status, "state_folder"));
  if (has_number(status, "pid")) line("process", std::to_string(static_cast<std::int64_t>(number_of(status, "pid"))));
  for (const Json& warning : list_of(status, "warnings")) {
    if (warning.is_string()) line("warning", warning.get<std::string>());
  }
  return out;
}

Result<int> show_status(const StatusFlags& flags) {
  const auto status = TRY(Service(flags.service).get("/v1/status"));
  return printed(flags.service.json ? shown_json(status) : status_text(status));
}

Result<int> show_policy(const StatusFlags& flags, const Result<Json>& answer) {
  if (!answer) return std::unexpected(answer.error());
  if (flags.service.json) return printed(shown_json(*answer));
  std::string out = one_line(text_of(*answer, "policy")) + "\n";
  if (flag_of(*answer, "plain"))
    out += "It is not followed: a plan was refused, and jobs start in order of the queue; `rota status` says why.\n";
  if (const std::string woken = text_of(*answer, "woken"); !woken.empty())
    out += fmt::format("Put to sleep by the policy before, and woken now: {}.\n", one_line(woken));
  if (const std::string asleep = asleep_text(*answer); !asleep.empty())
    out += fmt::format("Still asleep: {}.\n", one_line(asleep));
  return printed(out);
}

Result<int> reload(const StatusFlags& flags) {
  const auto told = TRY(Service(flags.service).post("/v1/configuration/reload", Json::object(), fresh_key()));
  if (flags.service.json) return printed(shown_json(told));
  const std::string taken = text_of(told, "taken");
  std::string out = taken.empty() ? "Nothing is new.\n" : fmt::format("Taken: {}.\n", one_line(taken));
  if (flag_of(told, "other_settings"))
    out += "What [service] says is another thing than before: a service takes that when it is started again.\n";
  return printed(out);
}

std::string start_of(const Json& job, const char* side) {
  return has_number(job, side) ? time_text(number_of(job, side)) : "-";
}

std::string rehearsal_text(const Json& told) {
  constexpr std::size_t kMostRows = 20;
  std::vector<std::vector<std::string>> sides;
  for (const char* side : {"present", "proposed"}) {
    const Json& row = told.contains(side) ? told[side] : told;
    sides.push_back({side, text_of(row, "policy"),
                     fmt::format("{} of {}", count(row, "started"), count(told, "waiting")),
                     has_number(row, "mean_wait") ? run_text(number_of(row, "mean_wait")) : "-"});
  }
  std::string out = table({{""}, {"POLICY"}, {"START", true}, {"MEAN WAIT", true}}, sides);
  const Json& jobs = list_of(told, "jobs");
  std::vector<std::vector<std::string>> rows;
  for (const Json& job : jobs) {
    if (rows.size() == kMostRows) break;
    rows.push_back({text_of(job, "id"), text_of(job, "user"), text_of(job, "name"), count(job, "processors"),
                    start_of(job, "present"), start_of(job, "proposed")});
  }
  if (!rows.empty())
    out +=
        "\n" + table({{"JOB", true}, {"USER"}, {"NAME"}, {"CPUS", true}, {"PRESENT START"}, {"PROPOSED START"}}, rows);
  const auto changed = static_cast<std::int64_t>(number_of(told, "changed"));
  const std::int64_t more = changed - static_cast<std::int64_t>(rows.size());
  if (more > 0) out += fmt::format("and {} more\n", amount(more, "job"));
  if (changed == 0) out += "\nNo job that waits would start at another time.\n";
  if (const std::string why = text_of(told, "start_unknown"); !why.empty())
    out += fmt::format("Not every start is known: {}.\n", one_line(why));
  if (flag_of(told, "cut")) out += "There was no time to rehearse all of it; what is missing starts later.\n";
  return out;
}

// Asks a person at a terminal; a script has decided already.
bool wants_it(const StatusFlags& flags) {
  if (flags.yes || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) return true;
  std::fputs("\nSet it? [y/N] ", stdout);
  std::fflush(stdout);
  const int key = std::getchar();
  return key == 'y' || key == 'Y';
}

Result<int> set_policy(const StatusFlags& flags) {
  const Service service(flags.service);
  const Json wish{{"policy", flags.policy}};
  const auto told = service.post("/v1/policy/rehearsal", wish, fresh_key());
  if (!told && flags.dry_run) return std::unexpected(told.error());
  if (told && (flags.dry_run || !flags.service.json)) {
    auto shown = printed(flags.service.json ? shown_json(*told) : rehearsal_text(*told));
    if (!shown || flags.dry_run) return shown;
    if (!wants_it(flags)) {
      remark("rota: nothing was changed.");
      return kFailed;
    }
    if (auto space = printed("\n"); !space) return space;
  }
  const auto set = service.put("/v1/policy", wish);
  if (set && !told) remark("rota: set without a rehearsal: " + told.error().message);
  return show_policy(flags, set);
}

}  // namespace

void add_status(Command app, Action& action) {
  auto flags = std::make_shared<StatusFlags>();
  Command command = app.add_subcommand("status", "tell how the service is");
  flags->service.declare_json(command);
  command.footer("Examples:\n  rota status");
  command.callback([&action, flags] { action = [flags] { return show_status(*flags); }; });
}

void add_reload(Command app, Action& action) {
  auto flags = std::make_shared<StatusFlags>();
  Command command = app.add_subcommand("reload", "have the service read its configuration again");
  flags->service.declare_json(command);
  command.footer(
      "Nodes that are new, larger or smaller, or gone are taken in while jobs run, and so is all else that the file "
      "says of the cluster; what would take something from under jobs is refused, and nothing is changed then. For "
      "operators only.\n\n"
      "Examples:\n  rota reload");
  command.callback([&action, flags] { action = [flags] { return reload(*flags); }; });
}

void add_policy(Command app, Action& action) {
  auto flags = std::make_shared<StatusFlags>();
  Command command = app.add_subcommand("policy", "tell which policy the service follows, or set another one");
  flags->service.declare_json(command);
  command.require_subcommand(0);
  Command set = command.add_subcommand("set", "have the service follow another policy from now on");
  set.add_option("POLICY", flags->policy, "its name and knobs; `rota policies` lists them")
      .type_name("POLICY")
      .required();
  set.add_flag("--dry-run", flags->dry_run, "only show what it would change");
  set.add_flag("-y,--yes", flags->yes, "do not ask");
  flags->service.declare_json(set);
  set.footer(
      "Shows first what becomes of the jobs that wait, under the present policy and under this one, each rehearsed on "
      "a copy of the state: every job takes as long as is counted on, and no new jobs come. At a terminal it asks "
      "then. For operators only.\n\n"
      "Examples:\n  rota policy set easy+order=sjf\n  rota policy set --dry-run conservative");
  set.callback([&action, flags] { action = [flags] { return set_policy(*flags); }; });
  command.footer("`rota policies` lists all policies there are.\n\nExamples:\n  rota policy\n  rota policy set easy");
  command.callback([&action, flags, command] {
    if (command.chosen()) return;
    action = [flags] { return show_policy(*flags, Service(flags->service).get("/v1/policy")); };
  });
}

}  // namespace rota::cli
