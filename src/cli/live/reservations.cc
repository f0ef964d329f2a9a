// rota reservations, reserve, unreserve: what is kept free for a time, and when.
#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/live/service.h"
#include "cli/live/submission.h"
#include "cli/printed.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

struct ReservationsFlags {
  ServiceFlags service;
  bool no_header = false;
};

struct ReserveFlags {
  ServiceFlags service;
  std::string start = "now";
  std::string end, duration, nodes, name, users;
  std::int64_t processors = 0;
};

struct UnreserveFlags {
  ServiceFlags service;
  std::vector<std::string> which;
};

std::string id_of(const Json& reservation) {
  return std::to_string(static_cast<std::int64_t>(number_of(reservation, "id")));
}

Result<int> list_reservations(const ReservationsFlags& flags) {
  const auto answer = TRY(Service(flags.service).get("/v1/reservations"));
  if (flags.service.json) return printed(shown_json(answer));
  std::vector<std::vector<std::string>> rows;
  for (const Json& row : list_of(answer, "reservations")) {
    const double start = number_of(row, "start");
    const double end = number_of(row, "end");
    const auto text = [&](const char* name) { return text_of(row, name).empty() ? "-" : text_of(row, name); };
    rows.push_back({id_of(row), flag_of(row, "active") ? "ACTIVE" : "INACTIVE", time_text(start), time_text(end),
                    run_text(end - start), grouped(static_cast<std::int64_t>(number_of(row, "processors"))),
                    text("nodes"), text("name"), text("by"), text("users")});
  }
  return printed(table({{"ID", true},
                        {"STATE"},
                        {"START"},
                        {"END"},
                        {"DURATION", true},
                        {"CPUS", true},
                        {"NODELIST"},
                        {"NAME"},
                        {"BY"},
                        {"USERS"}},
                       rows, !flags.no_header));
}

Result<Json> wish_of(const ReserveFlags& flags) {
  Json body = Json::object();
  const std::int64_t now = unix_now();
  if (flags.start != "now") {
    const auto start = parse_when(flags.start, now);
    if (!start) return fail("--start: " + start.error().message);
    body["start"] = *start;
  }
  if (!flags.end.empty()) {
    const auto end = parse_when(flags.end, now);
    if (!end) return fail("--end: " + end.error().message);
    body["end"] = *end;
  }
  if (!flags.duration.empty()) {
    const auto duration = parse_duration(flags.duration);
    if (!duration) return fail("--duration takes a time such as 90m or 2d, not {}.", rota::quoted(flags.duration));
    body["duration"] = to_seconds(*duration);
  }
  if (flags.end.empty() && flags.duration.empty())
    return fail("say when it is over: --end or --duration is missing. See `rota reserve --help`.");
  if (flags.nodes.empty() && flags.processors == 0)
    return fail("say what is reserved: --nodes or --processors is missing. See `rota reserve --help`.");
  if (!flags.nodes.empty()) body["nodes"] = flags.nodes;
  if (flags.processors > 0) body["processors"] = flags.processors;
  if (!flags.name.empty()) body["name"] = flags.name;
  if (!flags.users.empty()) body["users"] = flags.users;
  return body;
}

// Which jobs may still run on it when it begins.
std::string running_into(const Json& made) {
  const auto count = static_cast<std::int64_t>(number_of(made, "running_into"));
  if (count == 0) return {};
  const Json& jobs = list_of(made, "jobs");
  const bool more = static_cast<std::int64_t>(jobs.size()) < count;
  return fmt::format("{}{}{}{}.\n", amount(count, "job"),
                     count == 1 ? " that runs now may last into it by its limit, and is not stopped: "
                                : " that run now may last into it by their limits, and are not stopped: ",
                     words_of(made, "jobs", ", "), more ? " and others" : "");
}

Result<int> reserve(const ReserveFlags& flags) {
  const auto body = TRY(wish_of(flags));
  const auto made = TRY(Service(flags.service).post("/v1/reservations", body, fresh_key()));
  if (flags.service.json) return printed(shown_json(made));
  const std::string name = text_of(made, "name");
  const std::string nodes = text_of(made, "nodes");
  const auto processors = static_cast<std::int64_t>(number_of(made, "processors"));
  return printed(fmt::format(
      "Made reservation {}{}: {} from {} to {}.\n{}", id_of(made), name.empty() ? "" : fmt::format(" ({})", name),
      nodes.empty() ? amount(processors, "processor") : nodes, time_text(number_of(made, "start")),
      time_text(number_of(made, "end")), running_into(made)));
}

Result<int> unreserve(const UnreserveFlags& flags) {
  const Service service(flags.service);
  std::string refused;
  for (const std::string& which : flags.which) {
    auto done = service.remove("/v1/reservations/" + percent_encoded(which));
    if (!done) refused += (refused.empty() ? "" : "\n") + done.error().message;
  }
  if (!refused.empty()) return fail(std::move(refused));
  return kDone;
}

void add_reserve(Command app, Action& action) {
  auto flags = std::make_shared<ReserveFlags>();
  Command command = app.add_subcommand("reserve", "keep nodes free for a time");
  command.description(
      "No job starts that would run into that time there. Who runs already is not stopped. For "
      "operators only.");
  command.add_option("--start", flags->start, "when it begins: 16:00, 2026-12-01T08:00, now+2hours")
      .type_name("WHEN")
      .capture_default_str();
  command.add_option("--end", flags->end, "when it is over").type_name("WHEN");
  command.add_option("--duration", flags->duration, "or how long it lasts: 90m, 2d")
      .type_name("TIME")
      .excludes("--end");
  command.add_option("--nodes", flags->nodes, "which nodes, as n[1-3],n7; all: every one").type_name("NODES");
  command.add_option("--processors", flags->processors, "or how many processors, where no nodes are described")
      .type_name("N")
      .positive()
      .excludes("--nodes");
  command.add_option("--name", flags->name, "by which to find and end it").type_name("NAME");
  command
      .add_option("--users", flags->users, "whose jobs may run in it, with `rota submit --reservation`; without: none")
      .type_name("NAMES")
      .needs("--name");
  flags->service.declare_json(command);
  command.footer(
      "Examples:\n  rota reserve --start 2026-12-01T08:00 --duration 4h --nodes n[1-2] --name memory\n"
      "  rota reserve --end tomorrow --nodes all");
  command.callback([&action, flags] { action = [flags] { return reserve(*flags); }; });
}

void add_unreserve(Command app, Action& action) {
  auto flags = std::make_shared<UnreserveFlags>();
  Command command = app.add_subcommand("unreserve", "end reservations before their time");
  command.description(
      "Those that `rota reserve` made. What stands in the service's configuration is taken out there. "
      "For operators only.");
  command.add_option("RESERVATION", flags->which, "names or ids, as `rota reservations` has them").required();
  flags->service.declare(command);
  command.footer("Examples:\n  rota unreserve memory\n  rota unreserve 3");
  command.callback([&action, flags] { action = [flags] { return unreserve(*flags); }; });
}

}  // namespace

void add_reservations(Command app, Action& action) {
  auto flags = std::make_shared<ReservationsFlags>();
  Command command = app.add_subcommand("reservations", "list what is reserved, now and later");
  command.description(
      "The next one comes first. ACTIVE: it has begun, and no other job starts there. BY: the operator who made it, "
      "with "
      "`rota reserve`; else it stands in the service's configuration, as [[reservations]] with dates. USERS: whose "
      "jobs may run in it.");
  command.add_flag("--noheader", flags->no_header, "without the line that names the columns");
  flags->service.declare_json(command);
  command.footer("Examples:\n  rota reservations");
  command.callback([&action, flags] { action = [flags] { return list_reservations(*flags); }; });
  add_reserve(app, action);
  add_unreserve(app, action);
}

}  // namespace rota::cli
