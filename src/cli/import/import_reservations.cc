#include "cli/import/import_reservations.h"

#include <fmt/core.h>

#include <algorithm>
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

std::int64_t started_in(const std::set<std::string>& nodes, const Times& times, const log::SacctLog& log) {
  if (!log.node_lists) return 0;
  return std::ranges::count_if(log.rows, [&](const log::SwfRow& row) {
    const std::int64_t start = row[SwfField::submit] + row[SwfField::wait];
    if (row.ran_on == 0 || row[SwfField::wait] < 0 || start < times.from || start >= times.until) return false;
    const auto ran_on = parse_host_list(log.node_lists->text(row.ran_on));
    return ran_on && std::ranges::any_of(*ran_on, [&](const std::string& node) { return nodes.contains(node); });
  });
}

std::string toml_of(const std::vector<std::string>& nodes, const Times& times) {
  return fmt::format("\n[[reservations]]\nstart = {}\nend = {}\nnodes = {}\n", times.from, times.until,
                     site::toml_text(format_host_list(nodes)));
}

}  // namespace

Result<void> add_reservations(const site::SlurmText& text, const log::SacctLog& log, site::MadeUpNames* names,
                              site::SlurmCluster& cluster) {
  const auto own = cluster.config.find("ClusterName");
  site::SlurmRemarks remarks(names == nullptr);
  const auto all =
      TRY(site::reservations_of_slurm(text.reservations, own == cluster.config.end() ? "" : own->second, remarks));
  std::string toml;
  std::int64_t for_jobs = 0, jobs = 0;
  for (const site::SlurmReservation& each : all) {
    std::vector<std::string> nodes;
    for (const std::string& node : each.nodes)
      if (const std::string shown(called(names, site::MadeUpNames::Of::node, node));
          std::ranges::find(cluster.machine.nodes, shown, &Node::name) != cluster.machine.nodes.end())
        nodes.push_back(shown);
    const Times times{std::max<std::int64_t>(each.from - log.unix_start, 0), each.until - log.unix_start};
    if (nodes.empty() || times.until <= times.from) continue;
    if (const auto started = started_in({nodes.begin(), nodes.end()}, times, log); started > 0) {
      ++for_jobs;
      jobs += started;
    } else {
      toml += toml_of(nodes, times);
    }
  }
  if (for_jobs > 0)
    cluster.left_out.push_back(fmt::format("{} for certain jobs: {} of the log started there, and go anywhere here",
                                           amount(for_jobs, "reservation"), amount(jobs, "job")));
  if (auto with = site::parse_cluster(cluster.toml + toml, "cluster.toml"); toml.empty() || with) {
    cluster.toml += toml;
  } else {
    cluster.left_out.push_back("reservations: " + with.error().message);
  }
  std::ranges::move(remarks.left_out(), std::back_inserter(cluster.left_out));
  return {};
}

}  // namespace rota::cli
