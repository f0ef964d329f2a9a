// rota serve: the service on this computer.
#include <fmt/core.h>

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
#include "cli/live/background.h"
#include "cli/live/local_engine.h"
#include "cli/live/own_place.h"
#include "cli/live/service_address.h"
#include "cli/live/slurm_engine.h"
#include "cli/printed.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

struct ServeFlags {
  std::string configuration;
  std::string state;
  std::string socket;
  std::string policy;
  std::string engine = "local";
  bool background = false;
};

// Jobs run in folders of their own: paths that they are told have to hold there too.
Result<std::string> absolute(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  const std::unique_ptr<char, decltype(&std::free)> here(::getcwd(nullptr, 0), &std::free);
  if (!here) return fail("the working directory cannot be told: {}.", std::strerror(errno));
  return fmt::format("{}/{}", here.get(), path);
}

constexpr std::string_view kWarning = "warning: ";

// What the flags come to, with absolute paths; the folder of the socket is there.
Result<ServeWords> words_of(const ServeFlags& flags) {
  auto state = TRY(flags.state.empty() ? default_state() : absolute(flags.state));
  const std::string named = named_socket(flags.socket);
  auto socket = TRY(named.empty() ? own_socket_to_listen(own_place()) : absolute(named));
  auto configuration = TRY(flags.configuration == "-" ? flags.configuration : absolute(flags.configuration));
  return ServeWords{state, socket, configuration, flags.policy, flags.engine};
}

// For a user that has started the first service on a state: what there is to do with it.
void say_what_is_next(const ServeFlags& flags) {
  const std::string socket = flags.socket.empty() ? "" : " --socket " + for_shell(flags.socket);
  remark(fmt::format("rota: submit a job:  rota submit{} --wrap 'echo hello'", socket));
  remark("rota: see what runs and waits:  rota queue" + socket);
  remark("rota: see it in a browser, at the address that this prints:  rota page" + socket);
}

Result<int> serve(const ServeFlags& flags, Starter& starter, bool to_journal) {
  const auto words = TRY(words_of(flags));
  api::ServeOptions options;
  options.service.state_folder = words.state;
  options.service.configuration = flags.configuration;
  options.service.policy = flags.policy;
  options.service.socket = words.socket;
  options.service.engine = local_engine();
  options.service.version = ROTA_VERSION;
  options.socket = words.socket;
  struct stat standard_error{};
  const bool to_file = ::fstat(STDERR_FILENO, &standard_error) == 0 && S_ISREG(standard_error.st_mode);
  options.say = [&](const std::string& line) {
    const auto priority = line.starts_with(kWarning) ? api::Priority::warning : api::Priority::news;
    const std::string at = to_file ? time_text(static_cast<double>(unix_now())) + " " : "";
    if (starter.any()) bound_log(log_of(words.state));
    remark(api::journal_line(priority, fmt::format("{}rota: {}", at, line), to_journal));
  };
  const bool first = is_new(words.state);
  options.ready = [&] {
    starter.tell_ready();
    if (first && flags.engine == "local" && !starter.any() && !to_journal) say_what_is_next(flags);
  };
  if (flags.engine == "slurm") {
    for (const std::string& remark : TRY(watch_slurm(options.service))) options.say(remark);
  }
  options.say(fmt::format("state in {}, socket {}", shown_path(words.state), shown_path(words.socket)));
  TRY(api::serve_until_stopped(options));
  return kDone;
}

// What ends the service is told where users look for it, too: in `systemctl status`.
Result<int> serve_and_say(const ServeFlags& flags) {
  const bool to_journal = api::says_to_journal();
  Starter starter;
  auto code = serve(flags, starter, to_journal);
  if (code) return code;
  api::ServiceNotes::failed(code.error().message);
  starter.tell_failure(code.error().message);
  if (!to_journal) return code;
  remark(api::journal_line(api::Priority::failure, "rota: " + code.error().message, to_journal));
  return kFailed;
}

Result<int> serve_in_background(const ServeFlags& flags) {
  if (flags.configuration == "-") return fail("--background reads no standard input; name a file with --config.");
  const auto words = TRY(words_of(flags));
  const bool first = is_new(words.state) && flags.engine == "local";
  const auto started = TRY(start_in_background(words));
  if (!started) return fail("another service answers at {}; `rota stop` ends it.", shown_path(words.socket));
  remark(fmt::format("rota: the service answers at {} (state {}, log {}); `rota stop` ends it.",
                     short_path(words.socket), short_path(words.state), short_path(log_of(words.state))));
  if (first) say_what_is_next(flags);
  return kDone;
}

}  // namespace

void add_serve(Command app, Action& action) {
  auto flags = std::make_shared<ServeFlags>();
  Command command = app.add_subcommand("serve", "run jobs on this computer: keep a queue and start them by a policy");
  command.description(
      "Runs until it is told to stop (`rota stop`, SIGTERM, Ctrl-C). Jobs that run then go on, and are found again "
      "by "
      "the next `rota serve` with the same state. As root it runs jobs of all users, else its own user's. Where none "
      "runs, `rota submit` of a user who is not root starts one by itself.");
  command
      .add_option("--config", flags->configuration,
                  "a cluster file that may have a table [service]; without: the copy of the "
                  "last one that the state keeps, or else this computer as one node")
      .type_name("FILE.toml");
  command
      .add_option("--state", flags->state,
                  "where the queue is kept; without: /var/lib/rota of root, else ~/.local/state/rota")
      .type_name("FOLDER");
  command
      .add_option("--socket", flags->socket,
                  "where it answers; without: ROTA_SOCKET, or else rota/socket in XDG_RUNTIME_DIR or /run/user/UID, "
                  "or /tmp/rota-UID/socket; of root /run/rota/socket")
      .type_name("PATH");
  command
      .add_option("--policy", flags->policy, "what decides; without: as last time, or else as the configuration says")
      .type_name("NAME[+KNOB=VALUE...]");
  command
      .add_option("--engine", flags->engine,
                  "what runs the jobs: local, this computer; slurm, the Slurm cluster of this host, which is only "
                  "watched, as any of its users can")
      .type_name("NAME")
      .one_of({"local", "slurm"})
      .capture_default_str();
  command.add_flag("--background", flags->background,
                   "return once it answers, or say why it does not; it goes on apart from this terminal, and says "
                   "into service.log in the state folder what it has to say");
  command.footer(
      "Examples:\n"
      "  rota serve --background\n"
      "  rota serve --state queue --socket queue.socket\n"
      "  rota serve --config rota.toml --policy easy");
  command.callback([&action, flags] {
    action = [flags] { return flags->background ? serve_in_background(*flags) : serve_and_say(*flags); };
  });
}

}  // namespace rota::cli
