// rota serve: the service on this computer.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "api/serve.h"
#include "api/systemd.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/live/service_address.h"
#include "cli/printed.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

struct ServeFlags {
  std::string configuration;
  std::string state;
  std::string socket;
  std::string policy;
};

// Where a service keeps its state, unless told otherwise: each folder on the way is made.
Result<std::string> default_state() {
  if (::geteuid() == 0) return std::string("/var/lib/rota");
  const char* base = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (base && *base == '/') return std::string(base) + "/rota";
  if (!home || *home != '/') return fail("nobody says where the state is to be kept; name a folder with --state.");
  for (const char* part : {"/.local", "/.local/state"}) ::mkdir((std::string(home) + part).c_str(), 0700);
  return std::string(home) + "/.local/state/rota";
}

// Jobs run in folders of their own: paths that they are told have to hold there too.
Result<std::string> absolute(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  const std::unique_ptr<char, decltype(&std::free)> here(::getcwd(nullptr, 0), &std::free);
  if (!here) return fail(std::string("the working directory cannot be told: ") + std::strerror(errno) + ".");
  return std::string(here.get()) + "/" + path;
}

constexpr std::string_view kWarning = "warning: ";

Result<int> serve(const ServeFlags& flags, bool to_journal) {
  auto state = flags.state.empty() ? default_state() : absolute(flags.state);
  if (!state) return std::unexpected(state.error());
  auto socket = absolute(socket_path(flags.socket));
  if (!socket) return std::unexpected(socket.error());
  api::ServeOptions options;
  options.service.state_folder = *state;
  options.service.configuration = flags.configuration;
  options.service.policy = flags.policy;
  options.service.socket = *socket;
  options.service.supervisor = {"/proc/self/exe", "supervise"};
  options.service.version = ROTA_VERSION;
  options.socket = *socket;
  struct stat standard_error{};
  const bool to_file = ::fstat(STDERR_FILENO, &standard_error) == 0 && S_ISREG(standard_error.st_mode);
  options.say = [&](const std::string& line) {
    const auto priority = line.starts_with(kWarning) ? api::Priority::warning : api::Priority::news;
    const std::string at = to_file ? time_text(static_cast<double>(unix_now())) + " " : "";
    remark(api::journal_line(priority, at + "rota: " + line, to_journal));
  };
  options.say("state in " + shown_path(*state) + ", socket " + shown_path(*socket));
  if (auto done = api::serve_until_stopped(options); !done) return std::unexpected(done.error());
  return kDone;
}

// What ends the service is told where somebody looks for it, too: in `systemctl status`.
Result<int> serve_and_say(const ServeFlags& flags) {
  const bool to_journal = api::says_to_journal();
  auto code = serve(flags, to_journal);
  if (code) return code;
  api::ServiceNotes::failed(code.error().message);
  if (!to_journal) return code;
  remark(api::journal_line(api::Priority::failure, "rota: " + code.error().message, to_journal));
  return kFailed;
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = app.add_subcommand("serve", "run jobs on this computer: keep a queue and start them by a policy");
  command->description(
      command->get_description() +
      "\nRuns until it is told to stop (SIGTERM, Ctrl-C). Jobs that run then go on, and are found again by the next "
      "`rota serve` with the same state. As root it runs jobs of all users, else its own user's.");
  command
      ->add_option("--config", flags->configuration,
                   "a cluster file that may have a table [service]; without: the copy of the "
                   "last one that the state keeps, or else this computer as one node")
      ->type_name("FILE.toml");
  command
      ->add_option("--state", flags->state,
                   "where the queue is kept; without: /var/lib/rota of root, else ~/.local/state/rota")
      ->type_name("FOLDER");
  command
      ->add_option("--socket", flags->socket,
                   "where it answers; without: ROTA_SOCKET, or else rota/socket in XDG_RUNTIME_DIR or /run")
      ->type_name("PATH");
  command
      ->add_option("--policy", flags->policy, "what decides; without: as last time, or else as the configuration says")
      ->type_name("NAME[+KNOB=VALUE...]");
  command->footer(
      "Examples:\n"
      "  rota serve --state queue --socket queue.socket\n"
      "  rota serve --config rota.toml --policy easy");
  command->callback([&action, flags] { action = [flags] { return serve_and_say(*flags); }; });
}

}  // namespace rota::cli
