#include "cli/import/import_names.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "log/node_lists.h"

namespace rota::cli {
namespace {

using Of = site::MadeUpNames::Of;

constexpr std::array<std::pair<Of, log::NumberedNames log::AccountedLog::*>, 4> kNumbered{
    {{Of::user, &log::AccountedLog::users},
     {Of::account, &log::AccountedLog::groups},
     {Of::qos, &log::AccountedLog::queues},
     {Of::partition, &log::AccountedLog::partitions}}};

// The same nodes, by other names.
std::string renamed(std::string_view list, site::MadeUpNames& names) {
  auto nodes = parse_host_list(list).value_or(std::vector<std::string>{});
  for (std::string& node : nodes) node = names.name(Of::node, node);
  std::ranges::sort(nodes, {}, [](const std::string& node) { return std::pair(node.size(), std::string_view(node)); });
  return format_host_list(nodes);
}

void rename_nodes(log::SacctLog& log, site::MadeUpNames& names) {
  if (!log.node_lists) return;
  auto lists = std::make_shared<log::NodeLists>();
  std::vector<std::uint32_t> numbers{0};
  for (std::uint32_t number = 1; number <= log.node_lists->size(); ++number)
    numbers.push_back(lists->number_of(renamed(log.node_lists->text(number), names)));
  for (log::SwfRow& row : log.rows) row.ran_on = numbers[row.ran_on];
  log.node_lists = std::move(lists);
}

}  // namespace

site::MadeUpNames made_up_names(const log::SacctLog& log) {
  site::MadeUpNames names;
  for (const auto& [kind, of] : kNumbered)
    for (const auto& [number, name] : log.*of) names.number(kind, name, number);
  return names;
}

void rename(log::SacctLog& log, site::MadeUpNames& names) {
  for (const auto& [kind, of] : kNumbered)
    for (auto& [number, name] : log.*of) name = names.name(kind, name);
  rename_nodes(log, names);
  for (std::size_t i = 0; i < log.exports.size(); ++i) log.exports[i].shown = "export" + std::to_string(i + 1);
}

void rename(log::JobAttributes& asks, site::MadeUpNames& names) {
  for (NamedLicences& licence : asks.licences) licence.name = names.name(Of::licence, licence.name);
  asks.wish.features = with_features_renamed(
      asks.wish.features, [&](std::string_view feature) { return std::string(names.name(Of::feature, feature)); });
  for (std::string* list : {&asks.wish.among, &asks.wish.without}) {
    if (!list->empty()) *list = renamed(*list, names);
  }
}

}  // namespace rota::cli
