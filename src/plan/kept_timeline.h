// The NodeTimeline of a policy that plans on nodes, kept from cycle to cycle: what has become of running jobs,
// promises, nodes that are away, reservations and licences since is drawn, and nothing else. It says what the view says
// and nothing of its own, whatever has happened in between. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/paged_table.h"
#include "plan/node_timeline.h"

namespace rota {

class KeptTimeline {
 public:
  // What a job has or is promised. Only what is below changes it.
  struct Hold {
    Instant from = kNever;  // kNever: nothing is drawn
    Instant to = kNever;
    Placement where;
    std::uint64_t seen = 0;  // in which follow()
  };

  // Becomes what the view says: of running jobs, which are expected to end on time or, if they are overdue, in a
  // moment, of nodes that are away, reservations and licences, and of promises or of none. False: of promises some have
  // no place yet, or cannot be kept. O(running + promised + nodes away + reservations + what has changed)
  enum class Promises : std::uint8_t { drawn, left_out };
  bool follow(const View& view, Promises promises);

  bool some_have_no_place() const { return some_have_no_place_; }  // of the promised jobs
  // Whether something is drawn beside a promise, as it is drawn, that leaves too little for it, as follow() found it.
  // O(1) where nothing new is in the way, else O(nodes of the job x changes there)
  bool lacks_room(const Hold& hold) const {
    return hold.from < crowded_until_ && hold.to > crowded_from_ &&
           timeline_.overdrawn(hold.from, hold.to - hold.from, hold.where);
  }

  NodeTimeline& timeline() { return timeline_; }

  // The hold of a job that waits; it stays at its address as long as the job is promised a start.
  Hold& hold_of(JobId job);

  // Draws a place, which is then what the job has.
  void draw(Hold& hold, Instant from, Duration duration, const Placement& where);
  // Lifts the place that a job has, and draws it again.
  void lift(const Hold& hold) { timeline_.give(hold.from, hold.to - hold.from, hold.where); }
  void draw_again(const Hold& hold) { timeline_.occupy(hold.from, hold.to - hold.from, hold.where); }
  // It has none any more, once that is lifted.
  static void give_up(Hold& hold) { hold.from = hold.to = kNever; }

 private:
  struct Change {
    Hold* hold;
    Instant from;
    Instant to;
    const Placement* where;
  };

  void begin(const View& view);
  void see(JobId job, Instant from, Instant to, const Placement& where);
  void see_promises(const View& view);
  void drop_unseen();
  void give_what_is_over(const Change& change);
  void take_what_is_new(const Change& change);
  void follow_nodes(const View& view);
  void follow_reservations(const View& view);
  void follow_licences(const View& view);
  void follow_node(NodeId node, Instant back);
  void occupy(Instant from, Instant to, const Placement& where);
  void give(Instant from, Instant to, const Placement& where);
  const Placement& all_of(NodeId node);

  const NodeSpace* space_ = nullptr;
  std::uint32_t descriptions_ = 0;  // of nodes, when it began
  Instant now_ = kEpoch;
  std::uint64_t follows_ = 0;
  NodeTimeline timeline_;
  PagedTable<Hold> holds_;
  std::vector<Instant> back_;          // by node: it is away until then; kEpoch: it is not
  std::int64_t away_ = 0;              // nodes
  std::vector<Reservation> reserved_;  // as drawn
  std::vector<std::int64_t> elsewhere_;
  bool some_have_no_place_ = false;
  Instant crowded_from_ = kNever;  // all that found no room when it was drawn last lies between these
  Instant crowded_until_ = kEpoch;
  std::vector<Change> changes_;  // scratch, as are:
  std::vector<JobId> unseen_;
  Placement one_node_;
};

}  // namespace rota
