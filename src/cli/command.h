// One subcommand of `rota`: its options are declared on a CLI11 app, from which help, completion and man pages are
// made.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

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

// The command as it was given, for a shell, but without these options: for whoever wants to run it again.
std::string given_command(const CLI::App& command, const std::vector<std::string_view>& without);

// A function that declares commands, and which, with blanks between them.
struct Declaration {
  std::string_view names;
  void (*declare)(CLI::App& app, Action& action);
};

// All commands, in the order in which help lists them.
std::span<const Declaration> declarations();

// What holds for all of `rota`, and the command of this name with those that are declared beside it: to declare all
// costs more than many a command does. All where there is none of that name.
void add_commands(CLI::App& app, Action& action, std::string_view name = {});

void add_simulate(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
void add_stop(CLI::App& app, Action& action);
void add_replay(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_reproduce(CLI::App& app, Action& action);
void add_policies(CLI::App& app, Action& action);
// Those that speak to a service.
void add_submit(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_queue(CLI::App& app, Action& action);
void add_top(CLI::App& app, Action& action);
void add_page(CLI::App& app, Action& action);
void add_job(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_forecast(CLI::App& app, Action& action);
void add_logs(CLI::App& app, Action& action);
void add_wait(CLI::App& app, Action& action);
void add_job_actions(CLI::App& app, Action& action);  // cancel, hold, release, requeue, suspend, resume, update
void add_nodes(CLI::App& app, Action& action);
void add_partitions(CLI::App& app, Action& action);
void add_licences(CLI::App& app, Action& action);
void add_reservations(CLI::App& app, Action& action);  // and reserve, unreserve
void add_history(CLI::App& app, Action& action);
void add_policy(CLI::App& app, Action& action);
void add_status(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_token(CLI::App& app, Action& action);

void add_completion(CLI::App& app, Action& action);
void add_manual(CLI::App& app, Action& action);

}  // namespace rota::cli
