// rota accel serve: a container in the foreground, until a signal.
#include <fmt/core.h>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "accel/address.h"
#include "accel/backend_process.h"
#include "accel/container.h"
#include "base/text.h"
#include "cli/live/accel.h"
#include "cli/live/accel_registration.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

struct AccelServeFlags {
  std::vector<std::string> listen;
  std::vector<std::string> sockets;
  std::vector<std::string> backends;
  std::string memory = "1G";
  std::string token_file;
  std::string node;
  std::int64_t device = 0;
  std::string service;  // a path or a URL
  std::int64_t weight = 0;
  std::string heartbeat = "5s";
  std::string grace = "10s";
};

// Fails with a sentence.
Result<Duration> time_of(const char* option, const std::string& text) {
  constexpr Duration kLeast{100};
  constexpr Duration kMost = seconds(3600);
  const auto time = parse_duration(text);
  if (!time || *time < kLeast || *time > kMost)
    return fail("{} takes a time from 0.1s to 1h, not {}.", option, rota::quoted(text));
  return *time;
}

// SIGTERM and SIGINT as a file; made before any thread, which then has them blocked, too.
process::Descriptor caught_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return process::Descriptor(::signalfd(-1, &set, SFD_CLOEXEC));
}

// The first of them; -1 is none.
int wait_until_readable(const std::array<int, 2>& files) {
  std::array<pollfd, 2> waits{{{files[0], POLLIN, 0}, {files[1], POLLIN, 0}}};
  while (::poll(waits.data(), waits.size(), -1) < 0) {
  }
  return waits[0].revents != 0 ? files[0] : files[1];
}

Result<std::vector<std::unique_ptr<accel::Device>>> open_devices(const AccelServeFlags& flags) {
  const Duration grace = TRY(time_of("--grace", flags.grace));
  const auto names = flags.backends.empty() ? std::vector<std::string>{"openblas"} : flags.backends;
  std::vector<std::unique_ptr<accel::Device>> devices;
  for (const std::string& name : names) {
    auto device = TRY(accel::DeviceApart::open({.named = name,
                                                .program = {"/proc/self/exe", "accel-backend"},
                                                .grace = std::chrono::milliseconds(grace.count())}));
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

bool is_path(const std::string& address) { return address.find('/') != std::string::npos; }

// Where clients reach it: by the network where it listens there, else as this computer's processes do.
Result<std::string> address_for_clients(const std::vector<std::string>& addresses) {
  const auto beyond = std::ranges::find_if(addresses, [](const std::string& address) {
    const auto parsed = accel::parse_address(address);
    const auto* tcp = std::get_if<accel::TcpAddress>(&parsed);
    return tcp != nullptr && !accel::is_loopback(*tcp);
  });
  const std::string& chosen = beyond == addresses.end() ? addresses.front() : *beyond;
  if (is_path(chosen)) return std::filesystem::absolute(chosen).lexically_normal().string();
  for (const char* any : {"0.0.0.0:", "[::]:"}) {
    if (!chosen.starts_with(any)) continue;
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0)
      return fail("this computer has no name; name it in --listen.");
    return std::string(name.data()) + chosen.substr(chosen.rfind(':'));
  }
  return chosen;
}

Result<std::unique_ptr<AccelRegistration>> registered(const AccelServeFlags& flags,
                                                      const std::vector<std::string>& addresses,
                                                      const std::string& token) {
  const Duration period = TRY(time_of("--heartbeat", flags.heartbeat));
  const bool url = flags.service.starts_with("http://") || flags.service.starts_with("https://");
  AddressFlags service;
  (url ? service.url : service.socket) = flags.service;
  AccelRegistration::Options options{.node = flags.node,
                                     .device = flags.device,
                                     .address = TRY(address_for_clients(addresses)),
                                     .asked_at = addresses.front(),
                                     .token = token,
                                     .weight = flags.weight,
                                     .period = period};
  return AccelRegistration::begin(std::move(options), service_address(service));
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
  auto devices = TRY(open_devices(flags));
  const auto addresses = TRY(addresses_of(flags));
  const auto container = TRY(accel::Container::start(options, std::move(devices), addresses));
  for (const std::string& address : container->addresses()) remark("rota: the container listens at " + address);
  std::unique_ptr<AccelRegistration> registration;
  if (!flags.node.empty()) registration = TRY(registered(flags, container->addresses(), options.token));
  const int replaced = registration ? registration->replaced_file() : -1;
  if (wait_until_readable({signals.get(), replaced}) == signals.get()) {
    signalfd_siginfo first{};
    [[maybe_unused]] const ssize_t got = ::read(signals.get(), &first, sizeof first);
  }
  remark("rota: the container accepts no more tasks, and ends with the last one; a second signal ends it at once.");
  if (registration) registration->leave();
  container->drain();
  wait_until_readable({signals.get(), container->drained_file()});
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
                  "HOST:PORT. One that other computers reach needs a token, by which all is encrypted")
      .type_name("ADDRESS");
  command.add_option("--socket", flags->sockets, "a Unix socket; processes of your user and of root may use it")
      .type_name("PATH");
  command
      .add_option(
          "--backend", flags->backends,
          "what computes: openblas, opencl, cuda, images, each with what it takes behind =, or the path of a shared "
          "object of your own; may be given more than once")
      .type_name("NAME[=CONFIG]")
      .default_str("openblas");
  command.add_option("--memory", flags->memory, "for all tasks together").type_name("SIZE").capture_default_str();
  command
      .add_option("--token-file", flags->token_file,
                  "a file with the token that clients on TCP must have: the key of TLS 1.3 with them")
      .type_name("FILE");
  command
      .add_option("--node", flags->node,
                  "register with the service as the container of this node: jobs on nodes without one are bound to it")
      .type_name("NAME");
  command
      .add_option(
          "--device", flags->device,
          "with --node: a number that tells this container from others of the node, where each device has its own")
      .range(0, 1000)
      .type_name("N");
  command
      .add_option("--service", flags->service,
                  "with --node: the service's socket, or its URL; without: the one that `rota nodes` asks")
      .type_name("ADDRESS");
  command
      .add_option("--weight", flags->weight,
                  "with --node: how fast its devices are beside those of other containers; without: measured")
      .range(1, 1'000'000'000)
      .type_name("N");
  command.add_option("--heartbeat", flags->heartbeat, "with --node: time between two signs of life")
      .type_name("TIME")
      .capture_default_str();
  command
      .add_option(
          "--grace", flags->grace,
          "how long a backend may go on with a task that was cancelled, or is over its limit, until its process "
          "is ended")
      .type_name("TIME")
      .capture_default_str();
  command.footer(
      "Examples:\n  rota accel serve --socket accel.socket\n"
      "  rota accel serve --listen 0.0.0.0:7400 --token-file token --backend openblas=4 --memory 8G\n"
      "  rota accel serve --node gpu1 --listen 0.0.0.0:7400 --token-file token\n"
      "  rota accel serve --node gpu2 --device 1 --backend cuda=1 --listen 0.0.0.0:7401 --token-file token");
  command.callback([&action, flags] { action = [flags] { return serve(*flags); }; });
}

}  // namespace rota::cli
