// rota reservations: what is kept free for a time, and when.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/printed.h"
#include "cli/service.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

struct ReservationsFlags {
  ServiceFlags service;
  bool no_header = false;
};

Result<int> list_reservations(const ReservationsFlags& flags) {
  const auto answer = Service(flags.service).get("/v1/reservations");
  if (!answer) return std::unexpected(answer.error());
  if (flags.service.json) return printed(shown_json(*answer));
  std::vector<std::vector<std::string>> rows;
  for (const Json& row : list_of(*answer, "reservations")) {
    const double start = number_of(row, "start");
    const double end = number_of(row, "end");
    const std::string nodes = text_of(row, "nodes");
    rows.push_back({std::to_string(static_cast<std::int64_t>(number_of(row, "id"))),
                    flag_of(row, "active") ? "ACTIVE" : "INACTIVE", time_text(start), time_text(end),
                    run_text(end - start), grouped(static_cast<std::int64_t>(number_of(row, "processors"))),
                    nodes.empty() ? "-" : nodes});
  }
  return printed(table({{"ID", true}, {"STATE"}, {"START"}, {"END"}, {"DURATION", true}, {"CPUS", true}, {"NODELIST"}},
                       rows, !flags.no_header));
}

}  // namespace

void add_reservations(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ReservationsFlags>();
  CLI::App* command = app.add_subcommand("reservations", "list what is reserved, now and later");
  command->description(
      command->get_description() +
      "\nThe next one comes first. ACTIVE: it has begun, and no job starts there. They are made in the "
      "service's configuration, as [[reservations]] with dates.");
  command->add_flag("--noheader", flags->no_header, "without the line that names the columns");
  flags->service.declare_json(*command);
  command->footer("Examples:\n  rota reservations");
  command->callback([&action, flags] { action = [flags] { return list_reservations(*flags); }; });
}

}  // namespace rota::cli
