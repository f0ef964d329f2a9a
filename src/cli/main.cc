// rota: one binary, one subcommand each for what a person wants to do. Only wiring lives here.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "accel/backend_main.h"
#include "cli/command.h"
#include "cli/complete.h"
#include "cli/file_arguments.h"
#include "cli/help.h"
#include "cli/live/local_engine.h"
#include "cli/printed.h"

namespace {

// A standard descriptor that the caller has closed would be given to the first file that is opened, and what is meant
// for the terminal would stand in that file. What takes its place can be opened and not used, so that writing fails.
void hold_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

int parsed_and_run(rota::cli::CommandLine& line, rota::cli::Action& action, const std::vector<std::string>& words) {
  const auto asked_for = rota::cli::understood(line, words);
  const auto fine = asked_for ? rota::cli::check_files(line.root()) : std::unexpected(asked_for.error());
  if (!fine) {
    rota::cli::remark("rota: " + fine.error().message);
    return rota::cli::kUsage;
  }
  const auto code = asked_for->empty() ? action() : rota::cli::printed(*asked_for);
  if (code) return *code;
  rota::cli::remark("rota: " + code.error().message);
  return rota::cli::kFailed;
}

int run(int argc, char** argv) {
  // What the helper processes of the service and of containers run: not for people.
  if (argc > 1 && std::string_view(argv[1]) == "supervise") return rota::cli::supervise({argv + 2, argv + argc});
  if (argc == 3 && std::string_view(argv[1]) == "accel-backend") return rota::accel::run_backend(argv[2]);
  rota::cli::CommandLine line;
  rota::cli::Action action;
  if (argc > 1 && argv[1] == rota::cli::kCompleteWord) {
    rota::cli::add_commands(line.root(), action);
    return rota::cli::print_completions(line.root(), {argv + 2, argv + argc});
  }
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help") {  // rota help simulate: rota simulate --help
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (!words.empty() && words.front() == "version") words.front() = "--version";
  rota::cli::add_commands(line.root(), action, words.empty() ? "" : words.front());
  return parsed_and_run(line, action, words);
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is told like a disk that is full
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("rota: out of memory. Give it more, or a smaller workload.\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rota: defect in Rota: %s. Please report it with the command that you ran.\n", e.what());
  }
  return rota::cli::kFailed;
}
