#include "cli/import/import_names.h"

#include <array>
#include <utility>

namespace rota::cli {
namespace {

using Of = site::MadeUpNames::Of;

constexpr std::array<std::pair<Of, log::NumberedNames log::AccountedLog::*>, 4> kNumbered{
    {{Of::user, &log::AccountedLog::users},
     {Of::account, &log::AccountedLog::groups},
     {Of::qos, &log::AccountedLog::queues},
     {Of::partition, &log::AccountedLog::partitions}}};

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
  for (std::size_t i = 0; i < log.exports.size(); ++i) log.exports[i].shown = "export" + std::to_string(i + 1);
}

void rename(log::JobAttributes& asks, site::MadeUpNames& names) {
  for (NamedLicences& licence : asks.licences) licence.name = names.name(Of::licence, licence.name);
}

}  // namespace rota::cli
