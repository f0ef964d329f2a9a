// One subcommand of `rota`: its options are declared on a CLI11 app, from which help, completion and man pages are
// made.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota::cli {

inline constexpr int kDone = 0;    // exit codes, the same for every subcommand
inline constexpr int kFailed = 1;  // ran, and the answer is no, or the input was bad
inline constexpr int kUsage = 2;   // the command line itself is wrong

// What the chosen subcommand does; its value is the exit code, its error is printed as a sentence (exit code 1).
using Action = std::function<Result<int>()>;

// The command as it was given, for a shell, but without these options: for whoever wants to run it again.
std::string given_command(const CLI::App& command, const std::vector<std::string_view>& without);

// All of `rota`: what holds for every command, and each of those below.
void add_commands(CLI::App& app, Action& action);

void add_simulate(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
void add_replay(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_reproduce(CLI::App& app, Action& action);
void add_policies(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_manual(CLI::App& app, Action& action);

}  // namespace rota::cli
