// rota status, policy: the service itself.
#include <memory>
#include <string>

#include "base/text.h"
#include "cli/command.h"
#include "cli/printed.h"
#include "cli/service.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

struct StatusFlags {
  ServiceFlags service;
  std::string policy;
};

std::string count(const Json& status, const char* name) {
  return grouped(static_cast<std::int64_t>(number_of(status, name)));
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
  line("processors", count(status, "processors") + ", " + count(status, "free") + " free");
  line("jobs", count(status, "running") + " running, " + count(status, "waiting") + " waiting, " +
                   count(status, "held") + " held");
  if (has_number(status, "started"))
    line("since", time_text(number_of(status, "started")) + ", for " +
                      spoken_time(number_of(status, "now") - number_of(status, "started")));
  line("cycles", count(status, "cycles"));
  line("facts", count(status, "facts"));
  if (number_of(status, "refusals") > 0)
    line("refusals", count(status, "refusals") + "; the last one: " + text_of(status, "last_refusal"));
  line("state in", text_of(status, "state_folder"));
  if (has_number(status, "pid")) line("process", std::to_string(static_cast<std::int64_t>(number_of(status, "pid"))));
  for (const Json& warning : list_of(status, "warnings")) {
    if (warning.is_string()) line("warning", warning.get<std::string>());
  }
  return out;
}

Result<int> show_status(const StatusFlags& flags) {
  const auto status = Service(flags.service).get("/v1/status");
  if (!status) return std::unexpected(status.error());
  return printed(flags.service.json ? shown_json(*status) : status_text(*status));
}

Result<int> show_policy(const StatusFlags& flags, const Result<Json>& answer) {
  if (!answer) return std::unexpected(answer.error());
  if (flags.service.json) return printed(shown_json(*answer));
  std::string out = one_line(text_of(*answer, "policy")) + "\n";
  if (flag_of(*answer, "plain"))
    out += "It is not followed: a plan was refused, and jobs start in order of the queue; `rota status` says why.\n";
  return printed(out);
}

}  // namespace

void add_status(CLI::App& app, Action& action) {
  auto flags = std::make_shared<StatusFlags>();
  CLI::App* command = app.add_subcommand("status", "tell how the service is");
  flags->service.declare_json(*command);
  command->footer("Examples:\n  rota status");
  command->callback([&action, flags] { action = [flags] { return show_status(*flags); }; });
}

void add_policy(CLI::App& app, Action& action) {
  auto flags = std::make_shared<StatusFlags>();
  CLI::App* command = app.add_subcommand("policy", "tell which policy the service follows, or set another one");
  flags->service.declare_json(*command);
  command->require_subcommand(0, 1);
  CLI::App* set = command->add_subcommand("set", "have the service follow another policy from now on");
  set->add_option("POLICY", flags->policy, "its name and knobs; `rota policies` lists them")
      ->type_name("POLICY")
      ->required();
  flags->service.declare_json(*set);
  set->footer("For operators only.\n\nExamples:\n  rota policy set easy+order=sjf");
  set->callback([&action, flags] {
    action = [flags] {
      return show_policy(*flags, Service(flags->service).put("/v1/policy", Json{{"policy", flags->policy}}));
    };
  });
  command->footer("`rota policies` lists all policies there are.\n\nExamples:\n  rota policy\n  rota policy set easy");
  command->callback([&action, flags, command] {
    if (!command->get_subcommands().empty()) return;
    action = [flags] { return show_policy(*flags, Service(flags->service).get("/v1/policy")); };
  });
}

}  // namespace rota::cli
