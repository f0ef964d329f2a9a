// WaitingJobs against a list that is sorted and scanned for every question.
#include "model/candidate_walk.h"
#include "model/waiting.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <tuple>

namespace rota {
namespace {

// Both at once: every change goes to the index and to the list.
class Queue {
 public:
  explicit Queue(const WaitingOptions& options) : options_(options), index_(options) {}

  void join(const JobSpec& spec, Instant now, bool ahead) {
    Job job;
    job.ahead = ahead && spec.priority != INT32_MAX;  // that no job has: its key would be before all
    job.spec = spec;
    job.spec.submit = now;
    job.expected = spec.limit;
    job.sequence = next_++;
    const JobId id{job.sequence};
    jobs_[id] = job;
    index_.insert(id, job);
  }
  void leave(std::size_t which) {
    if (jobs_.empty()) return;
    const auto at = std::next(jobs_.begin(), static_cast<std::ptrdiff_t>(which % jobs_.size()));
    index_.erase(at->second);
    jobs_.erase(at);
  }
  void rank(Instant now) {
    now_ = now;
    index_.rank(now, [&](JobId id) -> const Job& { return jobs_.at(id); });
  }

  void expect_same() const {
    const auto queue = sorted(options_.queue);
    RC_ASSERT(index_.size() == queue.size());
    RC_ASSERT(index_.empty() == queue.empty());
    std::vector<JobId> walked;
    for (const WaitingEntry* e = index_.head(); e; e = index_.next(e->place)) walked.push_back(e->job);
    RC_ASSERT(walked == queue);
    const WaitingEntry* first = index_.next({});  // behind a key before all of them
    RC_ASSERT((first ? !queue.empty() && first->job == queue.front() : queue.empty()));
    if (!options_.by_queue) return;
    walked.clear();
    index_.for_each_in_queue_order([&](const WaitingEntry& e) {
      walked.push_back(e.job);
      return true;
    });
    RC_ASSERT(walked == queue);
  }

  // Every candidate for one gap, in turn.
  void expect_same_candidates(const Gap& gap) const {
    if (!options_.by_size) return;
    std::vector<JobId> expected;
    for (const JobId id : sorted(options_.candidates)) {
      const Job& job = jobs_.at(id);
      const bool in_time = job.expected <= gap.window || job.spec.processors <= gap.beside;
      if (job.spec.processors <= gap.free && in_time) expected.push_back(id);
    }
    std::vector<JobId> walked;
    for (const WaitingEntry* e = index_.candidate(gap, nullptr); e; e = index_.candidate(gap, &e->place)) {
      RC_ASSERT(e->processors == jobs_.at(e->job).spec.processors);
      RC_ASSERT(e->expected == jobs_.at(e->job).expected);
      walked.push_back(e->job);
    }
    RC_ASSERT(walked == expected);
    expect_same_walk(gap);
  }

 private:
  // The walk finds what candidate() finds, with a gap that shrinks as some of those found are taken.
  void expect_same_walk(Gap gap) const {
    CandidateWalk walk(index_, nullptr);
    const WaitingEntry* last = nullptr;
    for (std::size_t i = 0;; ++i) {
      const WaitingEntry* e = index_.candidate(gap, last ? &last->place : nullptr);
      RC_ASSERT(walk.next(gap) == e);
      if (!e) return;
      last = e;
      if (i % 3 == 1) continue;
      gap.free -= e->processors;
      gap.beside = std::max<std::int64_t>(0, gap.beside - e->processors);
    }
  }

  std::vector<JobId> sorted(Order order) const {
    std::vector<std::pair<std::tuple<std::int64_t, std::int64_t, std::uint32_t>, JobId>> places;
    for (const auto& [id, job] : jobs_) {
      const std::int64_t by = job.ahead ? INT64_MIN : score(order, job, now_, kEpoch);
      places.push_back({{-std::int64_t{job.spec.priority}, by, job.sequence}, id});
    }
    std::sort(places.begin(), places.end());
    std::vector<JobId> ids;
    for (const auto& [place, id] : places) ids.push_back(id);
    return ids;
  }

  WaitingOptions options_;
  WaitingJobs index_;
  std::map<JobId, Job> jobs_;
  Instant now_ = kEpoch;
  std::uint32_t next_ = 0;
};

Order any_order() {
  return *rc::gen::element(Order::fcfs, Order::sjf, Order::smallest, Order::largest, Order::wfp3, Order::unicef,
                           Order::f1, Order::hrrn);
}

JobSpec any_spec(bool priorities) {
  JobSpec spec;
  spec.processors = *rc::gen::inRange(1U, 70U);
  spec.limit = seconds(*rc::gen::inRange(1, 40));
  if (priorities) spec.priority = *rc::gen::element(INT32_MIN, -1, 0, 0, 0, 7, INT32_MAX);
  return spec;
}

Gap any_gap() {
  Gap gap;
  gap.free = *rc::gen::inRange<std::int64_t>(-1, 80);
  gap.window = *rc::gen::element(Duration{-1}, Duration{0}, seconds(10), seconds(25), Duration::max());
  gap.beside = *rc::gen::inRange<std::int64_t>(-1, 40);
  return gap;
}

void live_through(const WaitingOptions& options, bool priorities) {
  Queue queue(options);
  Instant now = kEpoch;
  const int steps = *rc::gen::inRange(1, 90);
  for (int i = 0; i < steps; ++i) {
    const int draw = *rc::gen::inRange(0, 10);
    if (draw < 6) {
      queue.join(any_spec(priorities), now, *rc::gen::element(false, false, true));
    } else if (draw < 9) {
      queue.leave(*rc::gen::inRange<std::size_t>(0, 1000));
    } else {
      now += seconds(*rc::gen::inRange(1, 60));
      queue.rank(now);
    }
    if (i % 3 == 0) queue.expect_same();
    if (i % 5 == 0) queue.expect_same_candidates(any_gap());
  }
  queue.rank(now);
  queue.expect_same();
  queue.expect_same_candidates(any_gap());
}

// Scores that vary with time stand as of the last ranking, for a job that came after it too: so in the index, so in the
// list.
RC_GTEST_PROP(WaitingJobs, AnswersAsAScanWouldInOneOrder, ()) {
  const Order order = *rc::gen::element(Order::fcfs, Order::sjf, Order::smallest, Order::largest, Order::f1);
  live_through({order, order, true, false}, *rc::gen::arbitrary<bool>());
}

RC_GTEST_PROP(WaitingJobs, AnswersAsAScanWouldInTwoOrders, ()) {
  live_through({any_order(), any_order(), true, *rc::gen::arbitrary<bool>()}, *rc::gen::arbitrary<bool>());
}

RC_GTEST_PROP(WaitingJobs, AnswersAsAScanWouldWithTheQueueAlone, ()) {
  live_through({any_order(), Order::fcfs, false, true}, *rc::gen::arbitrary<bool>());
}

RC_GTEST_PROP(WaitingJobs, AnswersAsAScanWouldInOneOrderThatVariesWithTime, ()) {
  const Order order = *rc::gen::element(Order::wfp3, Order::unicef, Order::hrrn);
  live_through({order, order, true, *rc::gen::arbitrary<bool>()}, *rc::gen::arbitrary<bool>());
}

}  // namespace
}  // namespace rota
