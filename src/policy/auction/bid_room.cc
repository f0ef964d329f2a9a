#include "policy/auction/bid_room.h"

#include <algorithm>
#include <vector>

#include "model/moment.h"
#include "plan/node_room.h"

namespace rota {
namespace {

// What comes free at an instant: a place, or a node.
struct Release {
  Instant at;
  const Placement* place;  // nullptr: all of the node
  NodeId node;
};

// Room for one job, as time goes on.
class Room {
 public:
  Room(const View& view, const JobSpec& job) : view_(view), job_(job), room_(view.nodes()) {
    view.by_priority().for_each_below(job.priority, [&](const RunningByPriority::Entry& e) {
      room_.give(view.placement(e.job));
      return true;
    });
  }

  void add_ends(Instant now) {
    const Instant soon = now + kMoment;  // whoever is overdue may end any moment
    view_.running().for_each([&](const RunningEntry& e) {
      const bool gives_way = view_.options().by_priority && view_.job(e.job).spec.priority < job_.priority;
      const bool counts = !gives_way || view_.job(e.job).leaving;
      if (counts) releases_.push_back({std::max(e.place.end, soon), &view_.placement(e.job), {}});
      return true;
    });
  }

  void add_nodes_that_are_away(Instant woken) {
    const NodePower& power = view_.power();
    for (const PowerState state : {PowerState::booting, PowerState::shutting_down, PowerState::off}) {
      power.for_each_in(state, [&](NodeId node) {
        releases_.push_back({power.back_at(node, woken), nullptr, node});
        return true;
      });
    }
  }

  // Sets aside what is promised to those who go first. When the first of them has it; kNever: nobody.
  Instant set_aside_for_others() {
    Instant first = kNever;
    for (const JobId id : view_.promised()) {
      const Job& other = view_.job(id);
      const Placement& place = view_.promised_place(id);
      if (other.spec.priority < job_.priority || other.spec.number == job_.number || place.shares.empty()) continue;
      room_.take(place);
      releases_.push_back({other.promise + other.expected, &place, {}});
      first = std::min(first, other.promise);
    }
    return first;
  }

  Instant opening_from(Instant at) {
    FitWatch watch(room_, job_);
    std::stable_sort(releases_.begin(), releases_.end(),
                     [](const Release& a, const Release& b) { return a.at < b.at; });
    for (const Release& r : releases_) {
      if (r.at > at && watch.fits()) return at;
      at = std::max(at, r.at);
      if (r.place != nullptr) {
        watch.give(room_, *r.place);
      } else {
        watch.bring_back(room_, r.node, view_.options().machine->nodes[r.node.value].processors);
      }
    }
    return watch.fits() ? at : kNever;
  }

 private:
  const View& view_;
  const JobSpec& job_;
  NodeRoom room_;
  std::vector<Release> releases_;
};

}  // namespace

Instant room_for(const View& view, const JobSpec& job, Instant now, Instant there) {
  const auto opening = [&](bool beside_promises, Instant& first_promise) {
    Room room(view, job);
    room.add_ends(now);
    room.add_nodes_that_are_away(there);
    if (beside_promises) first_promise = room.set_aside_for_others();
    return room.opening_from(there);
  };
  Instant first_promise = kNever;
  const Instant beside = opening(true, first_promise);
  if (first_promise == kNever || there + job.limit > first_promise) return beside;  // nobody is over before it
  const Instant before = opening(false, first_promise);
  return before != kNever && before + job.limit <= first_promise ? std::min(before, beside) : beside;
}

bool could_offer(const View& view, const JobSpec& job) {
  Room room(view, job);
  room.add_nodes_that_are_away(view.now());
  return room.opening_from(view.now()) != kNever;
}

}  // namespace rota
