#include "swarm/bookings.h"

#include <algorithm>

namespace rota::swarm {
namespace {

bool share_a_node(const Reservation& a, const Reservation& b) {
  const auto is_in_b = [&](NodeId node) { return std::ranges::find(b.nodes, node) != b.nodes.end(); };
  return std::ranges::any_of(a.nodes, is_in_b);
}

std::string named(ReservationId id) { return "reservation " + std::to_string(id.value); }

}  // namespace

void Bookings::endured(const Reserved& fact) {
  ids_[asked_.at(fact.id)] = fact.id;
  rows_[fact.id] = {fact.id, fact.from, fact.until, fact.nodes, fact.processors};
}

const Reservation* Bookings::find(ReservationId id, Instant now) const {
  const auto row = rows_.find(id);
  return row == rows_.end() || row->second.until <= now ? nullptr : &row->second;
}

std::int64_t Bookings::processors_at(Instant at) const {
  std::int64_t all = 0;
  for (const auto& [id, row] : rows_) all += row.holds_at(at) ? row.processors : 0;
  return all;
}

bool Bookings::has_room(const Reservation& wanted, Instant now) const {
  if (wanted.until <= now) return false;
  const Instant from = std::max(wanted.from, now);
  if (processors_at(from) + wanted.processors > drawn_.machine.processors) return false;
  for (const auto& [id, other] : rows_) {
    if (!other.overlaps(from, wanted.until)) continue;
    if (share_a_node(other, wanted)) return false;
    const Instant both = std::max(from, other.from);
    if (processors_at(both) + wanted.processors > drawn_.machine.processors) return false;
  }
  return true;
}

void Bookings::expects(const Command& command) {
  using Kind = Command::Kind;
  const bool says = command.kind == Kind::start || command.kind == Kind::expect || command.kind == Kind::adjust;
  if (says) starts_[command.job].until = command.stands ? kNever : command.expected_end;
}

bool Bookings::within_any(const Command& start, Instant now) const {
  const auto own = rows_.find(starts_.at(start.job).within);
  return own != rows_.end() && own->second.holds_at(now);
}

bool Bookings::beside_any(const Command& start, Instant now) const {
  return std::ranges::any_of(rows_, [&](const auto& row) { return row.second.overlaps(now, start.expected_end); });
}

std::string Bookings::taken_by(const Command& start, Instant now, const sim::RunLedger& world) const {
  if (starts_.at(start.job).at != now) return {};  // decided before a crash
  for (const auto& [id, row] : rows_) {
    if (!row.overlaps(now, start.expected_end)) continue;
    if (id == starts_.at(start.job).within) {
      const auto is_outside = [&](const Share& s) { return std::ranges::find(row.nodes, s.node) == row.nodes.end(); };
      if (std::ranges::any_of(start.where.shares, is_outside)) return "a node outside of its " + named(id);
      if (!row.holds_at(now) || start.expected_end > row.until) return "time outside of its " + named(id);
      continue;
    }
    for (const Share& s : start.where.shares) {
      if (std::ranges::find(row.nodes, s.node) != row.nodes.end()) return "a node of " + named(id);
    }
    if (row.processors == 0) continue;
    const Instant at = std::max(row.from, now);
    std::int64_t used = starts_.at(start.job).processors;
    for (const auto& [job, run] : world.all()) {
      const bool stays = run.runs && job != start.job && (at == now || starts_.at(job).until > at);
      if (stays) used += starts_.at(job).processors;
    }
    if (used + processors_at(at) > drawn_.machine.processors) return "processors of " + named(id);
  }
  return {};
}

Instant Bookings::next_change(Instant now) const {
  Instant next = kNever;
  for (const auto& [id, row] : rows_) {
    for (const Instant at : {row.from, row.until}) next = at > now ? std::min(next, at) : next;
  }
  return next;
}

std::string Bookings::difference(const View& view) const {
  for (const auto& [id, row] : rows_) {
    if (row.until > view.now() && !view.reservations().find(id)) return named(id) + " was made and is lost";
  }
  for (const Reservation& r : view.reservations().all()) {
    if (!rows_.contains(r.id)) return named(r.id) + " stands, and was never made or taken back";
  }
  return {};
}

}  // namespace rota::swarm
