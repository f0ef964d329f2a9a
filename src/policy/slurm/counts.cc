#include "policy/slurm/slurm_room.h"

#include <algorithm>

namespace rota {

SlurmSlot slot_of(Instant start, Duration expected, const SlurmKnobs& knobs) {
  const Instant from = knobs.rounded_down(start, knobs.resolution);
  return {from, std::max(knobs.rounded_down(start + expected, knobs.resolution), from + knobs.resolution)};
}

// Ends are not known where nodes wake, and what is reserved begins and ends by the clock. What is in reach stays so,
// and what is not as well, until something ends.
Instant same_ends_until(const View& view) {
  if (view.reserved_in_reach() || !view.power().all_on()) return view.now();
  Instant first = kNever;
  view.running().for_each([&](const RunningEntry& e) {
    first = e.place.end;
    return false;
  });
  return first;
}

SlurmCounts::SlurmCounts(const View& view, Plan& plan, const SlurmKnobs& knobs)
    : view_(view), plan_(plan), knobs_(knobs), drawn_(view.reserved_in_reach()) {
  if (drawn_) free_ = plan.open_profile();
}

bool SlurmCounts::fits_now(const WaitingEntry& e) const {
  return plan_.fits(e) && (!drawn_ || free_.fits(view_.now(), e.processors, e.expected));
}

void SlurmCounts::open_pass() {
  free_ = plan_.open_profile();
  drawn_ = true;
  alike_ = same_ends_until(view_);
}

// What is free changes at no instant before the first end: until then a job that cannot start now cannot either, and
// one that can start later can then.
Instant SlurmCounts::earliest(const WaitingEntry& e, bool now_only) {
  if (now_only) return fits_now(e) ? view_.now() : kNever;
  const Instant start = free_.earliest(view_.now(), e.processors, e.expected);
  if (start == view_.now() && !plan_.fits(e)) return kNever;
  if (start == kNever || start - view_.now() <= knobs_.window) return start;
  alike_ = std::min(alike_, start - knobs_.window);
  return kNever;
}

// From the start itself: what runs until then holds the same processors, and would be counted twice.
void SlurmCounts::reserve(const WaitingEntry& e, Instant start) {
  const SlurmSlot slot = slot_of(start, e.expected, knobs_);
  reserved_ = true;
  free_.change(start, std::max(slot.until, start + e.expected), -std::int64_t{e.processors});
}

void SlurmCounts::start(const WaitingEntry& e, const Reason& reason, bool backfilled) {
  if (drawn_) free_.change(view_.now(), view_.now() + e.expected, -std::int64_t{e.processors});
  plan_.start(e.job, reason, backfilled);
}

}  // namespace rota
