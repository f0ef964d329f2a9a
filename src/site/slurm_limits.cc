#include "site/slurm_limits.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/letters.h"
#include "base/text.h"
#include "site/slurm_table.h"

namespace rota::site {
namespace {

// Whether a column has limits of jobs in it: GrpTRES, MaxJobsPU, MinTRES, ...
bool is_limit(std::string_view column) {
  const std::string name = lower(column.substr(0, 3));
  return name == "grp" || name == "max" || name == "min";
}

// Calls visit(row, column) for each cell in which a limit stands; false: the table has no column of limits.
template <class Visit>
bool each_limit(const SlurmTable& table, const Visit& visit) {
  bool any = false;
  for (std::size_t column = 0; column < table.names().size(); ++column) {
    if (!is_limit(trimmed(table.names()[column]))) continue;
    any = true;
    for (std::size_t row = 0; row < table.size(); ++row)
      if (!table.cell(row, column).empty()) visit(row, column);
  }
  return any;
}

void tell_unknown(const std::string& of, const std::string& shown, SlurmRemarks& remarks) {
  remarks.left_out(fmt::format("limits of {}, if they have any (AccountingStorageEnforce): {} does not tell them; the "
                               "commands that --help shows do",
                               of, shown),
                   "");
}

Result<void> tell_qos(const SlurmText::File& file, SlurmRemarks& remarks) {
  if (file.text.empty()) {
    tell_unknown("QOS", file.shown, remarks);
    return Result<void>{};
  }
  const std::string command = std::string("sacctmgr -P show qos format=") + kQosFormat;
  const auto table = TRY(SlurmTable::read(file.text, file.shown, command, remarks));
  const auto name = TRY(table.column({"name"}, file.shown, command));
  const bool told = each_limit(table, [&](std::size_t row, std::size_t column) {
    remarks.left_out(fmt::format("the limit {} of QOS", trimmed(table.names()[column])), table.cell(row, name));
  });
  if (!told) tell_unknown("QOS", file.shown, remarks);
  return {};
}

Result<void> tell_associations(const SlurmText::File& file, std::string_view cluster, SlurmRemarks& remarks) {
  if (file.text.empty()) {
    tell_unknown("accounts and users", file.shown, remarks);
    return Result<void>{};
  }
  const std::string command = std::string("sacctmgr -P show assoc format=") + kAssociationFormat;
  const auto table = TRY(SlurmTable::read(file.text, file.shown, command, remarks));
  const auto of = table.column({"cluster"}, file.shown, command);
  const auto account = table.column({"account"}, file.shown, command);
  const auto user = table.column({"user"}, file.shown, command);
  for (const auto* each : {&of, &account, &user})
    if (!*each) return std::unexpected(each->error());
  const bool told = each_limit(table, [&](std::size_t row, std::size_t column) {
    if (lower(table.cell(row, *of)) != lower(cluster)) return;
    const std::string_view name = table.cell(row, *user);
    remarks.left_out(
        fmt::format("the limit {}{}", trimmed(table.names()[column]), name.empty() ? " of accounts" : " of users"),
        name.empty() ? table.cell(row, *account) : name);
  });
  if (!told) tell_unknown("accounts and users", file.shown, remarks);
  return {};
}

}  // namespace

Result<void> tell_limits(const SlurmText& text, std::string_view cluster, SlurmRemarks& remarks) {
  auto told = tell_qos(text.qos, remarks);
  return told ? tell_associations(text.associations, cluster, remarks) : told;
}

}  // namespace rota::site
