#include "report/block_costs.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace rota::report {
namespace {

constexpr double kCosts = 1.05;    // times as long a mean wait is told as a cost,
constexpr double kLeastCost = 60;  // if it is so many seconds longer

using Parties = std::map<std::uint32_t, Block::Served>;

Parties served(const Blocks& blocks, Parties Block::* parties) {
  Parties all;
  for (const Block& block : blocks) {
    for (const auto& [party, of_block] : block.*parties) {
      all[party].jobs += of_block.jobs;
      all[party].wait += of_block.wait;
    }
  }
  return all;
}

}  // namespace

Costs costs_of(const Blocks& now, const Blocks& then) {
  Costs costs;
  costs.of_groups = served(now, &Block::groups).size() > 1;
  Parties Block::* const parties = costs.of_groups ? &Block::groups : &Block::users;
  const Parties before = served(now, parties);
  const Parties after = served(then, parties);
  costs.all = before.size();
  for (const auto& [party, was] : before) {
    const auto is = after.find(party);
    if (is == after.end()) continue;
    const PartyCost cost{party, was.jobs, was.wait / static_cast<double>(was.jobs),
                         is->second.wait / static_cast<double>(is->second.jobs)};
    if (cost.then > cost.now * kCosts && cost.then - cost.now >= kLeastCost) costs.parties.push_back(cost);
  }
  const auto loss = [](const PartyCost& cost) { return (cost.then - cost.now) * static_cast<double>(cost.jobs); };
  std::ranges::sort(costs.parties, std::greater{}, loss);
  return costs;
}

std::string cost_told(const Costs& costs) {
  const char* const kind = costs.of_groups ? "group" : "user";
  if (costs.all == 0) return "Whom it costs is not known: the log names no users.";
  if (costs.parties.empty()) return fmt::format("No {} waits clearly longer for it.", kind);
  return fmt::format("It costs {} of {}: their jobs wait longer by more than 5 % and a minute.",
                     grouped(std::ssize(costs.parties)), amount(static_cast<std::int64_t>(costs.all), kind));
}

}  // namespace rota::report
