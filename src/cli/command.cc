#include "cli/command.h"

#include <algorithm>
#include <ranges>

#include "cli/describe.h"

namespace rota::cli {
namespace {

constexpr std::string_view kManual = "manual";  // it tells of all commands

constexpr Declaration kDeclarations[] = {
    {"submit", add_submit},
    {"run", add_run},
    {"queue", add_queue},
    {"top", add_top},
    {"page", add_page},
    {"job", add_job},
    {"explain", add_explain},
    {"forecast", add_forecast},
    {"shadow", add_shadow},
    {"mode", add_mode},
    {"actions undo", add_actions},
    {"logs", add_logs},
    {"wait", add_wait},
    {"cancel hold release requeue suspend resume update", add_job_actions},
    {"nodes", add_nodes},
    {"partitions", add_partitions},
    {"licences", add_licences},
    {"sites auction", add_sites},
    {"accel", add_accel},
    {"reservations reserve unreserve", add_reservations},
    {"history", add_history},
    {"policy", add_policy},
    {"reload", add_reload},
    {"status", add_status},
    {"doctor", add_doctor},
    {"token", add_token},
    {"simulate", add_simulate},
    {"tune", add_tune},
    {"replay", add_replay},
    {"serve", add_serve},
    {"stop", add_stop},
    {"verify", add_verify},
    {"report", add_report},
    {"convert", add_convert},
    {"import", add_import},
    {"generate", add_generate},
    {"reproduce", add_reproduce},
    {"policies", add_policies},
    {"completion", add_completion},
    {kManual, add_manual},
};

bool declares(const Declaration& declaration, std::string_view name) {
  return std::ranges::any_of(declaration.names | std::views::split(' '),
                             [&](auto part) { return std::string_view(part) == name; });
}

}  // namespace

std::span<const Declaration> declarations() { return kDeclarations; }

std::string for_shell(const std::string& word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+=,:@%-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string given_command(Command command, const std::vector<std::string_view>& without) {
  const Description described = describe(command);
  std::string line = described.name;
  const auto add = [&](const Argument& argument) {
    if (argument.given.empty() || std::ranges::find(without, argument.name()) != without.end()) return;
    if (!argument.positional) line += " " + argument.name();
    if (argument.kind == ValueKind::none) return;  // a switch
    for (const std::string& word : argument.given) {
      const bool like_an_option = argument.positional && word.size() > 1 && word.starts_with('-');
      line += " " + for_shell(like_an_option ? "./" + word : word);
    }
  };
  std::ranges::for_each(described.positionals, add);
  std::ranges::for_each(described.options, add);
  return line;
}

void add_commands(Command app, Action& action, std::string_view name) {
  app.description(
      "Rota schedules batch jobs on clusters. `rota simulate` shows what each of its policies would have done with the "
      "jobs of a log, checked by a referee that shares no code with the scheduler. `rota submit`, `rota queue` and "
      "their "
      "kin speak to a service that runs jobs by the same policies.");
  app.require_subcommand(1);
  app.footer(
      "Every command has its own help: `rota simulate --help`. Exit codes: 0 done, 1 failed, 2 the "
      "command line is wrong, 3 done and the answer is no; commands that wait for a job give on its own.\n\n"
      "Examples:\n"
      "  rota submit -n 4 -t 1h -- make -j4\n"
      "  rota queue --me\n"
      "  rota generate lublin --jobs 2000 --seed 1 --estimates modal -o made-up.swf\n"
      "  rota simulate made-up.swf --policy fcfs,easy,conservative --report report.html");
  const bool one = name != kManual && std::ranges::any_of(kDeclarations, [&](const Declaration& declaration) {
                     return declares(declaration, name);
                   });
  for (const Declaration& declaration : kDeclarations)
    if (!one || declares(declaration, name)) declaration.declare(app, action);
}

}  // namespace rota::cli
