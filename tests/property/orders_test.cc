// Laws of the orders in which waiting jobs are considered.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "scenario/scenario.h"
#include "watched_rehearsal.h"

namespace rota {
namespace {

using scenario::Row;

RC_GTEST_PROP(Orders, Wfp3PutsALongerWaitOfTheSameJobFirst, ()) {
  Job job;
  job.spec.processors = *rc::gen::inRange<std::uint32_t>(1, UINT32_MAX);
  job.expected = Duration{*rc::gen::inRange<std::int64_t>(1, kLongest.count())};
  const Duration wait{*rc::gen::inRange<std::int64_t>(0, 2 * kLongest.count())};
  const Duration longer = wait + Duration{*rc::gen::inRange<std::int64_t>(1, 1'000'000)};
  const auto score_after = [&](Duration waited) { return score(Order::wfp3, job, kEpoch + waited, kEpoch); };
  RC_ASSERT(score_after(longer) < score_after(wait));
}

RC_GTEST_PROP(Orders, ShiftingALogByAConstantChangesNothing, ()) {
  const auto rows = *scenario::random_rows({.overruns = true, .priorities = true});
  const std::int64_t shift = *rc::gen::inRange<std::int64_t>(1, 2'000'000'000);
  std::vector<Row> later = rows;
  for (Row& row : later) row.submit += shift;
  const std::string policy = fmt::format("{}+order={}", *rc::gen::element<std::string>("fcfs", "easy", "conservative"),
                                         *rc::gen::elementOf(scenario::every_order()));
  const auto here = scenario::outcome_of(rows, policy, scenario::on(8));
  const auto there = scenario::outcome_of(later, policy, scenario::on(8));
  RC_ASSERT(here.jobs.size() == there.jobs.size());
  for (std::size_t i = 0; i < here.jobs.size(); ++i) {
    RC_LOG() << policy << ", job " << here.jobs[i].spec.number << "\n";
    RC_ASSERT(there.jobs[i].start - here.jobs[i].start == seconds(shift));
    RC_ASSERT(there.jobs[i].end - here.jobs[i].end == seconds(shift));
  }
}

// The same sum, each run by itself with floating point.
class NaiveUse {
 public:
  explicit NaiveUse(Duration half_life) : half_life_(static_cast<long double>(half_life.count())) {}
  void add(std::uint32_t processors, Duration run, Instant end) { runs_.push_back({processors, run, end}); }
  long double at(Instant now) const {
    long double sum = 0;
    for (const auto& [processors, run, end] : runs_) {
      const auto age = static_cast<long double>((now - end).count());
      sum +=
          static_cast<long double>(processors) * static_cast<long double>(run.count()) * std::exp2(-age / half_life_);
    }
    return sum;
  }

 private:
  struct Run {
    std::uint32_t processors;
    Duration run;
    Instant end;
  };
  std::vector<Run> runs_;
  long double half_life_;
};

RC_GTEST_PROP(RecentUse, IsWhatAddingUpEveryRunGives, ()) {
  const Duration half_life{*rc::gen::inRange<std::int64_t>(1000, 3'000'000'000)};
  RecentUse use(half_life);
  NaiveUse naive(half_life);
  Instant now = kEpoch;
  const auto runs = *rc::gen::inRange(1, 60);
  for (int i = 0; i < runs; ++i) {
    now += Duration{*rc::gen::inRange<std::int64_t>(0, 2 * half_life.count())};
    const auto processors = *rc::gen::inRange<std::uint32_t>(1, 100'000);
    const Duration run{*rc::gen::inRange<std::int64_t>(1, 1'000'000'000)};
    use.add(7, processors, run, now);
    naive.add(processors, run, now);
  }
  // When that has faded to one processor-millisecond, and how far a rounding of each run may have moved it.
  const long double fades = std::log2(naive.at(now)) * static_cast<long double>(half_life.count());
  const long double wanted = 1024 * (static_cast<long double>((now - kEpoch).count()) + fades);
  RC_ASSERT(std::abs(static_cast<long double>(use.spent_at(7)) - wanted) <= runs + 1);
}

// The user of the first job in the queue has used the least, counting jobs that have ended.
RC_GTEST_PROP(Fair, TheQueueIsInTheOrderOfRecentUse, ()) {
  const auto rows = *scenario::random_rows({.overruns = true, .priorities = true});
  const std::int64_t half_life = *rc::gen::element<std::int64_t>(1, 5, 60, 604'800);
  const std::string base =
      *rc::gen::element<std::string>("fcfs", "conservative", "easy+depth=3", "easy+depth=2+overrun=grace");
  WatchedRehearsal rehearsal(rows, fmt::format("{}+order=fair+fair-half-life={}", base, half_life), scenario::on(8));
  rehearsal.run([&](const View& view) {
    const RecentUse& use = view.use().recent();
    using Place = std::tuple<std::int32_t, std::int64_t, std::uint32_t>;
    std::vector<Place> places;
    view.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
      const Job& job = view.job(e.job);
      places.emplace_back(-job.spec.priority, use.spent_at(job.spec.user), job.sequence);
      return true;
    });
    RC_ASSERT(std::is_sorted(places.begin(), places.end()));
    RC_ASSERT(places.size() == view.waiting().size());
  });
}

}  // namespace
}  // namespace rota
