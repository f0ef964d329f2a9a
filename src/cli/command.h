// The subcommands of `rota`: each declares its options (command_line.h), from which help, completion and man pages are
// made.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command_line.h"

namespace rota::cli {

// Exit codes, the same for every subcommand; those that wait for a job give on its own.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;  // it could not be done: the input was bad, a file cannot be written
inline constexpr int kUsage = 2;   // the command line itself is wrong
inline constexpr int kNo = 3;      // it was done, and the answer is no: schedules differ, a figure is missed

// What the chosen subcommand does; its value is the exit code, its error is printed as a sentence (exit code 1).
using Action = std::function<Result<int>()>;

// A word as a shell takes it: in quotes where it needs them.
std::string for_shell(const std::string& word);

// The command as it was given, for a shell, but without these options: to be run again.
std::string given_command(Command command, const std::vector<std::string_view>& without);

// A function that declares commands, and which, with blanks between them.
struct Declaration {
  std::string_view names;
  void (*declare)(Command app, Action& action);
};

// All commands, in the order in which help lists them.
std::span<const Declaration> declarations();

// What holds for all of `rota`, and the command of this name with those that are declared beside it: to declare all
// costs more than many a command does. All where there is none of that name.
void add_commands(Command app, Action& action, std::string_view name = {});

void add_simulate(Command app, Action& action);
void add_serve(Command app, Action& action);
void add_stop(Command app, Action& action);
void add_replay(Command app, Action& action);
void add_tune(Command app, Action& action);
void add_verify(Command app, Action& action);
void add_report(Command app, Action& action);
void add_convert(Command app, Action& action);
void add_import(Command app, Action& action);
void add_generate(Command app, Action& action);
void add_reproduce(Command app, Action& action);
void add_policies(Command app, Action& action);
// Those that speak to a service.
void add_submit(Command app, Action& action);
void add_run(Command app, Action& action);
void add_queue(Command app, Action& action);
void add_top(Command app, Action& action);
void add_page(Command app, Action& action);
void add_job(Command app, Action& action);
void add_explain(Command app, Action& action);
void add_forecast(Command app, Action& action);
void add_shadow(Command app, Action& action);
void add_mode(Command app, Action& action);
void add_actions(Command app, Action& action);  // and undo
void add_logs(Command app, Action& action);
void add_wait(Command app, Action& action);
void add_job_actions(Command app, Action& action);  // cancel, hold, release, requeue, suspend, resume, update
void add_nodes(Command app, Action& action);
void add_partitions(Command app, Action& action);
void add_licences(Command app, Action& action);
void add_sites(Command app, Action& action);
void add_accel(Command app, Action& action);
void add_reservations(Command app, Action& action);  // and reserve, unreserve
void add_history(Command app, Action& action);
void add_policy(Command app, Action& action);
void add_reload(Command app, Action& action);
void add_status(Command app, Action& action);
void add_doctor(Command app, Action& action);
void add_token(Command app, Action& action);

void add_completion(Command app, Action& action);
void add_manual(Command app, Action& action);

}  // namespace rota::cli
