#include "cli/rehearse/by_party.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

#include "cli/printed.h"

namespace rota::cli {
namespace {

std::vector<const report::Outcome*> outcomes_of(const std::vector<Run>& runs, const log::Workload& workload) {
  std::vector<const report::Outcome*> outcomes;
  for (const Run& run : runs)
    if (run.workload == &workload) outcomes.push_back(&run.result->outcome);
  return outcomes;
}

}  // namespace

void PartyFlags::declare(Command command) {
  command
      .add_option("--by", kinds,
                  "the comparison once more for each user, account, partition or qos: those that used most, then the "
                  "others together; in JSON all of them")
      .delimiter(',')
      .one_of(std::vector<std::string>(std::begin(report::kPartyKinds), std::end(report::kPartyKinds)))
      .type_name("KIND,...");
}

std::vector<report::PartySummaries> by_party(const std::vector<Run>& runs, const PartyFlags& flags, bool json) {
  const std::size_t most = json ? std::numeric_limits<std::size_t>::max() : report::kMostParties;
  std::vector<report::PartySummaries> all;
  for (const Run& run : runs) {
    if (&run != &runs.front() && run.workload == (&run - 1)->workload) continue;
    const auto outcomes = outcomes_of(runs, *run.workload);
    for (const std::string& kind : flags.kinds) {
      const auto which = std::ranges::find(report::kPartyKinds, kind) - std::begin(report::kPartyKinds);
      auto parties = report::summaries_by(static_cast<report::PartyKind>(which), outcomes, most);
      if (parties.empty()) remark(fmt::format("{}: --by {}: the log names none", run.workload->name, kind));
      std::ranges::move(parties, std::back_inserter(all));
    }
  }
  return all;
}

}  // namespace rota::cli
