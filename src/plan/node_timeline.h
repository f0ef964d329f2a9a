// What is free on each node from now on: the Profile of clusters that are described node by node. It begins with all of
// them unused; KeptTimeline draws in what runs, is promised, away or reserved. Each node has a list of its own of what
// is free from when on, and for each instant at which something changes it is known on which nodes, and how many
// processors are free on all of them. So a question costs what changes while the job would run, and not the nodes at
// each step, and nodes are asked only where there is room by counting.
#pragma once

#include <vector>

#include "model/cluster.h"
#include "model/spread.h"
#include "plan/node_room.h"

namespace rota {

// Scratch of a search in a timeline.
struct NodeSearchMemory {
  // What nodes give together, and of how many kinds of licences there are enough.
  struct Sum {
    Given given;
    std::int64_t licences = 0;
  };
  // So much has been free on a node since a step; what was less, and since before that, is below.
  struct Run {
    std::int64_t level;
    std::uint32_t since;
    std::uint32_t below;
  };
  struct Cursor {
    std::uint32_t segment = 0;  // of its track, that holds at the instant looked at
    std::uint32_t run = 0;      // the topmost
  };
  std::vector<Cursor> cursors;  // by track
  std::vector<Run> runs;
  std::vector<Sum> later;  // by step: what counts as soon as starts before it are given up
};

class NodeTimeline {
 public:
  NodeTimeline() = default;  // of no nodes
  // All nodes and licences, unused for ever. An empty Placement takes no room.
  static NodeTimeline unused(const View& view);
  // Time moves on to `now`, from where it was or later: what was free before is forgotten. O(steps + changes meanwhile)
  void advance(Instant now);

  // Between which instants a start is looked for. There must be none before the first.
  struct Bounds {
    Instant from;
    Instant before = kNever;
  };
  // The earliest start for a job, on nodes that stay free all through; kNever: there is none within these bounds.
  // O(steps from `from` up to its end), and where there is room by counting, O(nodes x log changes + changes there)
  Instant earliest(const JobSpec& spec, Duration duration, Placement& where, const Bounds& bounds);
  Instant earliest(const JobSpec& spec, Duration duration, Placement& where) {
    return earliest(spec, duration, where, {steps_.front().at});
  }

  // Before which instant within these bounds there is no start for a job that has a place from the end of them on, and
  // would give it back; kNever: there is none. By counting alone. O(steps within them)
  Instant none_before(const Bounds& bounds, const JobSpec& spec, Duration duration) const;

  // Where it can start at an instant, on nodes that stay free all through; false: nowhere.
  // O(nodes x log changes + changes meanwhile)
  bool place_at(Instant at, const JobSpec& spec, Duration duration, Placement& where);

  // Since when any node of a place has had room for what the job asks of one, up to this instant, which is later than
  // the first; itself: none has. Nothing is known of licences. O(nodes of the job x changes there)
  Instant free_since(Instant at, const JobSpec& spec, const Placement& where) const;

  // Whether a place is free all through; and how it is taken and given back. O(nodes of the job x changes there)
  bool fits(Instant from, Duration duration, const Placement& where) const;
  bool overdrawn(Instant from, Duration duration, const Placement& where) const;  // more is taken than there is
  void occupy(Instant from, Duration duration, const Placement& where) { change(from, duration, where, -1); }
  void give(Instant from, Duration duration, const Placement& where) { change(from, duration, where, 1); }

 private:
  // Holds from here to the next one, the last one for ever.
  struct Segment {
    Instant at;
    NodeFree free;
  };
  using Track = std::vector<Segment>;
  // An instant, whose tracks change there, and how many processors are free from then on, on all nodes that have any.
  // Plain figures: many are moved where one comes in between.
  struct Step {
    Instant at;
    std::int64_t free;
    std::uint32_t changes;  // the first in changes_
  };
  struct Change {
    std::uint32_t track;
    std::uint32_t next;
  };
  static constexpr std::uint32_t kNoChange = UINT32_MAX;
  class Search;
  class CountedStarts;

  std::uint32_t track_of(LicenceId licence) const { return nodes_ + licence.value; }
  Instant begin() const { return steps_.front().at; }
  // visit(track) for those that change at a step.
  template <class Visit>
  void for_each_changed(std::size_t step, const Visit& visit) const {
    for (std::uint32_t c = steps_[step].changes; c != kNoChange; c = changes_[c].next) visit(changes_[c].track);
  }
  void drop_idle_steps();
  std::size_t cut(std::uint32_t track, Instant at);
  void join(std::uint32_t track, std::size_t first, std::size_t last);
  void note(std::uint32_t track, Instant at);
  void forget(std::uint32_t track, Instant at);
  template <class What>
  void change(std::uint32_t track, Instant from, Instant to, const What& what);
  void change(Instant from, Duration duration, const Placement& where, std::int32_t sign);
  template <class Suffices>
  bool holds_all_through(std::uint32_t track, Instant from, Instant to, const Suffices& suffices) const;
  std::int64_t counts(std::uint32_t track, const NodeFree& free) const {
    return track < nodes_ ? std::max(free.processors, 0) : 0;
  }

  std::uint32_t nodes_ = 0;
  std::vector<Track> tracks_;  // of the nodes, then of the licences: how many are free stands for memory there
  std::vector<Step> steps_;
  std::size_t idle_steps_ = 0;  // so many of them, beside the first, are those of no track any more
  std::vector<Change> changes_;
  std::uint32_t spare_change_ = kNoChange;  // the first of those that are not in use
  NodeRoom all_through_;                    // scratch, as is:
  NodeSearchMemory memory_;
};

}  // namespace rota
