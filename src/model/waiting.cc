#include "model/waiting.h"

namespace rota {
namespace {

std::size_t size_class(std::uint32_t processors) { return static_cast<std::size_t>(std::bit_width(processors)); }

// Calls visit(class) for each set bit.
template <class Visit>
void each_bit(std::uint64_t bits, const Visit& visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<std::size_t>(std::countr_zero(bits)));
}

}  // namespace

void WaitingJobs::add_to_user(JobId id, const Job& job) {
  OfUser& of = users_[job.spec.user];
  if (of.jobs.empty()) ++users_waiting_;
  of.jobs.emplace(job.sequence, id);
}

void WaitingJobs::take_from_user(const Job& job) {
  OfUser& of = users_[job.spec.user];
  of.jobs.erase(job.sequence);
  if (!of.jobs.empty()) return;
  --users_waiting_;
  of.score = of.latest;
  misplaced_.erase(job.spec.user);
}

void WaitingJobs::rescore(std::uint32_t user, std::int64_t score) {
  OfUser& of = users_[user];
  of.latest = score;
  if (of.jobs.empty()) of.score = score;
  if (of.score == score) {
    misplaced_.erase(user);
  } else {
    misplaced_.insert(user);
  }
}

void WaitingJobs::put_in(JobId id, const Job& job) {
  WaitingEntry entry{queue_place(job), job.expected, job.spec.processors, id};
  if (size_ == 0 || entry.place < head_.place) head_ = entry;
  ++size_;
  if (!by_queue_kept_) {
    settle_newest();
    newest_ = entry;
    newest_held_ = true;
    return;
  }
  by_queue_.insert(entry);
  if (!options_.by_size) return;
  if (!one_order()) entry.place = place(options_.candidates, job);
  insert_by_size(entry);
}

void WaitingJobs::settle_newest() {
  if (newest_held_) insert_by_size(newest_);
  newest_held_ = false;
}

void WaitingJobs::insert_by_size(const WaitingEntry& entry) {
  const std::size_t c = size_class(entry.processors);
  occupied_ |= std::uint64_t{1} << c;
  by_size_[c].insert(entry);
}

void WaitingJobs::take_out(const Job& job) {
  const WaitingEntry::Key in_queue = queue_place(job);
  if (newest_held_ && in_queue == newest_.place) {
    newest_held_ = false;
  } else {
    erase_from_trees(job, in_queue);
  }
  if (--size_ > 0 && in_queue == head_.place) head_ = *find_head();
}

void WaitingJobs::erase_from_trees(const Job& job, const WaitingEntry::Key& in_queue) {
  bool found = !by_queue_kept_ || by_queue_.erase(in_queue);
  if (options_.by_size) {
    const std::size_t c = size_class(job.spec.processors);
    found = by_size_[c].erase(one_order() ? in_queue : place(options_.candidates, job)) && found;
    if (by_size_[c].empty()) occupied_ &= ~(std::uint64_t{1} << c);
  }
  CHECK(found, "a job that leaves the queue was in it");
}

const WaitingEntry* WaitingJobs::find_head() const {
  if (by_queue_kept_) return by_queue_.first();
  const WaitingEntry* best = newest_held_ ? &newest_ : nullptr;
  each_bit(occupied_, [&](std::size_t c) {
    const WaitingEntry* e = by_size_[c].first();
    if (!best || e->place < best->place) best = e;
  });
  return best;
}

const WaitingEntry* WaitingJobs::next(const WaitingEntry::Key& after) const {
  const auto any = [](const auto&) { return true; };
  if (by_queue_kept_) return by_queue_.find_after(after, any, any);
  const WaitingEntry* best = newest_held_ && after < newest_.place ? &newest_ : nullptr;
  each_bit(occupied_, [&](std::size_t c) {
    const WaitingEntry* e = by_size_[c].find_after(after, any, any);
    if (e && (!best || e->place < best->place)) best = e;
  });
  return best;
}

const WaitingEntry* WaitingJobs::candidate(const Gap& gap, const WaitingEntry::Key* after) const {
  CHECK(options_.by_size, "the size index was asked for");
  if (gap.free <= 0) return nullptr;
  const std::size_t largest = size_class(static_cast<std::uint32_t>(std::min<std::int64_t>(gap.free, UINT32_MAX)));
  const bool newest_fits =
      newest_held_ && gap.holds(newest_.processors, newest_.expected) && (!after || *after < newest_.place);
  const WaitingEntry* best = newest_fits ? &newest_ : nullptr;
  const auto may = [&](const LeastAsked& least) { return gap.holds(least.processors, least.expected); };
  const auto yes = [&](const WaitingEntry& e) { return gap.holds(e.processors, e.expected); };
  each_bit(occupied_ & ((std::uint64_t{2} << largest) - 1), [&](std::size_t c) {
    const Tree& tree = by_size_[c];
    if (!may(tree.total())) return;
    const WaitingEntry* e = after ? tree.find_after(*after, may, yes) : tree.find(may, yes);
    if (e && (!best || e->place < best->place)) best = e;
  });
  return best;
}

}  // namespace rota
