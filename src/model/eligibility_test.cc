#include "model/eligibility.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

using When = Dependency::When;

JobTerms of_array(std::uint32_t throttle) {
  JobTerms terms;
  terms.array = 1;
  terms.throttle = throttle;
  return terms;
}
JobTerms after(std::vector<Dependency> some) {
  JobTerms terms;
  terms.after = std::move(some);
  return terms;
}
std::vector<JobId> due(const Eligibility& e, Instant now = kEpoch) {
  std::vector<JobId> jobs;
  e.for_each_due(now, [&](JobId id) { jobs.push_back(id); });
  return jobs;
}
using Jobs = std::vector<JobId>;

const JobId a{1};
const JobId b{2};
const JobId c{3};

TEST(Eligibility, HasNoBarsWithoutTerms) {
  const Eligibility none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.bars(a, kEpoch), kNoBars);
  EXPECT_EQ(none.terms(a), nullptr);
  EXPECT_EQ(none.next_begin(), kNever);
}

TEST(Eligibility, NamesTheEarliestBegin) {
  Eligibility e;
  JobTerms terms;
  terms.begin = at_seconds(20);
  e.set(a, terms);
  terms.begin = at_seconds(10);
  e.set(b, terms);
  EXPECT_EQ(e.next_begin(), at_seconds(10));
  EXPECT_EQ(e.bars(a, at_seconds(19)), kBeginTime);
  EXPECT_EQ(e.bars(a, at_seconds(20)), kNoBars);
  EXPECT_EQ(due(e, at_seconds(10)), Jobs{b});
  e.settled(b, kNoBars);
  EXPECT_EQ(e.next_begin(), at_seconds(20));
  e.forget(a);
  EXPECT_EQ(e.next_begin(), kNever);
  EXPECT_EQ(due(e, at_seconds(30)), Jobs{});
}

JobTerms one_of(std::vector<Dependency> some) {
  JobTerms terms = after(std::move(some));
  terms.any = true;
  return terms;
}

TEST(Eligibility, OneOfSeveralWillDo) {
  Eligibility e;
  e.set(c, one_of({{a, When::succeeded}, {b, When::ended}}));
  EXPECT_EQ(e.bars(c, kEpoch), kDependency);
  e.ended(a, true);
  EXPECT_EQ(due(e), Jobs{c});
  EXPECT_EQ(e.bars(c, kEpoch), kNoBars);
  e.settled(c, kNoBars);
  e.ended(b, false);
  EXPECT_EQ(due(e), Jobs{});
}

TEST(Eligibility, OneOfSeveralThatCanNeverBeMetLeavesTheOthers) {
  Eligibility e;
  e.set(c, one_of({{a, When::succeeded}, {b, When::succeeded}}));
  e.ended(a, false);
  EXPECT_EQ(e.bars(c, kEpoch), kDependency);
  EXPECT_EQ(e.terms(c)->after, (std::vector<Dependency>{{b, When::succeeded}}));
  e.ended(b, false);
  EXPECT_EQ(e.bars(c, kEpoch), kDependency | kNeverAgain);
}

TEST(Eligibility, ItBeginsSoLongAfterTheStartOfAnother) {
  Eligibility e;
  e.set(b, after({{a, When::started, {}, seconds(60)}}));
  e.started(a, at_seconds(10));
  EXPECT_EQ(due(e, at_seconds(10)), Jobs{b});
  EXPECT_EQ(e.bars(b, at_seconds(10)), kBeginTime);
  e.settled(b, kBeginTime);
  EXPECT_EQ(e.next_begin(), at_seconds(70));
  EXPECT_EQ(due(e, at_seconds(69)), Jobs{});
  EXPECT_EQ(e.bars(b, at_seconds(70)), kNoBars);
  JobTerms later = after({{a, When::started, {}, seconds(60)}});
  later.begin = at_seconds(100);
  e.set(c, later);
  e.ended(a, false, at_seconds(20));  // it never started
  EXPECT_EQ(e.terms(c)->begin, at_seconds(100));
}

TEST(Eligibility, ADependencyThatIsMetMakesAJobDueOnce) {
  Eligibility e;
  e.set(b, after({{a, When::started}, {a, When::succeeded}}));
  EXPECT_EQ(e.bars(b, kEpoch), kDependency);
  e.started(a);
  EXPECT_EQ(due(e), Jobs{b});
  EXPECT_EQ(e.bars(b, kEpoch), kDependency);
  e.settled(b, kDependency);
  EXPECT_EQ(due(e), Jobs{});
  e.ended(a, true);
  EXPECT_EQ(due(e), Jobs{b});
  EXPECT_EQ(e.bars(b, kEpoch), kNoBars);
}

TEST(Eligibility, WhatFailsOnceCanNeverBeMet) {
  Eligibility e;
  e.set(c, after({{a, When::succeeded}, {b, When::ended}}));
  e.ended(a, false);
  EXPECT_EQ(e.bars(c, kEpoch), kDependency | kNeverAgain);
  e.ended(b, true);
  EXPECT_EQ(e.bars(c, kEpoch), kDependency | kNeverAgain);
  e.set(c, after({}));  // other terms
  EXPECT_EQ(e.bars(c, kEpoch), kNoBars);
  EXPECT_EQ(due(e), Jobs{});
}

TEST(Eligibility, AnArrayCountsThoseThatAreQueued) {
  Eligibility e;
  for (const JobId id : {a, b, c}) e.set(id, of_array(1));
  e.queued(a);
  e.queued(a);
  EXPECT_EQ(e.bars(a, kEpoch), kNoBars);
  EXPECT_EQ(e.bars(b, kEpoch), kArrayThrottle);
  e.settled(b, kArrayThrottle);
  e.settled(c, kArrayThrottle);
  EXPECT_EQ(due(e), Jobs{});
  e.unqueued(a);
  EXPECT_EQ(due(e), Jobs{b});  // there is room for one
  e.queued(b);
  e.settled(b, kNoBars);
  EXPECT_EQ(due(e), Jobs{});
  e.forget(b);
  EXPECT_EQ(due(e), Jobs{c});
}

TEST(Eligibility, TheThrottleOfAnArrayIsTheOneThatWasSaidLast) {
  Eligibility e;
  for (const JobId id : {a, b, c}) e.set(id, of_array(1));
  e.queued(a);
  e.settled(b, kArrayThrottle);
  e.set(c, of_array(2));
  EXPECT_EQ(e.throttle(1), 2U);
  EXPECT_EQ(e.bars(b, kEpoch), kNoBars);
  EXPECT_EQ(due(e), Jobs{b});
  e.set(c, of_array(0));
  EXPECT_EQ(e.bars(b, kEpoch), kNoBars);
}

TEST(Eligibility, IsPutBackAsItStood) {
  Eligibility e;
  JobTerms late = of_array(2);
  late.begin = at_seconds(5);
  e.set(a, late);
  e.queued(a);
  e.settled(a, kNoBars);
  e.set(b, after({{a, When::succeeded}}));
  e.settled(b, kDependency);
  e.set(c, of_array(2));
  e.settled(c, kHeldByUser);
  e.ended(a, false);  // and that was not looked at since

  Eligibility same;
  const std::vector<std::pair<JobId, Bars>> bars{{a, kNoBars}, {b, kDependency}, {c, kHeldByUser}};
  for (const auto& [id, standing] : bars) same.put_back(id, *e.terms(id), e.standing(id), standing);
  for (const JobId id : {a, b, c}) {
    EXPECT_EQ(same.bars(id, at_seconds(9)), e.bars(id, at_seconds(9)));
    EXPECT_EQ(same.standing(id).active, e.standing(id).active);
    EXPECT_EQ(same.standing(id).never, e.standing(id).never);
  }
  EXPECT_EQ(due(same, at_seconds(9)), Jobs{b});
  EXPECT_EQ(due(e, at_seconds(9)), Jobs{b});
  EXPECT_EQ(same.next_begin(), e.next_begin());
}

// As Slurm has it: the whole array ends, and one of its tasks fails.
TEST(Eligibility, OfAnArrayOneTaskMustFailAndAllMustEnd) {
  const JobId waits{9};
  const JobTerms terms = after({{a, When::failed, a}, {b, When::failed, a}, {c, When::failed, a}});
  for (const JobId failing : {a, b, c}) {
    Eligibility e;
    e.set(waits, terms);
    for (const JobId task : {a, b, c}) {
      EXPECT_EQ(e.bars(waits, kEpoch), kDependency) << "task " << task.value << " has not ended";
      e.ended(task, task != failing);
    }
    EXPECT_EQ(e.bars(waits, kEpoch), kNoBars) << "task " << failing.value << " has failed";
    EXPECT_EQ(due(e), Jobs{waits});
  }
  Eligibility e;
  e.set(waits, terms);
  for (const JobId task : {a, b}) e.ended(task, true);
  EXPECT_EQ(e.bars(waits, kEpoch), kDependency);
  e.ended(c, true);
  EXPECT_EQ(e.bars(waits, kEpoch), kDependency | kNeverAgain) << "none has failed";
  EXPECT_EQ(due(e), Jobs{waits});
}

TEST(Eligibility, ArraysThatAreToFailDoNotStandInForEachOther) {
  const JobId waits{9};
  Eligibility e;
  e.set(waits, after({{a, When::failed, a}, {b, When::failed, a}, {c, When::failed, c}}));
  e.ended(a, false);
  e.ended(b, true);
  EXPECT_EQ(e.bars(waits, kEpoch), kDependency);
  e.ended(c, true);
  EXPECT_EQ(e.bars(waits, kEpoch), kDependency | kNeverAgain);
}

TEST(Eligibility, BehindOneThatNeverHadItsTurnItIsTheTurnOfThoseBeforeIt) {
  const JobId d{4};
  Eligibility e;
  e.set(b, after({{a, When::in_turn}}));
  e.set(c, after({{b, When::in_turn}}));
  e.set(d, after({{b, When::ended}}));
  e.ended(b, false);  // cancelled while it waited
  e.forget(b);
  EXPECT_EQ(e.terms(c)->after, (std::vector<Dependency>{{a, When::in_turn}}));
  EXPECT_EQ(e.bars(d, kEpoch), kNoBars);
  e.ended(a, true);
  EXPECT_EQ(e.bars(c, kEpoch), kNoBars);
}

TEST(Eligibility, AJobThatWaitedItsTurnAndRanStandsForNoOther) {
  Eligibility e;
  e.set(b, after({{a, When::in_turn}}));
  e.set(c, after({{b, When::in_turn}}));
  e.ended(a, false);
  EXPECT_EQ(e.bars(b, kEpoch), kNoBars);
  EXPECT_EQ(e.bars(c, kEpoch), kDependency);
  e.ended(b, true);
  EXPECT_EQ(e.bars(c, kEpoch), kNoBars);
}

TEST(Eligibility, OtherTermsMeetNoDependencyThatHasFailed) {
  Eligibility e;
  e.set(b, after({{a, When::succeeded}}));
  e.ended(a, false);
  JobTerms terms = *e.terms(b);
  terms.limit = seconds(60);
  e.set(b, terms);
  EXPECT_EQ(e.bars(b, kEpoch), kDependency | kNeverAgain);
}

}  // namespace
}  // namespace rota
