#include "cli/import/import_reservations.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "base/text.h"
#include "log/attribute_table.h"
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

// On its nodes alone: another job that started meanwhile did so beside it.
bool started_in(const std::set<std::string>& nodes, const Times& times, const log::SwfRow& row,
                const log::SacctLog& log) {
  const std::int64_t start = row[SwfField::submit] + row[SwfField::wait];
  if (row.ran_on == 0 || row[SwfField::wait] < 0 || start < times.from || start >= times.until) return false;
  const auto ran_on = parse_host_list(log.node_lists->text(row.ran_on));
  return ran_on && !ran_on->empty() &&
         std::ranges::all_of(*ran_on, [&](const std::string& node) { return nodes.contains(node); });
}

// Those that started in it ask for it; how many that are.
std::int64_t ask_for(const std::string& name, const std::set<std::string>& nodes, const Times& times,
                     log::SacctLog& log, log::AttributeTable& asking) {
  if (!log.node_lists) return 0;
  std::int64_t jobs = 0;
  for (const log::SwfRow& row : log.rows) {
    if (!started_in(nodes, times, row, log)) continue;
    const std::int64_t number = row[SwfField::number];
    log::JobAttributes asks = log.attributes ? log.attributes->attributes_of(number) : log::JobAttributes{};
    asks.wish.reservation = name;
    asking.add(number, asks, row.line);
    log.report.note("started in a reservation, and ask for it", row.line);
    ++jobs;
  }
  return jobs;
}

// Slurm may have had several of one name, one after the other; made-up names tell none.
std::string name_of(const site::SlurmReservation& reservation, bool made_up, std::size_t place,
                    std::set<std::string>& taken) {
  std::string name = made_up ? "reservation" + std::to_string(place + 1) : reservation.name;
  if (!taken.insert(name).second) name += "-" + std::to_string(place + 1);
  taken.insert(name);
  return name;
}

// Slurm cuts to whole seconds what time it is: a job that would end within the second in which a reservation begins is
// over before it.
std::string toml_of(const std::vector<std::string>& nodes, const Times& times, const std::string& name) {
  const std::int64_t from = times.from > 0 ? times.from + 1 : 0, until = times.until + 1;
  return fmt::format("\n[[reservations]]\nstart = {}\nend = {}\nnodes = {}\n{}", from, until,
                     site::toml_text(format_host_list(nodes)),
                     name.empty() ? "" : fmt::format("name = {}\n", site::toml_text(name)));
}

}  // namespace

Result<void> add_reservations(const site::SlurmText& text, log::SacctLog& log, site::MadeUpNames* names,
                              site::SlurmCluster& cluster) {
  const auto own = cluster.config.find("ClusterName");
  site::SlurmRemarks remarks(names == nullptr);
  const auto all =
      TRY(site::reservations_of_slurm(text.reservations, own == cluster.config.end() ? "" : own->second, remarks));
  std::set<std::string> taken;
  log::AttributeTable asking("reservations");
  for (std::size_t place = 0; place < all.size(); ++place) {
    const site::SlurmReservation& each = all[place];
    std::vector<std::string> nodes;
    for (const std::string& node : each.nodes)
      if (const std::string shown(called(names, site::MadeUpNames::Of::node, node));
          std::ranges::find(cluster.machine.nodes, shown, &Node::name) != cluster.machine.nodes.end())
        nodes.push_back(shown);
    const Times times{std::max<std::int64_t>(each.from - log.unix_start, 0), each.until - log.unix_start};
    if (nodes.empty() || times.until <= times.from) continue;
    if (!site::parse_cluster(cluster.toml + toml_of(nodes, times, ""), "cluster.toml")) {
      remarks.left_out("reservations of nodes that another one has at the same time", each.name);
      continue;
    }
    const std::string name = name_of(each, names != nullptr, place, taken);
    const std::int64_t jobs = ask_for(name, {nodes.begin(), nodes.end()}, times, log, asking);
    cluster.toml += toml_of(nodes, times, jobs > 0 ? name : "");
  }
  asking.finish();
  if (!asking.empty()) {
    const log::AttributeTable none("");
    log.attributes = std::make_shared<const log::AttributeTable>(
        log::AttributeTable::together(asking, log.attributes ? *log.attributes : none));
  }
  std::ranges::move(remarks.left_out(), std::back_inserter(cluster.left_out));
  return {};
}

}  // namespace rota::cli
