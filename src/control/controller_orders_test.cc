// What a running job is told by people: to stand still, to go on, and another limit.
#include <gtest/gtest.h>

#include "control/desk_test.h"

namespace rota {
namespace {

constexpr Bars kBoth = kHeldByUser | kHeldByOperator;

const Command& latest(Desk& desk) { return desk.engine().commands.back(); }

TEST(ControllerOrders, TimeSuspendedDoesNotCount) {
  Desk desk("easy");
  const JobId job = desk.run(4, 100);
  desk.at(30);
  EXPECT_EQ(desk.tell_and_decide(Suspended{job, kHeldByUser}), "");
  EXPECT_EQ(latest(desk).kind, Command::Kind::adjust);
  EXPECT_TRUE(latest(desk).stands);
  EXPECT_EQ(latest(desk).limit_end, at_seconds(100)) << "if it went on now";
  EXPECT_TRUE(desk.runs(job));
  EXPECT_GT(desk.job(job).limit_end(), at_seconds(1'000'000'000));
  desk.at(500);
  EXPECT_EQ(desk.tell(Overdue{job}), "job 1 is said to be overdue, and it has time left; nothing was changed.");
  EXPECT_EQ(desk.view().stood(job), seconds(470));
  EXPECT_EQ(desk.tell_and_decide(Resumed{job, kHeldByUser}), "");
  EXPECT_FALSE(latest(desk).stands);
  EXPECT_EQ(latest(desk).limit_end, at_seconds(570));
  EXPECT_EQ(desk.job(job).expected_end(), at_seconds(570));
  desk.at(560);
  EXPECT_EQ(desk.tell_and_decide(Finished{job}), "");
  ASSERT_EQ(desk.left().size(), 1U);
  EXPECT_EQ(desk.left()[0].second.run_time(), seconds(90));
}

TEST(ControllerOrders, ASuspendedJobThatEndsRanUntilItWasSuspended) {
  Desk desk("easy");
  const JobId job = desk.run(4, 100);
  const JobId next = desk.run(4, 10);
  desk.at(30);
  EXPECT_EQ(desk.tell_and_decide(Suspended{job, kHeldByUser}), "");
  EXPECT_GT(desk.job(next).promise, at_seconds(1'000'000'000)) << "nobody knows when it goes on";
  desk.at(50);
  EXPECT_EQ(desk.tell_and_decide(CancelAsked{job}), "");
  EXPECT_EQ(latest(desk).kind, Command::Kind::kill);
  EXPECT_EQ(desk.tell_and_decide(Finished{job, Outcome::cancelled}), "");
  EXPECT_EQ(desk.left()[0].second.run_time(), seconds(30));
  EXPECT_TRUE(desk.runs(next));
}

TEST(ControllerOrders, AJobGoesOnOnceNeitherUserNorOperatorSuspendsIt) {
  Desk desk("easy");
  const JobId job = desk.run(1, 100);
  EXPECT_EQ(desk.tell(Suspended{job, kHeldByUser}), "");
  EXPECT_EQ(desk.tell(Suspended{job, kHeldByUser}), "job 1 is suspended, and it is suspended; nothing was changed.");
  EXPECT_EQ(desk.tell_and_decide(Suspended{job, kHeldByOperator}), "");
  EXPECT_EQ(desk.job(job).suspended_by, kBoth);
  const std::size_t told = desk.engine().commands.size();
  EXPECT_EQ(desk.tell_and_decide(Resumed{job, kHeldByUser}), "");
  EXPECT_TRUE(desk.job(job).suspended());
  EXPECT_EQ(desk.engine().commands.size(), told);
  EXPECT_EQ(desk.tell_and_decide(Resumed{job, kHeldByOperator}), "");
  EXPECT_FALSE(desk.job(job).suspended());
  EXPECT_EQ(desk.engine().commands.size(), told + 1);
  EXPECT_EQ(desk.tell(Resumed{job, kHeldByUser}), "job 1 is resumed, and it runs; nothing was changed.");
}

TEST(ControllerOrders, OnlyAJobThatRunsIsSuspendedOrGivenAnotherLimit) {
  Desk desk("easy", {.confirms_starts = true});
  const JobId starts = desk.run(4, 100);
  const JobId waits = desk.run(4, 100);
  EXPECT_EQ(desk.tell(Suspended{starts}), "job 1 is suspended, and it is starting; nothing was changed.");
  EXPECT_EQ(desk.tell(Suspended{waits}), "job 2 is suspended, and it waits; nothing was changed.");
  EXPECT_EQ(desk.tell(LimitChanged{starts, seconds(50)}),
            "job 1 is given another limit, and it is starting; nothing was changed.");
  EXPECT_EQ(desk.tell_and_decide(Launched{starts}), "");
  EXPECT_EQ(desk.tell(Suspended{starts, kNoBars}), "no user asked for a job to be suspended.");
  EXPECT_EQ(desk.tell_and_decide(CancelAsked{starts}), "");
  EXPECT_EQ(desk.tell(Suspended{starts}), "job 1 is suspended, and it is being stopped; nothing was changed.");
}

// Each would end an overrunning backfilled job for a promise that is due.
TEST(ControllerOrders, NoRuleForOverrunsEndsASuspendedJob) {
  for (const char* policy : {"strict", "rb-har", "rb-har+overrun=rb-har-literal", "grace"}) {
    for (const bool suspends : {false, true}) {
      Desk desk(policy);
      const JobId first = desk.run(3, 100);
      const JobId head = desk.run(4, 100);
      const JobId small = desk.run(1, 50);  // backfilled
      ASSERT_TRUE(desk.job(small).backfilled);
      desk.at(40);
      if (suspends) {
        EXPECT_EQ(desk.tell_and_decide(Suspended{small, kHeldByUser}), "");
      }
      desk.at(60);
      if (!suspends) {
        EXPECT_EQ(desk.tell_and_decide(Overdue{small}), "");
      }
      desk.at(100);
      EXPECT_EQ(desk.tell_and_decide(Finished{first}), "");
      while (desk.ring()) {
      }
      EXPECT_EQ(desk.job(small).stopping, !suspends) << policy;
      EXPECT_TRUE(desk.waits(head));
      if (!suspends) continue;
      desk.at(200);
      EXPECT_EQ(desk.tell_and_decide(Resumed{small, kHeldByUser}), "");
      EXPECT_FALSE(desk.job(small).stopping) << "it has 10 s left";
      desk.at(210);
      EXPECT_EQ(desk.tell_and_decide(Overdue{small}), "");
      while (desk.ring()) {
      }
      EXPECT_TRUE(desk.job(small).stopping) << policy << ": its time is up now";
    }
  }
}

// A forecast comes there when nothing else is left to happen: that is until when it is counted on to stand still.
TEST(ControllerOrders, NorDoesOneHoweverLongItStandsStill) {
  for (const char* policy : {"strict", "rb-har", "rb-har+overrun=rb-har-literal", "grace"}) {
    Desk desk(policy);
    const JobId first = desk.run(3, 100);
    desk.run(4, 100);
    const JobId small = desk.run(1, 50);
    ASSERT_TRUE(desk.job(small).backfilled);
    desk.at(40);
    EXPECT_EQ(desk.tell_and_decide(Suspended{small, kHeldByUser}), "");
    desk.at(100);
    EXPECT_EQ(desk.tell_and_decide(Finished{first}), "");
    desk.loop().go_to(desk.job(small).expected_end() + seconds(1));
    desk.submit(4, 10);
    EXPECT_EQ(desk.decide(), "") << policy;
    EXPECT_FALSE(desk.job(small).stopping) << policy;
  }
}

TEST(ControllerOrders, AFixedPromiseThatCountedOnASuspensionIsMadeAnew) {
  Desk desk("grace");
  const JobId job = desk.run(4, 100);
  EXPECT_EQ(desk.tell_and_decide(Suspended{job, kHeldByUser}), "");
  const JobId head = desk.run(4, 10);
  EXPECT_GT(desk.job(head).promise, at_seconds(1'000'000'000));
  desk.at(50);
  EXPECT_EQ(desk.tell_and_decide(Resumed{job, kHeldByUser}), "");
  EXPECT_EQ(desk.job(head).promise, at_seconds(150));
}

TEST(ControllerOrders, NoJobGivesWayWhileSuspended) {
  Desk desk("fcfs+preempt=suspend");
  const JobId low = desk.run(4, 100);
  EXPECT_EQ(desk.tell_and_decide(Suspended{low, kHeldByOperator}), "");
  desk.run(4, 10, 1);
  EXPECT_FALSE(desk.job(low).leaving);
  EXPECT_EQ(desk.tell_and_decide(Resumed{low, kHeldByOperator}), "");
  EXPECT_TRUE(desk.job(low).leaving);
}

TEST(ControllerOrders, PromisesFollowTheLimitOfARunningJob) {
  Desk desk("easy");
  const JobId job = desk.run(4, 100);
  const JobId next = desk.run(4, 10);
  EXPECT_EQ(desk.job(next).promise, at_seconds(100));
  desk.at(10);
  EXPECT_EQ(desk.tell_and_decide(LimitChanged{job, seconds(40)}), "");
  EXPECT_EQ(desk.job(next).promise, at_seconds(40));
  EXPECT_EQ(latest(desk).kind, Command::Kind::adjust);
  EXPECT_EQ(latest(desk).limit_end, at_seconds(40));
  EXPECT_EQ(latest(desk).limit, seconds(40));
  EXPECT_EQ(desk.tell_and_decide(LimitChanged{job, seconds(400)}), "");
  EXPECT_EQ(desk.job(next).promise, at_seconds(400));
  EXPECT_EQ(desk.view().request(job).limit, seconds(100)) << "what it asked for first";
  EXPECT_EQ(desk.tell(LimitChanged{job, seconds(10)}),
            "job 1 has run for longer than that already; cancel it to end it. Nothing was changed.");
  EXPECT_EQ(desk.tell(LimitChanged{job, seconds(0)}),
            "job 1 is to have no time to run, or too much; give a limit above 0.");
}

TEST(ControllerOrders, AFixedPromiseIsMadeAnewWhereARunningJobIsToEndSooner) {
  Desk desk("strict");
  const JobId job = desk.run(4, 100);
  const JobId head = desk.run(4, 10);
  EXPECT_EQ(desk.tell_and_decide(LimitChanged{job, seconds(40)}), "");
  EXPECT_EQ(desk.job(head).promise, at_seconds(40));
}

TEST(ControllerOrders, AControllerThatTakesOverKnowsAndSendsItAgain) {
  Desk desk("fcfs+preempt=suspend", {.confirms_starts = false});
  const JobId job = desk.run(2, 100);
  desk.at(10);
  EXPECT_EQ(desk.tell_and_decide(LimitChanged{job, seconds(200)}), "");
  desk.at(20);
  EXPECT_EQ(desk.tell_and_decide(Suspended{job, kHeldByOperator}), "");
  const Command told = latest(desk);
  const std::string before = desk.state();
  EXPECT_EQ(desk.take_over(), "");
  EXPECT_EQ(desk.state(), before);
  desk.at(50);
  desk.engine().seen.jobs = {{job, true, {}, told.key - 1, desk.job(job).dispatch}};
  desk.engine().commands.clear();
  ASSERT_TRUE(desk.controller().resume());
  ASSERT_EQ(desk.engine().commands.size(), 1U);
  EXPECT_EQ(latest(desk).key, told.key);
  EXPECT_TRUE(latest(desk).stands);
  EXPECT_EQ(latest(desk).limit_end, at_seconds(230)) << "if it went on now";
  EXPECT_EQ(desk.take_over(), "");
  desk.engine().seen.jobs[0].key = told.key;
  desk.engine().commands.clear();
  ASSERT_TRUE(desk.controller().resume());
  EXPECT_TRUE(desk.engine().commands.empty()) << "it was carried out";
  EXPECT_EQ(desk.tell_and_decide(Resumed{job, kHeldByOperator}), "");
  EXPECT_EQ(desk.job(job).limit_end(), at_seconds(230));
}

TEST(ControllerOrders, ASuspendedJobCanBeQueuedAgain) {
  Desk desk("easy");
  const JobId job = desk.run(4, 100);
  desk.at(10);
  EXPECT_EQ(desk.tell_and_decide(Suspended{job, kHeldByUser}), "");
  ASSERT_TRUE(desk.controller().requeue(job));
  EXPECT_EQ(desk.tell_and_decide(Requeued{job, seconds(100)}), "");
  ASSERT_TRUE(desk.runs(job));
  EXPECT_FALSE(desk.job(job).suspended());
  EXPECT_EQ(desk.job(job).limit_end(), at_seconds(110));
}

TEST(ControllerOrders, AJobThatStartsCanBeQueuedAgain) {
  Desk desk("easy", {.confirms_starts = true});
  const JobId job = desk.run(4, 100);
  ASSERT_TRUE(desk.job(job).starting);
  ASSERT_TRUE(desk.controller().requeue(job));
  EXPECT_TRUE(desk.job(job).stopping);
  EXPECT_FALSE(desk.controller().requeue(job)) << "it was told before";
  desk.at(10);
  EXPECT_EQ(desk.tell_and_decide(Requeued{job, seconds(100)}), "");
  ASSERT_TRUE(desk.job(job).starting) << "again";
  EXPECT_EQ(desk.tell_and_decide(Launched{job, desk.job(job).dispatch}), "");
  EXPECT_TRUE(desk.runs(job));
}

}  // namespace
}  // namespace rota
