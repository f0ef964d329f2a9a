// rota accel: the containers that the service knows, and which nodes are bound to them.
#include <fmt/core.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/live/accel.h"
#include "cli/printed.h"

namespace rota::cli {

namespace {

// ", 2 slots of 12 on n1"
std::string slots_of(const Json& row) {
  std::string text;
  for (const Json& one : list_of(row, "slots"))
    text += fmt::format("{}{} of {} on {}", text.empty() && words_of(row, "bound").empty() ? "" : ", ",
                        amount(static_cast<std::int64_t>(number_of(one, "slots")), "slot"), text_of(one, "job"),
                        text_of(one, "node"));
  return text;
}

}  // namespace

Result<int> list_containers(const ServiceFlags& flags) {
  const auto answer = TRY(Service(flags).get("/v1/accelerators"));
  if (flags.json) return printed(shown_json(answer));
  std::vector<std::vector<std::string>> rows;
  for (const Json& row : list_of(answer, "containers")) {
    const auto found = row.find("state");
    const Json state = found == row.end() ? Json::object() : *found;
    const auto number = [&](const char* name) { return static_cast<std::int64_t>(number_of(state, name)); };
    const std::int64_t queue = number("waiting") + number("receiving") + number("complete") + number("computing");
    rows.push_back({text_of(row, "node"), fmt::format("{:.0f}", number_of(row, "device")), text_of(state, "state"),
                    fmt::format("{:.0f}", number_of(row, "weight")), grouped(queue), grouped(number("done")),
                    fmt::format("{} of {}", format_size(number("memory_used")), format_size(number("memory"))),
                    fmt::format("{:.1f} s", number_of(row, "seen")), text_of(row, "address"),
                    words_of(row, "bound") + slots_of(row)});
  }
  std::string text = table({{"NODE"},
                            {"DEVICE", true},
                            {"STATE"},
                            {"WEIGHT", true},
                            {"QUEUE", true},
                            {"DONE", true},
                            {"MEMORY", true},
                            {"SEEN", true},
                            {"ADDRESS"},
                            {"BOUND"}},
                           rows);
  if (const std::string unbound = words_of(answer, "unbound"); !unbound.empty())
    text += "\nNodes without a container: " + unbound + "\n";
  return printed(text);
}

}  // namespace rota::cli
