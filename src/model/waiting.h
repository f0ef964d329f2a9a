// The waiting jobs, indexed so that a scheduling cycle asks and never scans: by queue order for the head, and by size
// class (powers of two) in candidate order for backfilling. Insert, erase and each question cost O(log n), with one
// exception: the least processors and the least time of a subtree may be those of two jobs, and then candidate() looks
// into the subtree in vain, at worst into all of one size class.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/ordered_tree.h"
#include "model/order.h"

namespace rota {

struct WaitingEntry {
  // Priority (high first), score (low first), sequence (early first), packed so that two comparisons settle it.
  struct Key {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    constexpr Key() = default;
    constexpr Key(std::int32_t priority, std::int64_t score, std::uint32_t sequence) {
      const auto rising = static_cast<std::uint64_t>(score) ^ (std::uint64_t{1} << 63U);
      const auto falling = ~(static_cast<std::uint32_t>(priority) ^ (std::uint32_t{1} << 31U));
      high = std::uint64_t{falling} << 32U | rising >> 32U;
      low = rising << 32U | sequence;
    }
    constexpr bool operator<(const Key& o) const { return high != o.high ? high < o.high : low < o.low; }
    constexpr bool operator==(const Key&) const = default;
  };
  Key place;
  Duration expected{0};
  std::uint32_t processors = 0;
  JobId job;

  const Key& key() const { return place; }
};

// The least that any of some waiting jobs asks for, and how many ask for just that: so that one of them can leave
// without the others being looked at.
struct LeastAsked {
  Duration expected = Duration::max();
  std::uint32_t processors = UINT32_MAX;
  std::uint32_t that_expect = 0;
  std::uint32_t that_ask = 0;

  void add(const WaitingEntry& e) { add(e.expected, 1, e.processors, 1); }
  void add(const LeastAsked& o) { add(o.expected, o.that_expect, o.processors, o.that_ask); }
  bool remove(const WaitingEntry& e) {
    const bool expected_left = e.expected > expected || --that_expect > 0;
    const bool processors_left = e.processors > processors || --that_ask > 0;
    return expected_left && processors_left;
  }

 private:
  void add(Duration other_expected, std::uint32_t expect, std::uint32_t other_processors, std::uint32_t ask) {
    that_expect = other_expected < expected ? expect : that_expect + (other_expected == expected ? expect : 0);
    expected = std::min(expected, other_expected);
    that_ask = other_processors < processors ? ask : that_ask + (other_processors == processors ? ask : 0);
    processors = std::min(processors, other_processors);
  }
};

// What a backfill candidate must be: no larger than `free`, and either over within `window` or no larger than `beside`.
struct Gap {
  std::int64_t free = 0;
  Duration window{0};
  std::int64_t beside = 0;

  bool holds(std::uint32_t processors, Duration expected) const {
    return processors <= free && (expected <= window || processors <= beside);
  }
};

// Which questions will be asked of the waiting jobs; an index that is not asked is not kept.
struct WaitingOptions {
  Order queue = Order::fcfs;             // decides whose turn it is
  Order candidates = Order::fcfs;        // decides which is tried first for backfilling
  bool by_size = true;                   // candidate() will be asked
  bool by_queue = false;                 // for_each_in_queue_order() will be asked, or next() often
  std::int64_t ratio_cap = kNoRatioCap;  // of Order::hrrn
};

class WaitingJobs {
 public:
  explicit WaitingJobs(const WaitingOptions& options)
      : options_(options),
        fair_(options.queue == Order::fair || options.candidates == Order::fair),
        by_queue_kept_(options.by_queue || !options.by_size || !one_order()),
        varies_(varies_with_time(options.queue) || varies_with_time(options.candidates)) {}

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  bool one_order() const { return options_.queue == options_.candidates; }

  void insert(JobId id, const Job& job) {
    if (fair_) add_to_user(id, job);
    put_in(id, job);
  }
  // Priority, sequence, expected and processors must be as they were at insert.
  void erase(const Job& job) {
    take_out(job);
    if (fair_) take_from_user(job);
  }

  // Computes scores for this instant and sorts anew, if an order varies with time and that was not done for this
  // instant: O(n log n). Otherwise does nothing. `job_of(JobId)` gives the Job.
  template <class JobOf>
  void rank(Instant now, const JobOf& job_of) {
    if (varies_ && ranked_at_ != now) rank_anew(now, job_of);
  }

  // The first submission of all, from which some scores count. While empty.
  void count_from(Instant first) { first_submit_ = first; }

  // Gives the jobs of a user another score under Order::fair, those that wait and those that come. Users whose score
  // was never set have the least. Jobs that wait are sorted in by sort_in(), to be called before an order is asked for:
  // nothing is done while they are of one user, whose jobs go by arrival anyway; else O(k log n) for k jobs of users
  // whose score has changed. `job_of(JobId)` gives the Job.
  void rescore(std::uint32_t user, std::int64_t score);
  bool sorted() const { return misplaced_.empty() || users_waiting_ < 2; }
  template <class JobOf>
  void sort_in(const JobOf& job_of);

  Instant ranked_at() const { return ranked_at_; }          // for which scores hold
  void put_back_ranked_at(Instant at) { ranked_at_ = at; }  // while empty

  // By what a job that waits is sorted.
  WaitingEntry::Key queue_place(const Job& job) const { return place(options_.queue, job); }
  WaitingEntry::Key candidate_place(const Job& job) const { return place(options_.candidates, job); }
  // The place of any job, for comparing one that does not wait with one that does: by the latest scores, by which the
  // jobs of a single user are not sorted.
  WaitingEntry::Key queue_standing(const Job& job) const { return place(options_.queue, job, &OfUser::latest); }

  // In queue order; nullptr: none.
  const WaitingEntry* head() const { return size_ == 0 ? nullptr : &head_; }
  const WaitingEntry* next(const WaitingEntry::Key& after) const;

  // Until visit(entry) returns false. Only where by_queue was asked for.
  template <class Visit>
  void for_each_in_queue_order(const Visit& visit) const {
    CHECK(by_queue_kept_, "the queue order index was asked for");
    by_queue_.for_each(visit);
  }

  // The first in candidate order that fits the gap; after: only those behind it.
  const WaitingEntry* candidate(const Gap& gap, const WaitingEntry::Key* after) const;

 private:
  friend class CandidateWalk;
  using Tree = OrderedTree<WaitingEntry, LeastAsked>;

  void add_to_user(JobId id, const Job& job);
  void take_from_user(const Job& job);
  void put_in(JobId id, const Job& job);
  void take_out(const Job& job);
  void insert_by_size(const WaitingEntry& entry);
  void erase_from_trees(const Job& job, const WaitingEntry::Key& in_queue);
  void settle_newest();
  template <class JobOf>
  void rank_anew(Instant now, const JobOf& job_of);
  const WaitingEntry* find_head() const;

  static constexpr std::int64_t kAhead = INT64_MIN;  // a score that no order gives
  static constexpr std::int64_t kLeastScore = INT64_MIN;
  struct OfUser {
    std::int64_t score = kLeastScore;     // by which the user's jobs are sorted
    std::int64_t latest = kLeastScore;    // by which they should be
    std::map<std::uint32_t, JobId> jobs;  // that wait, by sequence
  };
  using UserScore = std::int64_t OfUser::*;

  WaitingEntry::Key place(Order order, const Job& job, UserScore by = &OfUser::score) const {
    if (job.ahead) return {job.spec.priority, kAhead, job.sequence};
    return {job.spec.priority, order == Order::fcfs ? 0 : std::max(score_of(order, job, by), kAhead + 1), job.sequence};
  }
  std::int64_t score_of(Order order, const Job& job, UserScore by) const {
    if (order != Order::fair) return score(order, job, ranked_at_, first_submit_, options_.ratio_cap);
    const auto found = users_.find(job.spec.user);
    return found == users_.end() ? kLeastScore : found->second.*by;
  }

  WaitingOptions options_;
  bool fair_;
  bool by_queue_kept_;
  bool varies_;  // with time
  std::size_t size_ = 0;
  Instant ranked_at_ = kEpoch;  // the instant for which time-varying scores hold
  Instant first_submit_ = kEpoch;
  WaitingEntry head_;  // first in queue order; meaningless while empty
  // The latest arrival stays out of the trees until the next one comes: most jobs that find room start at once, and
  // never go in. Only where the size index is the only one.
  WaitingEntry newest_;
  bool newest_held_ = false;
  std::uint64_t occupied_ = 0;             // bit c: by_size_[c] is not empty
  std::array<Tree, 33> by_size_;           // [c]: jobs of 2^(c-1) .. 2^c - 1 processors, in candidate order
  Tree by_queue_;                          // in queue order
  std::map<std::uint32_t, OfUser> users_;  // where fair_
  std::size_t users_waiting_ = 0;          // of them, with jobs
  std::set<std::uint32_t> misplaced_;      // of those: sorted by a score that is not the latest
};

template <class JobOf>
void WaitingJobs::rank_anew(Instant now, const JobOf& job_of) {
  settle_newest();
  std::vector<JobId> ids;
  ids.reserve(size_);
  const auto collect = [&](const WaitingEntry& e) {
    ids.push_back(e.job);
    return true;
  };
  if (by_queue_kept_) {
    by_queue_.for_each(collect);
  } else {
    for (const Tree& tree : by_size_) tree.for_each(collect);
  }
  for (Tree& tree : by_size_) tree.clear();
  by_queue_.clear();
  occupied_ = 0;
  size_ = 0;
  ranked_at_ = now;
  for (const JobId id : ids) put_in(id, job_of(id));
}

template <class JobOf>
void WaitingJobs::sort_in(const JobOf& job_of) {
  if (sorted()) return;
  for (const std::uint32_t user : misplaced_) {
    OfUser& of = users_[user];
    for (const auto& [sequence, id] : of.jobs) take_out(job_of(id));
    of.score = of.latest;
    for (const auto& [sequence, id] : of.jobs) put_in(id, job_of(id));
  }
  misplaced_.clear();
}

}  // namespace rota
