#include "site/slurm_reservations.h"

#include "base/letters.h"
#include "base/text.h"
#include "site/date.h"
#include "site/slurm_table.h"

namespace rota::site {

Result<std::vector<SlurmReservation>> reservations_of_slurm(const SlurmText::File& file, std::string_view cluster,
                                                            SlurmRemarks& remarks) {
  std::vector<SlurmReservation> all;
  if (trimmed(file.text).empty()) return all;
  const std::string command = std::string("sacctmgr -P show reservation format=") + kReservationFormat;
  const auto table = TRY(SlurmTable::read(file.text, file.shown, command, remarks));
  const auto of_cluster = TRY(table.column({"cluster"}, file.shown, command));
  const auto name = TRY(table.column({"name"}, file.shown, command));
  const auto start = TRY(table.column({"timestart", "start"}, file.shown, command));
  const auto end = TRY(table.column({"timeend", "end"}, file.shown, command));
  const auto nodes = TRY(table.column({"nodename", "nodenames", "nodes"}, file.shown, command));
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (lower(table.cell(row, of_cluster)) != lower(cluster)) continue;
    const auto from = unix_milliseconds_of(std::string(table.cell(row, start)) + "Z");
    const auto until = unix_milliseconds_of(std::string(table.cell(row, end)) + "Z");
    const auto names = parse_host_list(table.cell(row, nodes));
    if (!from || !until || *until <= *from || !names || names->empty()) {
      remarks.left_out("reservations that are of no nodes or of no certain time", table.cell(row, name));
      continue;
    }
    all.push_back({std::string(table.cell(row, name)), *names, *from / 1000, *until / 1000});
  }
  return all;
}

}  // namespace rota::site
