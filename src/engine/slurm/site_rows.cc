#include "engine/slurm/site_rows.h"

#include "base/text.h"
#include "site/date.h"
#include "site/slurm_records.h"

namespace rota::slurm {
namespace {

std::int64_t processors_of(std::string_view tres) {
  for (const std::string_view each : split(tres, ','))
    if (each.starts_with("cpu=")) return parse_integer(each.substr(4)).value_or(0);
  return 0;
}

}  // namespace

Result<std::vector<ReservationRow>> read_reservations(std::string_view text) {
  if (!text.ends_with('\n')) return fail("what scontrol printed of reservations is cut off.");
  std::vector<ReservationRow> rows;
  if (text.starts_with("No reservations")) return rows;
  const auto records = TRY(site::slurm_records(text, "ReservationName", "scontrol show reservation"));
  for (const site::SlurmRecord& record : records) {
    const auto at = [&](std::string_view key) {
      return site::unix_milliseconds_of(std::string(record.value(key)) + "Z").value_or(0);
    };
    auto nodes = parse_host_list(record.value("Nodes"));
    ReservationRow row{.name = record.values.front().second, .users = std::string(record.value("Users"))};
    if (const std::string_view accounts = record.value("Accounts"); !accounts.empty())
      row.users += (row.users.empty() ? "" : ",") + std::string(accounts);
    row.from = at("StartTime");
    row.until = at("EndTime");
    row.processors = processors_of(record.value("TRES"));
    if (!nodes || nodes->empty() || row.until <= row.from) continue;
    row.nodes = std::move(*nodes);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ManagerUse> read_use(std::string_view text) {
  std::vector<ManagerUse> all;
  for (const std::string_view line : split(text, '\n')) {
    const auto cells = split(line, '|');
    if (cells.size() != 3 || trimmed(cells[1]).empty()) continue;
    const auto used = parse_integer(trimmed(cells[2]));
    constexpr std::int64_t kMost = INT64_MAX / 1000;
    if (!used || *used < 0 || *used > kMost) continue;
    all.push_back({std::string(trimmed(cells[0])), std::string(trimmed(cells[1])), Duration{*used * 1000}});
  }
  return all;
}

}  // namespace rota::slurm
