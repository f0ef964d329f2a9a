// Backfilling candidates one after the other, for a policy that turns many of them down: what WaitingJobs::candidate()
// finds, at the cost of one search in one size class a step. The waiting jobs must not change meanwhile.
#pragma once

#include <array>
#include <bit>

#include "model/waiting.h"

namespace rota {

class CandidateWalk {
 public:
  // after: only those behind it in candidate order; nullptr: all.
  CandidateWalk(const WaitingJobs& waiting, const WaitingEntry::Key* after) : waiting_(waiting), first_(after) {}

  // The next candidate that fits the gap, which must never grow from call to call; nullptr: no more.
  const WaitingEntry* next(const Gap& gap) {
    if (!begun_) begin(gap);
    const WaitingEntry* best = nullptr;
    std::size_t best_class = 0;
    for (std::uint64_t rest = open_; rest != 0; rest &= rest - 1) {
      const auto c = static_cast<std::size_t>(std::countr_zero(rest));
      if (!gap.holds(found_[c]->processors, found_[c]->expected)) search(c, gap, &found_[c]->place);
      if (found_[c] && (!best || found_[c]->place < best->place)) {
        best = found_[c];
        best_class = c;
      }
    }
    if (best) search(best_class, gap, &best->place);
    return best;
  }

 private:
  static constexpr std::size_t kClasses = 33;
  static constexpr std::size_t kNewest = kClasses;  // the latest arrival, where it stands apart

  void begin(const Gap& gap) {
    begun_ = true;
    for (std::uint64_t rest = waiting_.occupied_; rest != 0; rest &= rest - 1) {
      search(static_cast<std::size_t>(std::countr_zero(rest)), gap, first_);
    }
    if (!waiting_.newest_held_) return;
    const WaitingEntry& newest = waiting_.newest_;
    if (gap.holds(newest.processors, newest.expected) && (!first_ || *first_ < newest.place)) set(kNewest, &newest);
  }

  void search(std::size_t c, const Gap& gap, const WaitingEntry::Key* after) {
    const auto may = [&](const LeastAsked& least) { return gap.holds(least.processors, least.expected); };
    const auto yes = [&](const WaitingEntry& e) { return gap.holds(e.processors, e.expected); };
    if (c == kNewest || !may(waiting_.by_size_[c].total())) return set(c, nullptr);
    const WaitingJobs::Tree& tree = waiting_.by_size_[c];
    set(c, after ? tree.find_after(*after, may, yes) : tree.find(may, yes));
  }

  void set(std::size_t c, const WaitingEntry* found) {
    found_[c] = found;
    const std::uint64_t bit = std::uint64_t{1} << c;
    open_ = found ? open_ | bit : open_ & ~bit;
  }

  const WaitingJobs& waiting_;
  const WaitingEntry::Key* first_;
  bool begun_ = false;
  std::uint64_t open_ = 0;  // bit c: found_[c] is the next candidate of its class
  std::array<const WaitingEntry*, kClasses + 1> found_{};
};

}  // namespace rota
