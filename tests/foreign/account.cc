#include "foreign/account.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "foreign/foreign_engine.h"
#include "model/never_fits.h"

namespace rota::foreign {
namespace {

Outcome outcome_of(const JobRow& row) {
  constexpr std::array kOutcomes{Outcome::completed, Outcome::timed_out, Outcome::cancelled, Outcome::node_failed};
  return kOutcomes[static_cast<std::size_t>(row.how)];
}

std::string difference(const JobRow& row, const std::map<Number, JobId>& ids, const std::set<std::string>& up,
                       const View& view) {
  const auto found = ids.find(row.number);
  const std::string name = fmt::format("job {}", row.number);
  if (row.state == State::ended) return found == ids.end() ? "" : name + " has ended and is thought to be there";
  if (found == ids.end()) return name + " is there and not known";
  const Job& job = view.job(found->second);
  const bool runs = job.state == JobState::running;
  if (runs != (row.state == State::running))
    return name + (runs ? " is thought to run" : " runs, and is thought to wait");
  if (job.starting || job.stopping) return name + " is on its way and does not get there";
  if (job.spec.limit != row.asks.limit) return name + " has another limit";
  if (job.spec.processors != row.asks.processors) return name + " asks for other processors";
  if (!runs && job.spec.nodes != row.asks.nodes) return name + " asks for other nodes";
  if (!runs && job.spec.memory != row.asks.memory) return name + " asks for other memory";
  if (!runs && job.spec.priority != row.asks.priority) return name + " has another priority";
  if (!runs && (job.bars & kHolds) != bar_of(row.hold)) return name + " is held, or is thought to be, or by another";
  const Machine& machine = *view.options().machine;
  if (!runs && job.spec.partition != partition_of(machine, row.asks.partition))
    return name + " is in another partition";
  const bool can_be_ours = row.asks.gated && up.contains(row.asks.partition) && !never_fits(machine, job.spec);
  if (!runs && can_be_ours != job.ours()) return name + " is ours, or is taken for one of ours";
  if (!runs || job.ours()) return {};
  return job.start == row.started ? "" : name + " is thought to have started at another time";
}

std::string difference_of_nodes(const Listing& listing, const View& view) {
  const std::vector<Node>& nodes = view.options().machine->nodes;
  std::map<std::string, std::int64_t> free;
  for (const NodeRow& row : listing.nodes) free[row.name] = row.processors;
  for (const JobRow& row : listing.jobs) {
    for (const Part& part : row.where) free[part.node] -= row.state == State::running ? part.processors : 0;
  }
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    const bool there = free.contains(nodes[n].name);
    if (!there && nodes[n].processors > 0)
      return fmt::format("node {} has gone and is thought to be there", nodes[n].name);
    if (!there) continue;
    const std::int64_t known = view.nodes().free_on(NodeId{n});
    if (known != free[nodes[n].name])
      return fmt::format("on node {} {} processors are free, and {} are thought to be", nodes[n].name,
                         free[nodes[n].name], known);
    free.erase(nodes[n].name);
  }
  for (const NodeRow& row : listing.nodes) {
    if (free.contains(row.name)) return fmt::format("node {} is there and not known", row.name);
    const auto known = std::ranges::find(nodes, row.name, &Node::name);
    std::vector<std::string> partitions;
    for (const PartitionId p : known->partitions)
      partitions.push_back(view.options().machine->partitions[p.value].name);
    if (partitions != row.partitions) return fmt::format("node {} is in other partitions", row.name);
  }
  return {};
}

}  // namespace

std::string difference(const Listing& listing, const View& view) {
  std::map<Number, JobId> ids;
  view.for_each_job([&](JobId id, const Job& job) {
    if (!job.gone()) ids[job.spec.number] = id;
  });
  std::set<std::string> up;
  for (const PartitionRow& row : listing.partitions) {
    if (row.up) up.insert(row.name);
  }
  for (const JobRow& row : listing.jobs) {
    if (auto differs = difference(row, ids, up, view); !differs.empty()) return differs;
    ids.erase(row.number);
  }
  if (!ids.empty()) return fmt::format("job {} is known and is not there", ids.begin()->first);
  return difference_of_nodes(listing, view);
}

void Account::ends(JobId job, Outcome how) {
  const Number number = numbers_[job];
  expect(!ends_.contains(number), fmt::format("job {} ends twice", number));
  ends_[number] = how;
}

void Account::endured(const Fact& fact) {
  tally_.late += fact.late > Duration{0} ? 1 : 0;
  std::visit(
      [&]<class Kind>(const Kind& what) {
        if constexpr (std::is_same_v<Kind, Submitted>) {
          numbers_[what.job] = what.spec.number;
          expect(++ids_[what.spec.number] == 1, fmt::format("job {} is there twice", what.spec.number));
        } else if constexpr (std::is_same_v<Kind, Finished>) {
          ends(what.job, what.outcome);
          tally_.unknown += what.outcome == Outcome::unknown ? 1 : 0;
        } else if constexpr (std::is_same_v<Kind, Cancelled>) {
          ends(what.job, Outcome::cancelled);
        } else if constexpr (std::is_same_v<Kind, Surveyed>) {
          surveyed_.insert(what.until);
        }
        tally_.found += std::is_same_v<Kind, Found> ? 1 : 0;
        tally_.started += std::is_same_v<Kind, Started> ? 1 : 0;
        tally_.launch_failed += std::is_same_v<Kind, LaunchFailed> ? 1 : 0;
        tally_.requeued += std::is_same_v<Kind, Requeued> ? 1 : 0;
        tally_.described += std::is_same_v<Kind, Described> ? 1 : 0;
        tally_.promises += std::is_same_v<Kind, Promised> ? 1 : 0;
      },
      fact.what);
}

bool Account::surveyed_between(Instant from, Instant to) const {
  const auto first = surveyed_.lower_bound(from);
  return first != surveyed_.end() && *first < to;
}

void Account::look_at_ends(const OtherCluster& cluster) {
  for (const auto& [number, row] : cluster.forgotten()) look_at_end(row);
  for (const auto& [number, row] : cluster.jobs()) look_at_end(row);
}

void Account::look_at_end(const JobRow& row) {
  const Instant forgotten = row.ended + OtherCluster::kRemembers;
  if (!ids_.contains(row.number)) {
    ++tally_.never_met;
    return expect(!surveyed_between(row.submitted + Duration{1}, forgotten),
                  fmt::format("job {} was there to be seen and was never met", row.number));
  }
  const auto end = ends_.find(row.number);
  if (end == ends_.end()) return expect(false, fmt::format("job {} has ended, and that is not known", row.number));
  if (end->second == Outcome::unknown && !surveyed_between(row.ended + Duration{1}, forgotten)) return;
  expect(end->second == outcome_of(row), fmt::format("job {} ended as {} and is known as {}", row.number,
                                                     static_cast<int>(outcome_of(row)), static_cast<int>(end->second)));
}

}  // namespace rota::foreign
