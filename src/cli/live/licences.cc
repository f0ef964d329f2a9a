// rota licences: how many there are, and how many are in use.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/live/service.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

Result<int> list_licences(const ServiceFlags& flags) {
  const auto answer = TRY(Service(flags).get("/v1/licences"));
  if (flags.json) return printed(shown_json(answer));
  std::vector<std::vector<std::string>> rows;
  for (const Json& row : list_of(answer, "licences")) {
    const auto number = [&](const char* name) { return static_cast<std::int64_t>(number_of(row, name)); };
    const std::int64_t free = number("count") - number("used") - number("elsewhere");
    rows.push_back({text_of(row, "name"), grouped(number("count")), grouped(number("used")),
                    grouped(number("elsewhere")), grouped(std::max<std::int64_t>(0, free))});
  }
  if (const std::string failure = text_of(answer, "failure"); !failure.empty())
    remark(fmt::format("rota: the licence command's last answer was none, and the count before stands: {}.", failure));
  return printed(table({{"LICENCE"}, {"COUNT", true}, {"JOBS", true}, {"ELSEWHERE", true}, {"FREE", true}}, rows));
}

}  // namespace

void add_licences(Command app, Action& action) {
  auto flags = std::make_shared<ServiceFlags>();
  Command command = app.add_subcommand("licences", "list licences, and how many are free");
  command.description(
      "JOBS: held by jobs here. ELSEWHERE: used by others, as the site's licence server says, where "
      "the service asks it.");
  flags->declare_json(command);
  command.footer("Examples:\n  rota licences");
  command.callback([&action, flags] { action = [flags] { return list_licences(*flags); }; });
}

}  // namespace rota::cli
