// The draft that a policy writes: what to start, kill and let go on now, and which starts to promise. Later links of a
// policy chain see the earlier links' tentative effects through it. It never changes the view that it is drafted over.
//
// A Plan goes with one cluster and is reused from cycle to cycle, so that no memory is allocated on the way; open()
// forgets all that was decided. What is free over time is kept for the next cycle, which changes no decision.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.h"
#include "model/action.h"
#include "model/cluster.h"
#include "plan/node_room.h"
#include "plan/profile.h"

namespace rota {

struct Promise {
  JobId job;
  Instant start;                // kNever: withdrawn
  std::uint32_t place = kNone;  // where places are set aside

  static constexpr std::uint32_t kNone = UINT32_MAX;
};

// When a job can start at the earliest without disturbing running jobs and earlier starts of the draft, and how many
// processors are left over then.
struct Opening {
  Instant at = kNever;
  std::int64_t beside = 0;
};

class KeptTimeline;

class Plan {
 public:
  Plan();
  ~Plan();
  [[gnu::always_inline]] void open(const View& view) {
    kept_until_ = kNotKept;
    if (profile_kept_) note_kept_profile();
    view_ = &view;
    free_ = view.free();
    actions_.clear();
    promises_.clear();
    started_.clear();
    started_in_order_ = true;
    jobs_started_.clear();
    actions_seen_ = 0;
    held_.clear();
    returns_.clear();
    profile_open_ = closed_ = looks_again_ = reviewed_ = replanned_ = false;
    set_asides_ = 0;
    placed_ = 0;
    kills_ = migrations_ = waking_ = sent_to_sleep_ = 0;
    const bool counted = view.nodes().counted() && nodes_.counted();
    if (!counted || !view.power().all_on() || view.reserved_in_reach()) open_nodes(view);
  }

  // Processors free now after the draft's starts, and not reserved; may be less than 0 where running jobs hold what is
  // reserved. What a kill frees is free once its end is reported.
  std::int64_t free() const { return free_; }
  bool fits(const WaitingEntry& e) const { return e.processors <= free_; }

  // Takes its processors from now on, for as long as it is expected to run. It must fit.
  void start(JobId job, const Reason& reason, bool backfilled);
  bool starts(JobId job) const;  // O(log starts in the draft), once they are in order

  // Where nodes are described: what is free on each after the draft's starts, and a start at a place in it. start()
  // finds a place by itself.
  const NodeSpace& nodes() const { return nodes_; }
  void start_at(JobId job, const Placement& where, const Reason& reason, bool backfilled);
  // Where the draft's starts and moves go, one after the other as in actions(); none where processors are counted.
  std::span<const Placement> places() const { return {places_.data(), placed_}; }
  void kill(JobId job, const Reason& reason);
  void extend(JobId job, Instant until, const Reason& reason);
  // until: when it is expected to have left, where planning is to count on that.
  void preempt(JobId job, const Reason& reason, Instant until = kNever);
  // Moves a running job to a place in nodes(), which says nothing of licences: it keeps those that it holds. What it
  // leaves is free when the draft has been carried out.
  void migrate(JobId job, const Placement& where, const Reason& reason);
  bool migrates(JobId job) const;  // O(actions)
  bool migrates() const { return migrations_ > 0; }

  // Wakes a node that sleeps; it takes jobs once it is reported to be on.
  void power_on(NodeId node, const Reason& reason);
  // Sends a node to sleep that is on, idle and free of the draft's starts: nothing can start there any more.
  void power_off(NodeId node, const Reason& reason);
  std::int64_t waking() const { return waking_; }                // processors that the draft wakes, and those
  std::int64_t sent_to_sleep() const { return sent_to_sleep_; }  // that it sends to sleep
  // That a rule has looked at the nodes' power, and when it wants to look again.
  void power_reviewed(Instant next, std::vector<LoadReading> loads = {}) {
    review_ = next, loads_ = std::move(loads), reviewed_ = true;
  }
  bool reviews_power() const { return reviewed_; }
  Instant next_review() const { return review_; }
  const std::vector<LoadReading>& loads() const { return loads_; }
  // That a policy which does so from time to time has looked at the queue.
  void replanned(const Replanned& what) { replan_ = what, replanned_ = true; }
  bool replans() const { return replanned_; }
  const Replanned& replan() const { return replan_; }

  // The earliest start for so many processors; more than `processors now free` must be asked. It knows of no
  // reservations: where one is in reach (View::reserved_in_reach), ask profile(). Nodes that boot count
  // from when they are expected to be on. Nodes that sleep count from when they would be on if they were woken now,
  // under ClusterOptions::wakes_for_promises: a later link then wakes them in the same cycle. Otherwise they never
  // count.
  Opening opening(std::int64_t processors) const;

  // Processors free at a later instant after the draft's starts, if all jobs end as expected; likewise without
  // reservations. O(log running + starts)
  std::int64_t free_at(Instant at) const;

  // Announces a start. Only a change from what was announced before is recorded.
  void promise(JobId job, Instant start) {
    if (!nodes_.counted() || view_->job(job).promise != start) note_promise(job, start);
  }

  // Announces a start on particular nodes, which are set aside.
  void promise_at(JobId job, Instant start, const Placement& where);
  const Placement& place_of(const Promise& promise) const {  // empty: none
    static const Placement kNowhere;
    return promise.place == Promise::kNone ? kNowhere : set_aside_[promise.place];
  }

  // Where nodes are described: the earliest start for a job that has no room now; room() is what is free then.
  Instant opening_on_nodes(const JobSpec& spec);
  // What is free on each node at a later instant after the draft's starts, if all jobs end as expected.
  NodeRoom& room_at(Instant at);
  NodeRoom& room() { return room_; }
  // Nodes for a policy that finds places in less than what is free now; follows nodes() when told to.
  NodeSpace& some_nodes() { return some_nodes_; }

  // What is free from now on after running jobs, reservations and the draft's starts; the first call of a cycle makes
  // it, in O(running + starts), and starts change it from then on.
  Profile& profile() { return profile_open_ ? profile_ : open_profile(); }
  Profile& open_profile();  // makes it anew

  // A policy that has drawn all starts and promises of the draft into profile() may keep it for the next cycle, which
  // then brings it up to its own time instead of making and drawing it anew: where nothing but ends and arrivals has
  // happened since this plan was carried out. Every fact is accounted for by its number, so the answer is that of the
  // view alone.
  void keep_profile() {
    if (!view_->leaving().empty()) return;  // a job that gives way is counted until it has left, and may end before
    profile_kept_ = true;
    kept_from_ = view_->sequence();
    kept_at_ = view_->now();
    promises_kept_ = promises_.size();
  }
  // Whether profile() is now that of the plan before, with what running jobs have left since. O(ended + steps)
  bool follow_profile();

  // What is free on each node over time, for a policy that plans there; kept from cycle to cycle, for it says what the
  // view says once it follows that.
  KeptTimeline& kept_timeline() { return *kept_timeline_; }

  // Where a planner that makes many promises keeps them while it drafts.
  struct Hold {
    JobId job;
    std::uint32_t processors;
    Duration expected;
    Instant start;
    Instant promised;  // before this plan; kNever: nothing was
  };
  std::vector<Hold>& held() { return held_; }
  bool holds(JobId job) const;  // O(held)

  // Whether the draft kills anything; then whatever waits for that is decided in the cycle after.
  bool kills() const { return kills_ > 0; }
  // Links that come after must start no job: what is free is kept for the jobs in whose favour others give way.
  void close() { closed_ = true; }
  bool closed() const { return closed_ || kills_ > 0; }
  // Once this is carried out there is more to decide at the same instant.
  void look_again() { looks_again_ = true; }
  bool looks_again() const { return looks_again_ || migrations_ > 0; }

  std::span<const Action> actions() const { return actions_; }
  std::span<const Promise> promises() const { return promises_; }

  // The hash of everything that is decided, in order: when, which job or node, what, where, until when, in whose
  // favour; promised starts and their places; when power is looked at and when all is planned again. Equal hashes,
  // equal decisions; the same on every machine.
  std::uint64_t hash() const;
  // Whether anything is: what is not needs no hash.
  bool decides() const { return !actions_.empty() || !promises_.empty() || reviewed_ || replanned_; }

 private:
  struct Tentative {
    Instant end;
    std::int64_t processors;
    std::size_t place;  // index into places_, where nodes are described

    bool operator<(const Tentative& o) const { return end != o.end ? end < o.end : place < o.place; }
  };

  // What comes free at an instant: processors of a tentative start that is over, or of nodes that come back.
  struct Release {
    Instant at;
    std::int64_t processors;
  };
  struct NodeReturn {
    Instant at;
    NodeId node;
  };

  void open_nodes(const View& view);
  [[gnu::cold]] void note_kept_profile();
  void note_start(JobId job, const Reason& reason, bool backfilled);
  void note_promise(JobId job, Instant start);
  void collect_returns(const View& view);
  [[gnu::cold]] void withhold_reserved(const View& view);
  Placement& next_place();
  static void mix(Hash& hash, const Placement& where);
  template <class Visit>
  void for_each_end(const Visit& visit) const;
  void list_node_returns();
  const std::vector<Tentative>& starts_by_end() const {
    if (!started_in_order_) sort_starts();
    return started_;
  }
  void sort_starts() const;
  Opening opening_at(Instant at, std::int64_t beside) const;

  const View* view_ = nullptr;
  std::int64_t free_ = 0;
  std::vector<Action> actions_;
  std::vector<Promise> promises_;
  mutable std::vector<Tentative> started_;  // by expected end once it is asked for in order
  mutable bool started_in_order_ = true;
  mutable std::vector<JobId> jobs_started_;  // by the first actions_seen_ actions, rising
  mutable std::size_t actions_seen_ = 0;
  std::vector<Release> returns_;        // of nodes that are away, by instant
  std::vector<NodeReturn> nodes_back_;  // scratch
  std::vector<Hold> held_;
  Profile profile_;
  static constexpr std::uint64_t kNotKept = UINT64_MAX;
  std::uint64_t kept_from_ = 0;          // number of the latest fact when the profile was kept,
  std::uint64_t kept_until_ = kNotKept;  // and once the plan was carried out
  Instant kept_at_ = kEpoch;
  std::size_t promises_kept_ = 0;
  NodeSpace nodes_{nullptr};
  std::vector<Placement> places_;  // the first placed_ of them; the others keep their room for shares
  std::size_t placed_ = 0;
  std::vector<Placement> set_aside_;  // for promises; the first set_asides_ of them
  std::uint32_t set_asides_ = 0;
  NodeRoom room_;
  std::unique_ptr<KeptTimeline> kept_timeline_;
  NodeSpace some_nodes_{nullptr};
  std::int64_t kills_ = 0;
  std::int64_t migrations_ = 0;
  std::int64_t waking_ = 0;
  std::int64_t sent_to_sleep_ = 0;  // processors
  bool profile_open_ = false;
  bool profile_kept_ = false;
  bool closed_ = false;
  bool looks_again_ = false;
  bool reviewed_ = false;
  Instant review_ = kNever;
  std::vector<LoadReading> loads_;  // that it saw
  bool replanned_ = false;
  Replanned replan_;
};

}  // namespace rota
