#include "report/nodes_file.h"

#include "report/rows.h"

namespace rota::report {

void write_nodes_csv(std::ostream& out, const Outcome& outcome) {
  const bool energy = outcome.power && outcome.power->energy >= 0;
  const bool cost = outcome.power && outcome.power->cost;
  out << "node,processors,work_s,idle_s,off_s,cycles" << (outcome.sites.empty() ? "" : ",site")
      << (energy ? ",energy_j" : "") << (cost ? ",cost\n" : "\n");
  Rows rows(out);
  for (const NodeTotal& node : outcome.nodes) {
    rows.long_text(csv_cell(node.name));
    rows.text(",");
    rows.integer(node.processors);
    for (const std::int64_t time : {node.work, node.idle, node.off}) {
      rows.text(",");
      rows.thousandths(time);
    }
    rows.text(",");
    rows.integer(node.cycles);
    if (!outcome.sites.empty()) {
      rows.text(",");
      rows.long_text(csv_cell(outcome.sites[node.site.value]));
    }
    if (energy) rows.text(",");
    if (energy) rows.thousandths((node.energy + 500) / 1000);
    if (cost) rows.text(",");
    if (cost) rows.millionths(node.cost.rounded());
    rows.text("\n");
  }
  rows.flush();
}

}  // namespace rota::report
