#include "policy/within_reservations.h"

#include "model/never_fits.h"
#include "policy/time_limits.h"

namespace rota {
namespace {

// What is free after the draft, on the nodes of this reservation alone.
NodeSpace& room_in(const Reservation& within, const View& view, Plan& plan) {
  NodeSpace& room = plan.some_nodes();
  room.follow(plan.nodes());
  for (std::uint32_t n = 0; n < room.size(); ++n) {
    if (room.available(NodeId{n})) room.set_available(NodeId{n}, false);
  }
  for (const NodeId node : within.nodes) {
    if (view.nodes().available(node)) room.set_available(node, true);
  }
  return room;
}

}  // namespace

bool start_within_reservations(const View& view, Plan& plan) {
  bool concerns_others = false;
  LimitUse limits = view.options().limits_at_start ? limits_left(view) : LimitUse();
  Placement where;
  for (const Reservation& within : view.reservations().all()) {
    if (!within.holds_at(view.now())) continue;
    NodeSpace* room = nullptr;
    for (const auto& [place, waits] : view.reservations().waiting()) {
      const Job& job = view.job(waits.job);
      if (waits.within != within.id) continue;
      if (view.reservations().ends_too_late(within, view.now() + job.expected, view.options().outlasts_reservations))
        continue;
      if (limits.kept() && limits.broken_by(job.spec)) continue;
      if (room == nullptr) room = &room_in(within, view, plan);
      if (!room->find(job.spec, where)) {
        if (fits_on(*view.options().machine, job.spec, within.nodes)) break;
        continue;
      }
      room->occupy(where);
      plan.start_at(waits.job, where, {Rule::within_reservation, {}, kNever, plan.free(), 0}, false);
      if (limits.kept()) limits.count(job.spec);
      concerns_others = concerns_others || limits.kept() || job.spec.licence.valid();
    }
  }
  if (concerns_others) plan.look_again();
  return !concerns_others;
}

}  // namespace rota
