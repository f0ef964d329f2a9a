// rota sites: the sites of a federation, and what is between them.
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

Result<int> list_sites(const ServiceFlags& flags) {
  const auto answer = TRY(Service(flags).get("/v1/sites"));
  if (flags.json) return printed(shown_json(answer));
  if (text_of(answer, "name").empty())
    return fail("this service is no site of a federation; docs/sites.md says how sites are joined.");
  std::vector<std::vector<std::string>> rows;
  for (const Json& row : list_of(answer, "sites")) {
    const auto number = [&](const char* name) { return grouped(static_cast<std::int64_t>(number_of(row, name))); };
    rows.push_back({text_of(row, "name") + (row.value("self", false) ? " (this one)" : ""),
                    row.value("alive", false) ? "alive" : "gone", number("offered"), number("jobs")});
  }
  if (const std::string trouble = text_of(answer, "trouble"); !trouble.empty())
    remark("rota: etcd does not answer, and what is shown may be old: " + trouble);
  return printed(table({{"SITE"}, {"STATE"}, {"OFFERS", true}, {"JOBS", true}}, rows));
}

}  // namespace

void add_sites(Command app, Action& action) {
  auto flags = std::make_shared<ServiceFlags>();
  Command command = app.add_subcommand("sites", "list the sites of the federation");
  command.description(
      "OFFERS: jobs submitted there that are on offer to all sites. JOBS: jobs of the federation that the site has "
      "taken and that have not ended.");
  flags->declare_json(command);
  command.footer("Examples:\n  rota sites");
  command.callback([&action, flags] { action = [flags] { return list_sites(*flags); }; });
}

}  // namespace rota::cli
