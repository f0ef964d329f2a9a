// rota accel: accelerator containers. The group, and the state of one container.
#include "cli/live/accel.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/live/own_place.h"
#include "cli/live/service.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

std::string beside(const std::string& socket) { return socket.substr(0, socket.rfind('/')) + "/accel"; }

Result<Json> state_of(const AccelFlags& flags) {
  const AccelClient client = TRY(flags.open());
  rota_accel_ask_state(client.get(), nullptr);
  rota_accel_end end{};
  rota_accel_next(client.get(), &end, -1);
  if (end.outcome != ROTA_ACCEL_DONE)
    return fail("{}; `rota accel serve` starts a container, and --at or ROTA_ACCEL names one.", end.why);
  const std::string text(static_cast<const char*>(end.result), end.result_bytes);
  rota_accel_free(end.result);
  Json state = Json::parse(text, nullptr, false);
  if (!state.is_object()) return fail("the container has answered with what is no JSON; are both of one version?");
  return state;
}

// What a device does not know is shown as a dash.
std::string shown(const Json& object, const char* name, double scale, const char* unit) {
  return has_number(object, name) ? fmt::format("{:.0f}{}", number_of(object, name) / scale, unit) : "-";
}

Result<int> show_state(const AccelFlags& flags, bool json) {
  const Json state = TRY(state_of(flags));
  if (json) return printed(shown_json(state));
  const auto count = [&](const char* name) { return grouped(static_cast<std::int64_t>(number_of(state, name))); };
  const auto bytes = [&](const char* name) { return format_size(static_cast<std::int64_t>(number_of(state, name))); };
  std::string text =
      table({{"STATE"},
             {"CLIENTS", true},
             {"MEMORY", true},
             {"USED", true},
             {"WAIT", true},
             {"RECEIVE", true},
             {"COMPLETE", true},
             {"COMPUTE", true},
             {"ANSWER", true}},
            {{text_of(state, "state"), count("clients"), bytes("memory"), bytes("memory_used"), count("waiting"),
              count("receiving"), count("complete"), count("computing"), count("answering")}});
  text +=
      '\n' + table({{"DONE", true},
                    {"FAILED", true},
                    {"CANCELLED", true},
                    {"DROPPED", true},
                    {"RECEIVED", true},
                    {"SENT", true},
                    {"COMPUTED", true}},
                   {{count("done"), count("failed"), count("cancelled"), count("dropped"), bytes("bytes_in"),
                     bytes("bytes_out"),
                     format_duration(Duration(static_cast<std::int64_t>(number_of(state, "computed_us")) / 1000))}});
  std::vector<std::vector<std::string>> rows;
  for (const Json& device : list_of(state, "devices"))
    rows.push_back({text_of(device, "backend"), text_of(device, "state"), shown(device, "memory_used", 1048576, " MiB"),
                    shown(device, "busy_permille", 10, " %"), shown(device, "temperature", 1, " C"),
                    text_of(device, "description"), text_of(device, "operations")});
  text +=
      '\n' +
      table({{"DEVICE"}, {"STATE"}, {"MEMORY", true}, {"BUSY", true}, {"HEAT", true}, {"WHAT"}, {"OPERATIONS"}}, rows);
  return printed(text);
}

void add_status_of(Command group, Action& action) {
  struct Flags {
    AccelFlags of;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  Command command = group.add_subcommand("status", "show the queues, memory, counts and devices of a container");
  command.description(
      "WAIT: tasks that wait for memory. RECEIVE: their bytes come. COMPLETE: they wait for a place in the queue. "
      "COMPUTE: in the queue or on the device. ANSWER: their results go out. DROPPED: their clients have gone.");
  flags->of.declare(command);
  command.add_flag("--json", flags->json, "print the container's answer (docs/accelerators.md lists the members)");
  command.footer("Examples:\n  rota accel status\n  rota accel status --at 127.0.0.1:7400 --json");
  command.callback([&action, flags] { action = [flags] { return show_state(flags->of, flags->json); }; });
}

}  // namespace

Result<std::string> accel_socket_to_listen() { return beside(TRY(own_socket_to_listen(own_place()))); }

Result<std::string> read_accel_token(const std::string& path) {
  constexpr std::size_t kLeast = 16;
  constexpr std::size_t kMost = 256;
  const std::string text = TRY(read_file(path, 4096));
  std::string token(trimmed(text));
  const bool odd = std::ranges::any_of(token, [](char c) { return c <= ' ' || c == 127; });
  if (token.size() < kLeast || token.size() > kMost || odd)
    return fail(
        "{} holds no token: one line of 16 to 256 characters without blanks, as `openssl rand -hex 24` makes it.",
        shown_path(path));
  return token;
}

void AccelFlags::declare(Command command) {
  command
      .add_option("--at", at,
                  "the container: HOST:PORT, the path of a socket with a / in it, or NODE@/PATH for that which the "
                  "service at this socket has for the node. Without it: ROTA_ACCEL, else that of your own")
      .type_name("ADDRESS");
  command.add_option("--token-file", token_file, "a file with the token that the container asks for").type_name("FILE");
  command.add_option("--patience", patience, "seconds to wait for a container that accepts tasks")
      .range(1, 1'000'000)
      .capture_default_str();
}

Result<AccelClient> AccelFlags::open() const {
  std::string address = at.empty() ? environment_variable("ROTA_ACCEL") : at;
  if (address.empty()) address = beside(own_sockets(own_place()).front());
  std::string token;
  if (!token_file.empty()) {
    auto read = TRY(read_accel_token(token_file));
    token = std::move(read);
  }
  std::array<char, 256> why{};
  const rota_accel_options options{address.c_str(), token.c_str(), 0, patience * 1000};
  AccelClient client(rota_accel_open(&options, why.data(), why.size()));
  if (!client) return fail("{} is no address of a container: {}.", rota::quoted(address), why.data());
  return client;
}

void add_accel(Command app, Action& action) {
  auto flags = std::make_shared<ServiceFlags>();
  Command group = app.add_subcommand("accel", "list accelerator containers; serve one, run tasks on it, see how it is");
  group.description(
      "A container computes tasks of other nodes on the devices of this one, while it receives the next and sends the "
      "last: docs/accelerators.md. Without a subcommand those that the service knows are listed, with the nodes bound "
      "to them. QUEUE: tasks that are not computed yet. SEEN: how long ago it gave a sign.");
  flags->declare_json(group);
  group.require_subcommand(0);
  group.footer(
      "Examples:\n  rota accel\n  rota accel serve\n  rota accel run lu --n 1000 --seeded 1 --tasks 10\n"
      "  rota accel status");
  group.callback([&action, flags, group] {
    if (!group.chosen()) action = [flags] { return list_containers(*flags); };
  });
  add_accel_serve(group, action);
  add_accel_run(group, action);
  add_status_of(group, action);
}

}  // namespace rota::cli
