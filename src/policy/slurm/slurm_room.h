// What is free now and later, as Slurm's two passes see it: where processors are counted, and where nodes are
// described. Both answer the same questions about a job that waits. They live for one cycle.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "plan/plan.h"
#include "policy/slurm/node_set.h"
#include "policy/slurm/slurm_knobs.h"

namespace rota {

// The stretch of time that a reservation keeps: both ends are rounded down to a multiple of the resolution by
// slurmctld's clock, as in Slurm 22.05, but it is at least as long as that.
struct SlurmSlot {
  Instant from;
  Instant until;
};
SlurmSlot slot_of(Instant start, Duration expected, const SlurmKnobs& knobs);

// Up to which instant, that one not included, the same running jobs stand for the same ends: to the first of them.
Instant same_ends_until(const View& view);

// Processors that are counted. A reservation keeps as many as its job asks for.
class SlurmCounts {
 public:
  SlurmCounts(const View& view, Plan& plan, const SlurmKnobs& knobs);

  // The main pass: whether a job can start now, and that its partition gets no more starts for want of room for it;
  // false: no other one does either.
  bool fits_now(const WaitingEntry& e) const;
  bool open_to(PartitionId /*partition*/) const { return true; }
  bool close(const JobSpec& /*spec*/) { return false; }  // all partitions have all processors

  // The backfill pass: when a job can start at the earliest, kNever: not within the window, or not now where only that
  // is asked; and a reservation for it.
  void open_pass();
  Instant earliest(const WaitingEntry& e, bool now_only);
  void reserve(const WaitingEntry& e, Instant start);
  // Whether something is reserved of what is free now.
  bool plans_what_is_free() const { return reserved_ && plan_.free() > 0; }
  // Whether a job could start now if nothing were reserved; and up to which instant, that one not included, a pass
  // would answer all that this one has been asked so far as it did, and find no start for such a job, if nothing
  // happens.
  bool has_room(const WaitingEntry& e) { return plan_.fits(e); }
  Instant alike_until() const { return alike_; }

  // Which of these running jobs must give way, in whose order they do, so that a job can start on what they leave;
  // none: all of them would not do. Where they would, that place is the one found last.
  std::vector<JobId> displaced_by(const WaitingEntry& e, std::vector<JobId> others);

  // What was found last.
  void start(const WaitingEntry& e, const Reason& reason, bool backfilled);

 private:
  const View& view_;
  Plan& plan_;
  const SlurmKnobs& knobs_;
  Profile free_;  // after running jobs, what is reserved from all jobs, starts and reservations; once it is
  bool drawn_;
  bool reserved_ = false;
  Instant alike_ = kNever;
};

// Nodes. A reservation keeps its nodes whole.
class SlurmNodes {
 public:
  SlurmNodes(const View& view, Plan& plan, const SlurmKnobs& knobs);

  bool fits_now(const WaitingEntry& e);
  bool open_to(PartitionId partition) const;
  // Where the job names its nodes, these alone get no more. A job that the nodes left could not run though they were
  // idle ends nothing.
  bool close(const JobSpec& spec);

  void open_pass();
  Instant earliest(const WaitingEntry& e, bool now_only);
  void reserve(const WaitingEntry& e, Instant start);
  bool plans_what_is_free() const { return planned_; }
  bool has_room(const WaitingEntry& e) { return plan_.fits(e) && plan_.nodes().find(spec(e), elsewhere_); }
  Instant alike_until() const;
  std::vector<JobId> displaced_by(const WaitingEntry& e, std::vector<JobId> others);

  void start(const WaitingEntry& e, const Reason& reason, bool backfilled);

 private:
  // Holds from here to there; the last one up to the end of the window.
  struct Stretch {
    Instant from;
    Instant until;
    NodeSet unreserved;
  };
  struct End {  // those at one instant are looked at as the jobs have come
    Instant at;
    JobId job;
    const Placement* where;
    auto operator<=>(const End&) const = default;
  };

  const JobSpec& spec(const WaitingEntry& e) const { return view_.job(e.job).spec; }
  Instant now() const { return view_.now(); }
  const NodeSet& nodes_of(PartitionId partition);
  void drop_unsuitable(const JobSpec& spec, NodeSet& nodes) const;
  Instant usable(Instant from, Duration expected, const NodeSet& partition, NodeSet& nodes) const;
  Instant drop_reserved(Instant from, Instant until, NodeSet& nodes) const;
  bool too_few(const JobSpec& spec, const NodeSet& nodes) const;
  Instant will_run(const JobSpec& spec, const NodeSet& nodes, bool now_only);
  Instant same_from_now(const WaitingEntry& e, const NodeSet& nodes, Instant later, Instant start);
  void is_alike_until(Instant at) { alike_ = std::min(alike_, at); }
  bool reserved_within(const SlurmSlot& slot) const;
  void restrict_to(const NodeSet& nodes);
  bool place(const JobSpec& spec);
  bool would_run_on_idle(const JobSpec& spec, const NodeSet& nodes);
  void add_end(JobId job, Instant at, const Placement& where);
  void cut(Instant at);
  void join_stretches(const SlurmSlot& slot);
  std::int64_t shared_with(const NodeSet& nodes, JobId running) const;
  NodeSet found_nodes() const;
  bool has_place_without(const WaitingEntry& e, std::vector<JobId>& others);
  bool pick(const JobSpec& spec, const NodeSet& nodes, std::vector<JobId>& others);

  const View& view_;
  Plan& plan_;
  const SlurmKnobs& knobs_;
  bool around_reservations_;
  NodeSet all_;
  std::vector<NodeSet> of_partition_;  // empty: not asked for so far
  NodeSet open_;                       // of partitions that the main pass has not ended for
  std::vector<bool> closed_;
  NodeRoom free_;  // now, after the draft's starts
  NodeRoom room_;  // of the nodes that a job may use, at the time that is looked at
  std::vector<End> ends_;
  std::deque<Placement> started_;
  std::vector<Stretch> stretches_;
  Placement where_;              // found last
  Placement elsewhere_;          // scratch
  Instant not_before_ = kNever;  // on those nodes or some of them there is no room
  bool planned_ = false;         // something that is free now
  Instant alike_ = kNever;       // beside what the first stretch says
};

}  // namespace rota
