// The reservations of a cluster: whether one can be made and taken back, and where the jobs wait that run in one.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "model/cluster.h"
#include "model/moment.h"

namespace rota {
namespace {

std::string named(ReservationId id) { return "reservation " + std::to_string(id.value); }

bool is_beyond(Instant at) { return at < kEpoch - kLongest || at > kEpoch + 4 * kLongest; }

}  // namespace

std::optional<std::string> Cluster::objection(const Reserved& fact) const {
  if (fact.id != reservations_.next_id()) {
    return fmt::format("{} is made, and the next id is {}; nothing was changed.", named(fact.id),
                       reservations_.next_id().value);
  }
  if (fact.until <= now_) return named(fact.id) + " is over before it is made; give an end that is to come.";
  return objection_to_reservation({fact.id, fact.from, fact.until, fact.nodes, fact.processors});
}

std::optional<std::string> Cluster::objection(const ReservationKept& fact) const {
  const Reservation& row = fact.row;
  const bool in_order = reservations_.empty() || reservations_.all().back().id < row.id;
  if (row.id.value >= reservations_.next_id().value || !in_order)
    return "a reservation is kept whose id was not given yet, or twice.";
  return objection_to_reservation(row);
}

std::optional<std::string> Cluster::objection_to_reservation(const Reservation& r) const {
  const std::string name = named(r.id);
  if (options_.presume_ended) {
    return name + " is made where submissions of an instant come before its ends, and nothing can be kept free there.";
  }
  if (is_beyond(r.from) || is_beyond(r.until)) return name + " is made for a time that cannot be.";
  if (r.from >= r.until) return name + " ends before it begins, or at once; give an end after its beginning.";
  Reservation rest = r;  // what is past is no longer reserved
  rest.from = std::max(r.from, now_);
  return nodes_.counted() ? objection_to_counts(rest) : objection_to_nodes(rest);
}

// Never more at one time than there is. What is reserved rises only where a reservation begins.
std::optional<std::string> Cluster::objection_to_counts(const Reservation& r) const {
  const std::string name = named(r.id);
  if (!r.nodes.empty()) return name + " names nodes, and here processors are only counted; say how many of them.";
  if (r.processors <= 0) return name + " reserves nothing; say how many processors.";
  const std::string there = fmt::format("the cluster has {}; reserve fewer.", grouped(options_.processors));
  if (r.processors > options_.processors) {
    return fmt::format("{} asks for {}, and {}", name, amount(r.processors, "processor"), there);
  }
  const auto check = [&](Instant at) -> std::optional<std::string> {
    const std::int64_t others = r.holds_at(at) ? reservations_.processors_at(at) : 0;
    if (others <= options_.processors - r.processors) return std::nullopt;
    return fmt::format("{} asks for {} when {}{} reserved already, and {}", name, amount(r.processors, "processor"),
                       grouped(others), others == 1 ? " is" : " are", there);
  };
  if (auto why = check(r.from)) return why;
  for (const Reservation& other : reservations_.all()) {
    if (auto why = check(other.from)) return why;
  }
  return std::nullopt;
}

std::optional<std::string> Cluster::objection_to_nodes(const Reservation& r) const {
  const std::string name = named(r.id);
  if (r.processors != 0) {
    return name + " counts processors, and here nodes are described; name the nodes.";
  }
  if (r.nodes.empty()) return name + " reserves nothing; name its nodes.";
  std::vector<NodeId> nodes = r.nodes;
  std::ranges::sort(nodes);
  const auto named_node = [&](NodeId node) { return "node " + options_.machine->nodes[node.value].name; };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (auto why = unknown(nodes[i])) return why;
    if (i > 0 && nodes[i] == nodes[i - 1])
      return fmt::format("{} names {} twice; name it once.", name, named_node(nodes[i]));
  }
  for (const Reservation& other : reservations_.all()) {
    if (!other.overlaps(r.from, r.until)) continue;
    for (const NodeId node : other.nodes) {
      if (!std::ranges::binary_search(nodes, node)) continue;
      return fmt::format("{} names {}, which {} has for a part of that time; take another node or another time.", name,
                         named_node(node), named(other.id));
    }
  }
  return std::nullopt;
}

std::optional<std::string> Cluster::objection(const Unreserved& fact) const {
  if (reservations_.find(fact.id)) return std::nullopt;
  return named(fact.id) + " is taken back, and there is none: it is over or was never made; nothing was changed.";
}

void Cluster::join_waiting(const Job& job, JobId id) {
  if (reservations_.join(job, id, now_)) return;
  if (waiting_.empty()) longest_expected_ = {};
  longest_expected_ = std::max(longest_expected_, job.expected);
  waiting_.insert(id, job);
  if (!nodes_.counted()) count_waiting(job, 1);
}

void Cluster::leave_waiting(const Job& job) {
  if (reservations_.leave(job)) return;
  waiting_.erase(job);
  if (!nodes_.counted()) count_waiting(job, -1);
}

// Jobs of what is over, or was taken back, wait like all others.
void Cluster::leave_reservations_over() {
  for (const JobId id : reservations_.take_over(now_)) {
    join_waiting(jobs_[id.value], id);
    ++releases_;
  }
}

// Without reservations all that is started or promised a start would be over by the time at which all that runs is, and
// then so much more as each could take, one after the other.
bool View::reservation_in_reach() const {
  if (!power_.all_on()) return true;
  const Duration away = reservations_.first_begin() - latest_end();
  const auto planned = std::min(static_cast<std::int64_t>(waiting_.size()), options_.most_promises) + 1;
  return away / planned < longest_expected_;
}

Instant View::latest_end() const {
  const Instant soonest = now_ + kMoment;  // an overdue job ends in a moment
  return running_.empty() ? soonest : std::max(soonest, running_.release_of(running_.processors()).at);
}

}  // namespace rota
