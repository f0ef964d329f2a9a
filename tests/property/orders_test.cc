// Laws of the orders in which waiting jobs are considered.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario/scenario.h"

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
  const std::string policy = *rc::gen::element<std::string>("fcfs", "easy", "conservative") +
                             "+order=" + *rc::gen::elementOf(scenario::every_order());
  const auto here = scenario::outcome_of(rows, policy, scenario::on(8));
  const auto there = scenario::outcome_of(later, policy, scenario::on(8));
  RC_ASSERT(here.jobs.size() == there.jobs.size());
  for (std::size_t i = 0; i < here.jobs.size(); ++i) {
    RC_LOG() << policy << ", job " << here.jobs[i].spec.number << "\n";
    RC_ASSERT(there.jobs[i].start - here.jobs[i].start == seconds(shift));
    RC_ASSERT(there.jobs[i].end - here.jobs[i].end == seconds(shift));
  }
}

}  // namespace
}  // namespace rota
