#include "cli/command.h"

#include <algorithm>
#include <memory>

#include "cli/help.h"

namespace rota::cli {

std::string for_shell(const std::string& word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+=,:@%-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string given_command(const CLI::App& command, const std::vector<std::string_view>& without) {
  std::string line = "rota " + command.get_name();
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || std::ranges::find(without, option->get_name()) != without.end()) continue;
    if (!option->get_positional()) line += " " + option->get_name();
    if (option->get_items_expected_max() == 0) continue;  // a switch
    for (const std::string& word : option->results()) {
      const bool like_an_option = option->get_positional() && word.size() > 1 && word.starts_with('-');
      line += " " + for_shell(like_an_option ? "./" + word : word);
    }
  }
  return line;
}

void add_commands(CLI::App& app, Action& action) {
  app.description(
      "schedule batch jobs, and rehearse schedules on your own job log\n"
      "Rota schedules batch jobs on clusters. `rota simulate` shows what each of its policies would have done with the "
      "jobs of a log, checked by a referee that shares no code with the scheduler. `rota submit`, `rota queue` and "
      "their "
      "kin speak to a service that runs jobs by the same policies.");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", "rota " ROTA_VERSION, "print the version");
  app.require_subcommand(1);
  app.footer(
      "Every command has its own help: `rota simulate --help`. Exit codes: 0 done, 1 failed, 2 the "
      "command line is wrong, 3 done and the answer is no; commands that wait for a job give on its own.\n\n"
      "Examples:\n"
      "  rota generate lublin --jobs 2000 --seed 1 --estimates modal -o made-up.swf\n"
      "  rota simulate made-up.swf --policy fcfs,easy,conservative --report report.html");
  add_submit(app, action);
  add_run(app, action);
  add_queue(app, action);
  add_top(app, action);
  add_job(app, action);
  add_explain(app, action);
  add_forecast(app, action);
  add_logs(app, action);
  add_wait(app, action);
  add_job_actions(app, action);
  add_nodes(app, action);
  add_partitions(app, action);
  add_licences(app, action);
  add_reservations(app, action);
  add_history(app, action);
  add_policy(app, action);
  add_status(app, action);
  add_doctor(app, action);
  add_token(app, action);
  add_simulate(app, action);
  add_replay(app, action);
  add_serve(app, action);
  add_verify(app, action);
  add_report(app, action);
  add_convert(app, action);
  add_import(app, action);
  add_generate(app, action);
  add_reproduce(app, action);
  add_policies(app, action);
  add_completion(app, action);
  add_manual(app, action);
}

}  // namespace rota::cli
