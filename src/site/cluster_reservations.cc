#include "site/cluster_reservations.h"

#include <fmt/core.h>

#include <map>
#include <set>

#include "base/text.h"
#include "model/cluster.h"

namespace rota::site {
namespace {

class Reader {
 public:
  Reader(const ClusterDraft& draft, const Machine& machine)
      : draft_(draft),
        machine_(machine),
        cluster_({.processors = machine.processors, .machine = &machine, .waiting = {}}) {
    for (std::uint32_t i = 0; i < machine.nodes.size(); ++i) ids_[machine.nodes[i].name] = NodeId{i};
  }

  // Whether it agrees with the others the state of a cluster knows.
  Result<Reservation> read(const ReservationEntry& entry) {
    if ((entry.start > kDates) != (entry.end > kDates)) {
      return wrong(entry.line,
                   "of a reservation one time is a date, and the other counts from second 0 of the log. Give "
                   "it two dates, or none.");
    }
    const Duration zero = entry.dated() ? kDates : Duration{0};
    if (entry.start == kLongest || entry.end == kLongest) {
      return wrong(entry.line, "a reservation without an end, or one that never begins, is none. Give it two times.");
    }
    auto nodes = TRY(nodes_of(entry));
    if (!entry.name.empty() && (entry.dated() || nodes.empty()))
      return wrong(entry.line_of("name"), entry.dated() ? "a reservation with dates has no `name`: an operator makes "
                                                          "one for jobs with `rota reserve --name --users`."
                                                        : "where processors are only counted, no job runs in a "
                                                          "reservation. Leave its `name` out.");
    const Reserved fact{cluster_.reservations().next_id(), kEpoch + (entry.start - zero), kEpoch + (entry.end - zero),
                        std::move(nodes), entry.processors};
    if (auto why = cluster_.objection(fact)) return wrong(entry.line, *why);
    cluster_.fold(kEpoch, 1, fact);
    return cluster_.reservations().all().back();
  }

 private:
  std::unexpected<Error> wrong(std::uint32_t line, const std::string& what) const {
    return fail("{}:{}: {}", draft_.shown, line, what);
  }

  Result<std::vector<NodeId>> nodes_of(const ReservationEntry& entry) const {
    std::vector<NodeId> nodes;
    const std::uint32_t line = entry.line_of("nodes");
    if (line == 0) return nodes;
    if (machine_.nodes.empty()) {
      return wrong(line,
                   "`nodes` speaks of nodes, and this cluster only counts processors. Say how many with `processors`.");
    }
    const auto names = parse_host_list(entry.nodes, machine_.nodes.size());
    if (!names) return wrong(line, names.error().message);
    for (const std::string& name : *names) {
      const auto found = ids_.find(name);
      if (found == ids_.end()) {
        return wrong(line,
                     fmt::format("the reservation names node {}, which no [[nodes]] table describes.", quoted(name)));
      }
      nodes.push_back(found->second);
    }
    return nodes;
  }

  const ClusterDraft& draft_;
  const Machine& machine_;
  Cluster cluster_;
  std::map<std::string_view, NodeId> ids_;
};

}  // namespace

Result<std::vector<Reservation>> reservations_of(const ClusterDraft& draft, const Machine& machine, bool dated) {
  std::vector<Reservation> all;
  if (draft.reservations.empty()) return all;
  if (!draft.sites.empty()) {
    return fail("{}:{}: [[reservations]] are for one site, and there are [[sites]]. Remove one of the two.",
                draft.shown, draft.reservations.front().line);
  }
  Reader reader(draft, machine);
  std::set<std::string_view> names;
  for (const ReservationEntry& entry : draft.reservations) {
    if (entry.dated() != dated) continue;
    if (!entry.name.empty() && !names.insert(entry.name).second)
      return fail("{}:{}: there is a reservation named {} already. Give this one another name.", draft.shown,
                  entry.line_of("name"), quoted(entry.name));
    auto reservation = TRY(reader.read(entry));
    all.push_back(std::move(reservation));
  }
  return all;
}

}  // namespace rota::site
