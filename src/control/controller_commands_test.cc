// What the engine is told, when, and under which key; launches that fail; plans and links that cannot be trusted.
#include <gtest/gtest.h>

#include "control/desk_test.h"

namespace rota {
namespace {

using Kind = Command::Kind;

std::vector<Command> of_kind(Desk& desk, Kind kind) {
  std::vector<Command> some;
  for (const Command& c : desk.engine().commands) {
    if (c.kind == kind) some.push_back(c);
  }
  return some;
}

TEST(ControllerCommands, EachGoesUnderTheNumberOfTheFactThatDecidedIt) {
  Desk desk("easy");
  EXPECT_TRUE(desk.controller().resume());
  EXPECT_TRUE(desk.controller().resume());
  EXPECT_EQ(desk.view().epoch(), 2U);
  const JobId one = desk.run(1, 10);
  const JobId other = desk.run(2, 10);
  EXPECT_EQ(desk.tell_and_decide(CancelAsked{one}), "");
  const std::vector<Command>& commands = desk.engine().commands;
  ASSERT_EQ(commands.size(), 3U);
  const std::vector<JobId> about{one, other, one};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    EXPECT_EQ(commands[i].epoch, 2U);
    EXPECT_EQ(commands[i].job, about[i]);
    const auto& facts = desk.log().facts;
    const auto by =
        std::find_if(facts.begin(), facts.end(), [&](const Fact& f) { return f.sequence == commands[i].key; });
    ASSERT_NE(by, facts.end());
    const bool decided = std::holds_alternative<Started>(by->what) || std::holds_alternative<Stopped>(by->what);
    EXPECT_TRUE(decided);
  }
  EXPECT_LT(commands[0].key, commands[1].key);
  EXPECT_EQ(desk.job(one).command, commands[2].key);
}

class Disk final : public Durable {
 public:
  Result<void> commit() override {
    ++commits;
    commands_before = engine ? engine->commands.size() : 0;
    if (full) return fail("the disk is full.");
    return {};
  }
  CommandLog* engine = nullptr;
  bool full = false;
  int commits = 0;
  std::size_t commands_before = 0;
};

TEST(ControllerCommands, NothingGoesOutBeforeItIsWrittenDown) {
  Disk disk;
  Desk desk("easy", {.durable = &disk});
  disk.engine = &desk.engine();
  desk.run(1, 10);
  EXPECT_EQ(disk.commits, 1);
  EXPECT_EQ(disk.commands_before, 0U);
  EXPECT_EQ(desk.engine().commands.size(), 1U);
}

TEST(ControllerCommands, NothingGoesOutWhenNothingCanBeWrittenDown) {
  Disk disk;
  Desk desk("easy", {.durable = &disk});
  desk.submit(1, 10);
  disk.full = true;
  EXPECT_EQ(desk.decide(), "the disk is full.");
  EXPECT_TRUE(desk.engine().commands.empty());
  disk.full = false;  // too late: the controller that takes over must find out what was decided and not done
  const std::string before = desk.state();
  EXPECT_EQ(desk.decide(), "the disk is full.");
  EXPECT_EQ(desk.tell(Finished{JobId{0}}), "the disk is full.");
  desk.controller().ring();
  EXPECT_TRUE(desk.engine().commands.empty());
  EXPECT_EQ(difference(before, desk.state()), "");
  ASSERT_FALSE(desk.controller().health());
  EXPECT_EQ(desk.controller().health().error().message, "the disk is full.");
}

TEST(ControllerCommands, AWaitingOrHeldJobIsTakenBackWithoutACommand) {
  Desk desk("easy");
  desk.run(4, 10);
  const JobId waiting = desk.run(1, 10);
  const JobId held = desk.run(1, 10);
  EXPECT_EQ(desk.tell_and_decide(Held{held}), "");
  EXPECT_EQ(desk.tell(Cancelled{waiting}), "");
  EXPECT_EQ(desk.tell(Cancelled{held}), "");
  EXPECT_EQ(desk.view().barred(), 0U);
  EXPECT_TRUE(desk.view().waiting().empty());
  EXPECT_EQ(desk.decide(), "");
  EXPECT_EQ(desk.engine().commands.size(), 1U);
  ASSERT_EQ(desk.left().size(), 2U);
  EXPECT_EQ(desk.left()[0].second.state, JobState::cancelled);
  EXPECT_EQ(desk.left()[1].second.state, JobState::cancelled);
}

TEST(ControllerCommands, ARunningJobIsStoppedOnceForGood) {
  Desk desk("easy");
  const JobId job = desk.run(1, 10);
  EXPECT_EQ(desk.tell_and_decide(CancelAsked{job}), "");
  EXPECT_EQ(desk.tell_and_decide(CancelAsked{job}),
            "job 1 is cancelled, and it is being stopped; nothing was changed.");
  const auto kills = of_kind(desk, Kind::kill);
  ASSERT_EQ(kills.size(), 1U);
  EXPECT_TRUE(kills[0].for_good);
  EXPECT_TRUE(desk.job(job).stopping);
  EXPECT_EQ(desk.view().free(), 3);  // held until it is gone
  EXPECT_EQ(desk.tell_and_decide(Finished{job, Outcome::cancelled}), "");
  EXPECT_EQ(desk.view().free(), 4);
  EXPECT_EQ(desk.left().back().second.state, JobState::cancelled);
}

// Whatever the engine makes of the last thing it was told, the job is not started again.
TEST(ControllerCommands, AJobThatIsCancelledIsNotQueuedAgain) {
  Desk requeued("easy");
  const JobId killed = requeued.run(1, 10);
  EXPECT_EQ(requeued.tell_and_decide(CancelAsked{killed}), "");
  EXPECT_EQ(requeued.tell_and_decide(Requeued{killed, seconds(10)}), "");
  EXPECT_FALSE(requeued.view().knows(killed));

  Desk suspended("fcfs+preempt=suspend");
  const JobId low = suspended.run(4, 10);
  suspended.run(4, 10, 1);
  ASSERT_TRUE(suspended.job(low).leaving);
  EXPECT_EQ(suspended.tell_and_decide(CancelAsked{low}), "");
  EXPECT_EQ(suspended.tell_and_decide(Vacated{low, Duration{0}}), "");
  EXPECT_FALSE(suspended.view().knows(low));
  EXPECT_EQ(suspended.view().running().size(), 1U);

  Desk starting("easy", {.confirms_starts = true});
  const JobId job = starting.run(1, 10);
  ASSERT_TRUE(starting.job(job).starting);
  EXPECT_EQ(starting.tell_and_decide(CancelAsked{job}), "");
  EXPECT_EQ(starting.tell_and_decide(LaunchFailed{job}), "");
  EXPECT_FALSE(starting.view().knows(job));
  EXPECT_EQ(starting.left().back().second.state, JobState::cancelled);
}

TEST(ControllerCommands, AStartIsOverWhenTheEngineSaysSo) {
  Desk desk("easy", {.confirms_starts = true});
  const JobId job = desk.run(1, 10);
  EXPECT_TRUE(desk.job(job).starting);
  EXPECT_EQ(desk.view().free(), 3);
  EXPECT_EQ(desk.tell_and_decide(Launched{job}), "");
  EXPECT_FALSE(desk.job(job).starting);
  EXPECT_NE(desk.tell(Launched{job}), "");
}

TEST(ControllerCommands, ALaunchThatCannotHelpEndsTheJob) {
  Desk desk("easy", {.confirms_starts = true});
  const JobId job = desk.run(1, 10);
  EXPECT_EQ(desk.tell_and_decide(LaunchFailed{job, false}), "");
  EXPECT_FALSE(desk.view().knows(job));
  EXPECT_EQ(desk.left().back().second.state, JobState::failed);
  EXPECT_EQ(desk.view().free(), 4);
}

TEST(ControllerCommands, LaunchesAreTriedLessAndLessOftenAndThenHeld) {
  Desk desk("easy", {.confirms_starts = true});
  const JobId job = desk.run(1, 10);
  std::int64_t now = 0;
  std::int64_t pause = 10;
  for (int tries = 1; tries < 8; ++tries, pause *= 2) {
    ASSERT_TRUE(desk.runs(job)) << tries;
    EXPECT_EQ(desk.tell_and_decide(LaunchFailed{job}), "");
    EXPECT_EQ(desk.job(job).bars, kBeginTime);
    desk.at(now + pause - 1);
    EXPECT_FALSE(desk.ring()) << tries;
    desk.at(now += pause);
    EXPECT_TRUE(desk.ring()) << tries;
  }
  EXPECT_EQ(desk.tell_and_decide(LaunchFailed{job}), "");
  EXPECT_EQ(desk.job(job).bars, kBeginTime | kHeldByOperator);
  EXPECT_EQ(of_kind(desk, Kind::start).size(), 8U);
  desk.at(now += pause);
  EXPECT_TRUE(desk.ring());
  EXPECT_EQ(desk.job(job).bars, kHeldByOperator);
  EXPECT_EQ(desk.tell_and_decide(Released{job, kHeldByOperator}), "");
  EXPECT_TRUE(desk.runs(job));
}

TEST(ControllerCommands, AMemberOfAnArrayThatCannotBeLaunchedMakesRoomForTheNext) {
  Desk desk("easy", {.confirms_starts = true});
  JobTerms terms = Desk::terms(10);
  terms.array = 1;
  terms.throttle = 1;
  const JobId first = desk.submit_on(terms).value();
  const JobId second = desk.submit_on(terms).value();
  EXPECT_EQ(desk.decide(), "");
  ASSERT_TRUE(desk.runs(first));
  EXPECT_EQ(desk.tell_and_decide(LaunchFailed{first}), "");
  EXPECT_TRUE(desk.runs(second));
  desk.at(10);
  desk.ring();
  EXPECT_EQ(desk.job(first).bars, kArrayThrottle);
  EXPECT_EQ(desk.tell_and_decide(Finished{second}), "");
  EXPECT_TRUE(desk.runs(first));
  EXPECT_EQ(desk.view().eligibility().terms(first)->throttle, 1U);
}

// Starts every job, room or not.
class Careless final : public Policy {
 public:
  void decide(const View& view, Plan& plan) const override {
    view.for_each_job([&](JobId id, const Job& job) {
      if (job.state == JobState::waiting && !plan.starts(id)) plan.start(id, {}, false);
    });
  }
};

TEST(ControllerCommands, ARefusedPlanIsDroppedAndThePlainModeGoesOn) {
  Desk desk("easy", {.breach = Controller::Breach::goes_plain, .link = std::make_unique<Careless>()});
  const JobId first = desk.run(3, 10);
  EXPECT_FALSE(desk.controller().view().plain());
  const JobId second = desk.run(3, 10);
  EXPECT_TRUE(desk.controller().view().plain());
  EXPECT_EQ(desk.controller().refused_plans(), 1);
  ASSERT_EQ(desk.log().refusals.size(), 1U);
  EXPECT_NE(desk.log().refusals[0].find("the referee refuses a plan of policy easy: job 2 is started"),
            std::string::npos)
      << desk.log().refusals[0];
  EXPECT_EQ(desk.engine().commands.size(), 1U);
  EXPECT_TRUE(desk.waits(second));
  const JobId third = desk.run(1, 10);
  EXPECT_TRUE(desk.waits(third));  // in the plain mode no job overtakes
  EXPECT_EQ(desk.tell_and_decide(Finished{first}), "");
  EXPECT_TRUE(desk.runs(second));
  EXPECT_TRUE(desk.runs(third));
  EXPECT_EQ(desk.controller().refused_plans(), 1);
}

TEST(ControllerCommands, ARefusedPlanEndsARehearsal) {
  Desk desk("easy", {.link = std::make_unique<Careless>()});
  desk.run(3, 10);
  desk.submit(3, 10);
  const std::string before = desk.state();
  const std::string why = desk.decide();
  EXPECT_NE(why.find("the referee refuses a plan of policy easy: job 2 is started"), std::string::npos) << why;
  EXPECT_EQ(difference(before, desk.state()), "");
  EXPECT_EQ(desk.decide(), why);
}

class Restless final : public Policy {
 public:
  void decide(const View&, Plan&) const override {}
  Instant next_wakeup(const View& view) const override { return view.now(); }
};

TEST(ControllerCommands, ALinkThatAlwaysLooksAgainIsNamed) {
  Desk desk("easy", {.link = std::make_unique<Restless>()});
  desk.run(1, 10);
  int rings = 0;
  while (desk.controller().health() && rings < 10'000 && desk.ring()) ++rings;
  ASSERT_FALSE(desk.controller().health());
  EXPECT_EQ(
      desk.controller().health().error().message,
      "policy easy has looked 1005 times at 0 s although nothing happened: appended asked for another look each time. "
      "This is a defect of Rota.");
  EXPECT_LT(rings, 1100);
}

class SecondThoughts final : public Policy {
 public:
  void decide(const View&, Plan& plan) const override { plan.look_again(); }
};

TEST(ControllerCommands, ALinkWhosePlansCallForAnotherLookIsNamed) {
  Desk desk("easy", {.link = std::make_unique<SecondThoughts>()});
  desk.run(1, 10);
  int rings = 0;
  while (desk.controller().health() && rings < 10'000 && desk.ring()) ++rings;
  ASSERT_FALSE(desk.controller().health());
  EXPECT_NE(desk.controller().health().error().message.find(": appended asked for another look"), std::string::npos);
}

TEST(ControllerCommands, ALinkMayLookAgainWheneverSomethingHappens) {
  Desk desk("easy", {.link = std::make_unique<Restless>()});
  desk.run(4, 10);
  const JobId job = desk.run(1, 10);
  for (int i = 0; i < 1500; ++i) {
    ASSERT_EQ(desk.tell_and_decide(Held{job}), "");
    ASSERT_EQ(desk.tell_and_decide(Released{job}), "");
  }
  EXPECT_TRUE(desk.controller().health());
}

// What is free later goes on from the plan before, which counted the job until it was to have left.
TEST(ControllerCommands, AJobThatGivesWayAndEndsBeforeGivesBackItsRoomOnce) {
  Desk desk("conservative+preempt=checkpoint", {.processors = 10});
  const JobId victim = desk.run(10, 1000);
  desk.at(100);
  const JobId first = desk.run(10, 50, 1);
  desk.at(101);
  const JobId second = desk.run(10, 50, 1);
  ASSERT_TRUE(desk.job(victim).leaving) << desk.state();
  desk.at(130);
  EXPECT_EQ(desk.tell_and_decide(Finished{victim}), "");
  EXPECT_TRUE(desk.runs(first));
  EXPECT_EQ(desk.job(second).promise, at_seconds(180));
}

}  // namespace
}  // namespace rota
