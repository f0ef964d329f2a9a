// The waiting jobs, indexed so that a scheduling cycle asks and never scans: by queue order for the head, and by size
// class (powers of two) in candidate order for backfilling. Insert, erase and each question cost O(log n).
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/ordered_tree.h"
#include "model/order.h"

namespace rota {

struct WaitingEntry {
  struct Key {
    std::int64_t score = 0;
    std::int32_t down = 0;       // minus priority
    std::uint32_t sequence = 0;
    constexpr bool operator<(const Key& o) const {
      if (down != o.down) return down < o.down;
      if (score != o.score) return score < o.score;
      return sequence < o.sequence;
    }
    constexpr bool operator==(const Key&) const = default;
  };
  Key place;
  Duration expected{0};
  std::uint32_t processors = 0;
  JobId job;

  const Key& key() const { return place; }
};

// The least that any of some waiting jobs asks for.
struct LeastAsked {
  std::uint32_t processors = UINT32_MAX;
  Duration expected = Duration::max();

  void add(const WaitingEntry& e) {
    if (e.processors < processors) processors = e.processors;
    if (e.expected < expected) expected = e.expected;
  }
  void add(const LeastAsked& o) {
    if (o.processors < processors) processors = o.processors;
    if (o.expected < expected) expected = o.expected;
  }
  bool remove(const WaitingEntry& e) const { return e.processors > processors && e.expected > expected; }
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

// Which questions will be asked of the waiting jobs; an index that nobody asks is not kept.
struct WaitingOptions {
  Order queue = Order::fcfs;       // decides whose turn it is
  Order candidates = Order::fcfs;  // decides who is tried first for backfilling
  bool by_size = true;             // candidate() will be asked
  bool by_queue = false;           // for_each_in_queue_order() will be asked, or next() often
};

class WaitingJobs {
 public:
  explicit WaitingJobs(const WaitingOptions& options)
      : options_(options), by_queue_kept_(options.by_queue || !options.by_size || !one_order()) {}

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  bool one_order() const { return options_.queue == options_.candidates; }

  void insert(JobId id, const Job& job);
  void erase(const Job& job);  // priority, sequence, expected and processors must be as they were at insert

  // Computes scores for this instant and sorts anew, if an order varies with time: O(n log n). Otherwise does nothing.
  // `job_of(JobId)` gives the Job.
  template <class JobOf>
  void rank(Instant now, const JobOf& job_of);

  WaitingEntry::Key queue_place(const Job& job) const { return place(options_.queue, job); }

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
  using Tree = OrderedTree<WaitingEntry, LeastAsked>;

  WaitingEntry::Key place(Order order, const Job& job) const {
    return {score(order, job, ranked_at_), -job.spec.priority, job.sequence};
  }
  const WaitingEntry* find_head() const;

  WaitingOptions options_;
  bool by_queue_kept_;
  std::size_t size_ = 0;
  Instant ranked_at_ = kEpoch;        // the instant for which time-varying scores hold
  WaitingEntry head_;                 // first in queue order; meaningless while empty
  std::uint64_t occupied_ = 0;        // bit c: by_size_[c] is not empty
  std::array<Tree, 33> by_size_;      // [c]: jobs of 2^(c-1) .. 2^c - 1 processors, in candidate order
  Tree by_queue_;                     // in queue order
};

template <class JobOf>
void WaitingJobs::rank(Instant now, const JobOf& job_of) {
  if (!varies_with_time(options_.queue) && !varies_with_time(options_.candidates)) return;
  std::vector<JobId> ids;
  ids.reserve(size_);
  const auto collect = [&](const WaitingEntry& e) { return ids.push_back(e.job), true; };
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
  for (const JobId id : ids) insert(id, job_of(id));
}

}  // namespace rota
