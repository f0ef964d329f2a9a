#include "cli/import/import_reservations.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/text.h"
#include "log/node_lists.h"
#include "site/cluster_file.h"
#include "site/slurm_reservations.h"
#include "site/toml_text.h"

namespace rota::cli {
namespace {

using log::SwfField;

// In seconds of the log.
struct Times {
  std::int64_t from, until;
};

bool started_in(const std::set<std::string>& nodes, const Times& times, const log::SwfRow& row,
                const log::SacctLog& log) {
  const std::int64_t start = row[SwfField::submit] + row[SwfField::wait];
  if (row.ran_on == 0 || row[SwfField::wait] < 0 || start < times.from || start >= times.until) return false;
  const auto ran_on = parse_host_list(log.node_lists->text(row.ran_on));
  return ran_on && std::ranges::any_of(*ran_on, [&](const std::string& node) { return nodes.contains(node); });
}

// The jobs that started in one, unless no other is left.
void take_out(const std::set<std::string>& nodes, const Times& times, log::SacctLog& log) {
  std::vector<log::SwfRow> others;
  std::ranges::copy_if(log.rows, std::back_inserter(others),
                       [&](const log::SwfRow& row) { return !started_in(nodes, times, row, log); });
  if (others.empty()) return;
  for (const log::SwfRow& row : log.rows) {
    if (!started_in(nodes, times, row, log)) continue;
    log.report.drop("started in a reservation: left out, and its nodes are kept free", row.line);
    --log.report.kept;
  }
  log.rows = std::move(others);
}

std::string toml_of(const std::vector<std::string>& nodes, const Times& times) {
  return fmt::format("\n[[reservations]]\nstart = {}\nend = {}\nnodes = {}\n", times.from, times.until,
                     site::toml_text(format_host_list(nodes)));
}

}  // namespace

Result<void> add_reservations(const site::SlurmText& text, log::SacctLog& log, site::MadeUpNames* names,
                              site::SlurmCluster& cluster) {
  const auto own = cluster.config.find("ClusterName");
  site::SlurmRemarks remarks(names == nullptr);
  const auto all =
      TRY(site::reservations_of_slurm(text.reservations, own == cluster.config.end() ? "" : own->second, remarks));
  for (const site::SlurmReservation& each : all) {
    std::vector<std::string> nodes;
    for (const std::string& node : each.nodes)
      if (const std::string shown(called(names, site::MadeUpNames::Of::node, node));
          std::ranges::find(cluster.machine.nodes, shown, &Node::name) != cluster.machine.nodes.end())
        nodes.push_back(shown);
    const Times times{std::max<std::int64_t>(each.from - log.unix_start, 0), each.until - log.unix_start};
    if (nodes.empty() || times.until <= times.from) continue;
    const std::string with = cluster.toml + toml_of(nodes, times);
    if (!site::parse_cluster(with, "cluster.toml")) {
      remarks.left_out("reservations of nodes that another one has at the same time", each.name);
      continue;
    }
    cluster.toml = with;
    if (log.node_lists) take_out({nodes.begin(), nodes.end()}, times, log);
  }
  std::ranges::move(remarks.left_out(), std::back_inserter(cluster.left_out));
  return {};
}

}  // namespace rota::cli
