// What is free, when, and what is left: against sums that a reader can do.
#include "plan/plan.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "model/world_test.h"

namespace rota {
namespace {

TEST(Plan, AStartTakesWhatIsFreeAndAnOpeningComesAfterIt) {
  World world(8);
  world.running({4, 10});
  const JobId first = world.waiting({2, 5});
  world.waiting({6, 5});
  world.at(1);
  Plan plan;
  plan.open(world.cluster());
  EXPECT_EQ(plan.free(), 4);
  EXPECT_EQ(plan.opening(6).at, at_seconds(10));
  EXPECT_EQ(plan.opening(6).beside, 2);
  EXPECT_EQ(plan.opening(9).at, kNever);
  plan.start(first, {}, false);
  EXPECT_TRUE(plan.starts(first));
  EXPECT_EQ(plan.free(), 2);
  EXPECT_EQ(plan.free_at(at_seconds(5)), 2);
  EXPECT_EQ(plan.free_at(at_seconds(6)), 4);  // the start is over
  EXPECT_EQ(plan.free_at(at_seconds(10)), 8);
  EXPECT_EQ(plan.opening(4).at, at_seconds(6));
  EXPECT_EQ(plan.opening(5).at, at_seconds(10));
  plan.open(world.cluster());
  EXPECT_EQ(plan.free(), 4);
  EXPECT_TRUE(plan.actions().empty());
}

TEST(Plan, AJobThatIsOverdueHoldsAMomentLonger) {
  World world(4);
  world.running({4, 10});
  world.at(12);
  Plan plan;
  plan.open(world.cluster());
  EXPECT_EQ(plan.free(), 0);
  EXPECT_EQ(plan.opening(1).at, at_seconds(12) + Duration{1});
  EXPECT_EQ(plan.opening(1).beside, 3);
}

TEST(Plan, OnlyAChangeOfAPromiseIsRecorded) {
  World world(4);
  const JobId job = world.waiting({4, 10});
  world.promise(job, 20);
  Plan plan;
  plan.open(world.cluster());
  plan.promise(job, at_seconds(20));
  EXPECT_FALSE(plan.decides());
  plan.promise(job, at_seconds(19));
  EXPECT_EQ(plan.promises().size(), 1U);
}

TEST(Plan, GoesOnFromItsProfileWhereNothingButEndsAndArrivalsHasHappened) {
  const auto followed = [](const auto& happens, std::int64_t later = 5) {
    World world(8);
    const JobId runs = world.running({4, 10});
    world.running({2, 20});
    const JobId waits = world.waiting({8, 10});
    Plan plan;
    plan.open(world.cluster());
    plan.profile();
    plan.keep_profile();
    world.close_cycle();
    happens(world, runs, waits);
    world.at(later);
    plan.open(world.cluster());
    return plan.follow_profile();
  };
  EXPECT_TRUE(followed([](World&, JobId, JobId) {}));
  EXPECT_TRUE(followed([](World& world, JobId, JobId) { world.waiting({1, 10}); }));
  EXPECT_TRUE(followed([](World& world, JobId runs, JobId) { world.ends(runs); }));
  EXPECT_FALSE(followed([](World& world, JobId, JobId waits) { world.promise(waits, 30); }));
  EXPECT_FALSE(followed([](World& world, JobId, JobId) { world.running({1, 10}); }));
  EXPECT_FALSE(followed([](World& world, JobId runs, JobId) { world.fold(Expected{runs, seconds(15)}); }));
  EXPECT_FALSE(followed([](World&, JobId, JobId) {}, 12)) << "who is overdue holds its processors a moment longer";
}

// Every instant looked at one by one.
TEST(Plan, LeftAndOpeningAreWhatASweepOverSecondsFinds) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    World world(12);
    std::vector<std::pair<std::int64_t, std::int64_t>> ends;  // second, processors
    std::int64_t free = 12;
    for (int i = 0; i < 5; ++i) {
      const auto processors = static_cast<std::uint32_t>(random.between(1, 4));
      const std::int64_t limit = random.between(2, 12);
      if (processors > free) continue;
      world.running({processors, limit});
      ends.emplace_back(limit, processors);
      free -= processors;
    }
    world.at(1);
    Plan plan;
    const auto wanted = static_cast<std::uint32_t>(random.between(1, 12));
    const std::int64_t limit = random.between(1, 12);
    const JobId start = world.waiting({wanted, limit});
    plan.open(world.cluster());
    if (wanted <= free) {
      plan.start(start, {}, false);
      ends.emplace_back(1 + limit, wanted);
      free -= wanted;
    }
    ASSERT_EQ(plan.free(), free);
    const auto left = [&](std::int64_t second) {
      std::int64_t sum = free;
      for (const auto& [end, processors] : ends) sum += end <= second ? processors : 0;
      return sum;
    };
    for (std::int64_t second = 1; second < 16; ++second) ASSERT_EQ(plan.free_at(at_seconds(second)), left(second));
    const std::int64_t more = random.between(free + 1, 13);
    std::int64_t at = 1;
    while (at < 30 && left(at) < more) ++at;
    const Opening opening = plan.opening(more);
    ASSERT_EQ(opening.at, at == 30 ? kNever : at_seconds(at));
    ASSERT_EQ(opening.beside, at == 30 ? 0 : left(at) - more);
  }
}

}  // namespace
}  // namespace rota
