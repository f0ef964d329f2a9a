#include "model/reservations.h"

#include <algorithm>
#include <utility>

namespace rota {

const Reservation* Reservations::find(ReservationId id) const {
  const auto found = std::ranges::find(rows_, id, &Reservation::id);
  return found == rows_.end() ? nullptr : &*found;
}

std::int64_t Reservations::processors_at(Instant at) const {
  std::int64_t reserved = 0;
  for (const Reservation& r : rows_) reserved += r.holds_at(at) ? r.processors : 0;
  return reserved;
}

Instant Reservations::first_begin() const {
  Instant first = kNever;
  for (const Reservation& r : rows_) first = std::min(first, r.from);
  return first;
}

Instant Reservations::next_change(Instant now) const {
  Instant next = kNever;
  for (const Reservation& r : rows_) {
    if (r.until > now) next = std::min(next, r.from > now ? r.from : r.until);
  }
  return next;
}

void Reservations::add(Reservation reservation) {
  next_id_ = std::max(next_id_, ReservationId{reservation.id.value + 1});
  rows_.push_back(std::move(reservation));
}

void Reservations::remove(ReservationId id) {
  std::erase_if(rows_, [&](const Reservation& r) { return r.id == id; });
}

void Reservations::forget_over(Instant now) {
  std::erase_if(rows_, [&](const Reservation& r) { return r.until <= now; });
}

namespace {

WaitingEntry::Key place_of(const Job& job) { return {job.spec.priority, job.ahead ? -1 : 0, job.sequence}; }

}  // namespace

const Reservation* Reservations::of(const JobSpec& spec, Instant now) const {
  if (!spec.node_wish || !spec.node_wish->reservation.valid()) return nullptr;
  const Reservation* own = find(spec.node_wish->reservation);
  return own != nullptr && !own->nodes.empty() && own->until > now ? own : nullptr;
}

bool Reservations::ends_too_late(const Reservation& within, Instant end, bool may_outlast) const {
  if (end <= within.until || !may_outlast) return end > within.until;
  return std::ranges::any_of(rows_, [&](const Reservation& r) {
    return r.overlaps(within.until, end) && std::ranges::find_first_of(r.nodes, within.nodes) != r.nodes.end();
  });
}

bool Reservations::join(const Job& job, JobId id, Instant now) {
  const Reservation* own = of(job.spec, now);
  if (own != nullptr) waiting_.emplace(place_of(job), Waits{id, own->id});
  return own != nullptr;
}

bool Reservations::leave(const Job& job) { return !waiting_.empty() && waiting_.erase(place_of(job)) > 0; }

std::vector<JobId> Reservations::take_over(Instant now) {
  std::vector<JobId> taken;
  std::erase_if(waiting_, [&](const auto& each) {
    const Reservation* own = find(each.second.within);
    const bool over = own == nullptr || own->until <= now;
    if (over) taken.push_back(each.second.job);
    return over;
  });
  return taken;
}

}  // namespace rota
