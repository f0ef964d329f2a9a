// What counting processors cannot tell a bid: when a site has room for a job that needs particular nodes, memory,
// accelerators, shares of nodes or licences. It serves one view, at one instant: what is the same for all jobs of a
// priority is reckoned once for them, in O(nodes + running + promised log promised). Not thread-safe.
#pragma once

#include <deque>
#include <vector>

#include "model/cluster.h"
#include "plan/node_room.h"

namespace rota {

// Whether the job needs more than any processors that are free.
inline bool needs_places(const View& view, const JobSpec& job) {
  return !view.nodes().counted() && view.nodes().needs_of(job) != Needs::processors;
}

class BidRoom {
 public:
  // now: the view may be older. Both must stay as they are.
  BidRoom(const View& view, Instant now) : view_(view), now_(now) {}

  // The earliest instant from `there` on, when the job could be in the queue, at which it has room: when running jobs
  // have ended as expected, those of lower priority have given way, and nodes that sleep were woken at `there`. What is
  // promised to jobs that go first is promised until they have ended, unless the job is over before. kNever: there is
  // no such instant. O(nodes + what comes free until then)
  Instant opening(const JobSpec& job, Instant there);

  // Whether it has room on what is free, on nodes that boot or sleep, and on what those of lower priority hold.
  // O(nodes)
  bool could_offer(const JobSpec& job);

 private:
  // What comes free at an instant: a place, or a node.
  struct Release {
    Instant at;
    const Placement* place;  // nullptr: all of the node
    NodeId node;
  };
  struct Promised {
    std::int64_t job;  // its number
    Instant start;
    const Placement* place;
  };
  // To jobs of a priority.
  struct Level {
    std::int32_t priority;
    NodeRoom free;  // and held by lower priorities
    bool knows_later = false;
    std::vector<Release> ends;           // by instant, as is:
    std::vector<Release> with_promised;  // ends, and when jobs that go first have had what is promised
    NodeRoom beside;                     // free, but for that
    std::vector<Promised> promised;      // to jobs that go first, by start
  };

  Level& level(std::int32_t priority);
  Level& level_later(std::int32_t priority);
  void add_ends(Level& level) const;
  void set_aside(Level& level) const;
  void list_nodes_that_are_away(Instant woken);
  Instant opening_from(const JobSpec& job, const std::vector<Release>& releases, const Placement* not_released,
                       Instant at);

  const View& view_;
  Instant now_;
  std::deque<Level> levels_;
  std::vector<Release> away_;  // scratch, as is:
  NodeRoom room_;
};

}  // namespace rota
