#include "site/cluster_load.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"

namespace rota::site {
namespace {

std::unexpected<Error> wrong(const ClusterDraft& draft, std::uint32_t line, const std::string& what) {
  return fail("{}:{}: {}", draft.shown, line, what);
}

std::optional<double> said(std::int64_t per_mille) {
  return per_mille < 0 ? std::nullopt : std::optional(static_cast<double>(per_mille) / 1000);
}

// Looked at where it will be asked: on so many nodes, with no work up to a hundred times what the nodes can hold.
bool is_a_load(const Formula& formula, std::size_t most_nodes) {
  constexpr double kLongest = 3600;
  constexpr int kSteps = 200;
  const auto load = [&](double work, double nodes) { return formula.value(std::array{work, nodes, kLongest}); };
  const auto most = static_cast<double>(most_nodes);
  for (int step = 0; step <= kSteps; ++step) {
    const double work = kLongest * most * 100 * step / kSteps, more = work + kLongest * most / 2;
    for (const double nodes : {1.0, std::max(1.0, most / 2), most}) {
      const double here = load(work, nodes);
      if (!std::isfinite(here) || load(more, nodes) < here || load(work, nodes + 1) > here) return false;
    }
  }
  return load(kLongest * most * 100, 1) > load(0, 1);
}

Result<Formula> load_of(std::string_view text) {
  const auto* const known =
      std::ranges::find(kLoadFunctions, text, &std::pair<std::string_view, std::string_view>::first);
  return Formula::parse(known == kLoadFunctions.end() ? text : known->second, kLoadNames);
}

}  // namespace

Result<std::shared_ptr<const LoadRule>> load_rule_of(const ClusterDraft& draft, const PartitionEntry& entry,
                                                     std::size_t nodes) {
  constexpr std::array<const char*, 7> kKeys{"power_close", "power_open", "power_close_to", "power_open_to",
                                             "power_least", "power_most", "power_load"};
  const auto* const first = std::ranges::find_if(kKeys, [&](const char* key) { return entry.line_of(key) != 0; });
  if (first == kKeys.end()) return nullptr;
  if (draft.nodes.empty())
    return wrong(draft, entry.line_of(*first),
                 fmt::format("`{}` is about nodes that sleep, and this cluster only counts processors. Describe nodes "
                             "in [[nodes]] tables, or remove the key.",
                             *first));
  LoadRule rule{.close = said(entry.power_close),
                .open = said(entry.power_open),
                .close_to = said(entry.power_close_to),
                .open_to = said(entry.power_open_to),
                .least_on = static_cast<std::uint32_t>(entry.power_least),
                .most_on = entry.power_most == 0 ? UINT32_MAX : static_cast<std::uint32_t>(entry.power_most),
                .load = std::nullopt};
  if (rule.least_on > std::min<std::size_t>(rule.most_on, nodes))
    return wrong(draft, entry.line_of("power_least"),
                 fmt::format("`power_least` is more than `power_most`, or than the partition's {}. Lower it.",
                             amount(static_cast<std::int64_t>(nodes), "node")));
  if (const std::uint32_t line = entry.line_of("power_load"); line != 0) {
    auto formula = load_of(entry.power_load);
    if (!formula)
      return wrong(
          draft, line,
          fmt::format(
              "`power_load` is share, root, log or a formula such as \"work / (nodes * longest)\", and in {} {}.",
              quoted(entry.power_load), formula.error().message));
    if (!is_a_load(*formula, nodes))
      return wrong(draft, line,
                   fmt::format("`power_load` must be a number that rises with work and falls with nodes, and {} is "
                               "not. Take share, root, log or another formula.",
                               quoted(entry.power_load)));
    rule.load = std::move(*formula);
  }
  return std::make_shared<const LoadRule>(std::move(rule));
}

}  // namespace rota::site
