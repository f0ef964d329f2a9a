// rota accel serve: a container in the foreground, until a signal.
#include <fmt/core.h>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "accel/container.h"
#include "base/text.h"
#include "cli/live/accel.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

struct AccelServeFlags {
  std::vector<std::string> listen;
  std::vector<std::string> sockets;
  std::vector<std::string> backends;
  std::string memory = "1G";
  std::string token_file;
};

// SIGTERM and SIGINT as a file; made before any thread, which then has them blocked, too.
process::Descriptor caught_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return process::Descriptor(::signalfd(-1, &set, SFD_CLOEXEC));
}

void wait_until_readable(std::array<pollfd, 2> files) {
  while (::poll(files.data(), files.size(), -1) < 0) {
  }
}

Result<std::vector<std::unique_ptr<accel::Device>>> open_devices(std::vector<std::string> names) {
  if (names.empty()) names = {"openblas"};
  std::vector<std::unique_ptr<accel::Device>> devices;
  for (const std::string& name : names) {
    auto device = TRY(accel::Device::open(name));
    devices.push_back(std::move(device));
  }
  return devices;
}

Result<std::vector<std::string>> addresses_of(const AccelServeFlags& flags) {
  std::vector<std::string> all = flags.listen;
  for (const std::string& socket : flags.sockets)
    all.push_back(socket.find('/') == std::string::npos ? "./" + socket : socket);
  if (!all.empty()) return all;
  auto own = TRY(accel_socket_to_listen());
  return std::vector<std::string>{std::move(own)};
}

Result<int> serve(const AccelServeFlags& flags) {
  const auto memory = parse_size(flags.memory);
  constexpr std::int64_t kLeast = 1 << 20;
  if (!memory || *memory < kLeast)
    return fail("--memory takes a size from 1M on, such as 4G, not {}.", rota::quoted(flags.memory));
  accel::ContainerOptions options;
  options.memory = static_cast<std::uint64_t>(*memory);
  if (!flags.token_file.empty()) options.token = TRY(read_accel_token(flags.token_file));
  const process::Descriptor signals = caught_signals();
  auto devices = TRY(open_devices(flags.backends));
  const auto addresses = TRY(addresses_of(flags));
  const auto container = TRY(accel::Container::start(options, std::move(devices), addresses));
  for (const std::string& address : container->addresses()) remark("rota: the container listens at " + address);
  wait_until_readable({{{signals.get(), POLLIN, 0}, {-1, 0, 0}}});
  signalfd_siginfo first{};
  [[maybe_unused]] const ssize_t got = ::read(signals.get(), &first, sizeof first);
  remark("rota: the container accepts no more tasks, and ends with the last one; a second signal ends it at once.");
  container->drain();
  wait_until_readable({{{signals.get(), POLLIN, 0}, {container->drained_file(), POLLIN, 0}}});
  return kDone;
}

}  // namespace

void add_accel_serve(Command group, Action& action) {
  auto flags = std::make_shared<AccelServeFlags>();
  Command command = group.add_subcommand("serve", "compute tasks of clients on the devices of this node");
  command.description(
      "Runs in the foreground. SIGTERM or SIGINT: no more tasks are accepted, and it ends with the last one. Without "
      "--listen and --socket it listens at a socket of yours, beside that of your service.");
  command
      .add_option("--listen", flags->listen,
                  "HOST:PORT. One that other computers reach needs a token; nothing is encrypted")
      .type_name("ADDRESS");
  command.add_option("--socket", flags->sockets, "a Unix socket; processes of your user and of root may use it")
      .type_name("PATH");
  command
      .add_option("--backend", flags->backends,
                  "what computes: openblas, openblas=THREADS, or the path of a shared object of your own")
      .type_name("NAME[=CONFIG]")
      .default_str("openblas");
  command.add_option("--memory", flags->memory, "for all tasks together").type_name("SIZE").capture_default_str();
  command.add_option("--token-file", flags->token_file, "a file with the token that clients on TCP must have")
      .type_name("FILE");
  command.footer(
      "Examples:\n  rota accel serve --socket accel.socket\n"
      "  rota accel serve --listen 0.0.0.0:7400 --token-file token --backend openblas=4 --memory 8G");
  command.callback([&action, flags] { action = [flags] { return serve(*flags); }; });
}

}  // namespace rota::cli
