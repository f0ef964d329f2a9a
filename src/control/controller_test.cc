// What the world says may be late, doubled or plain wrong: each such fact is answered with a sentence, counted, and
// changes nothing.
#include "control/controller.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "control/desk_test.h"

namespace rota {
namespace {

std::shared_ptr<const Machine> two_nodes() {
  Machine machine;
  machine.partitions.resize(2);
  machine.default_partition = PartitionId{0};
  machine.partitions[0].name = "all";
  machine.partitions[1].name = "short";
  machine.partitions[1].max_time = seconds(60);
  for (std::uint32_t i = 0; i < 2; ++i) {
    Node& node = machine.nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    node.processors = 2;
    node.partitions = {PartitionId{0}, PartitionId{1}};
    for (Partition& p : machine.partitions) p.nodes.push_back(NodeId{i}), p.processors += 2;
    machine.processors += 2;
  }
  machine.licences = {{"solver", 3}};
  return std::make_shared<const Machine>(std::move(machine));
}
DeskOptions on_two_nodes() {
  DeskOptions options;
  options.machine = two_nodes();
  return options;
}

// The fact is refused with this sentence, which observers hear, and the state stays as it was.
void expect_refused(Desk& desk, const Observed& fact, const std::string& sentence) {
  const std::string before = desk.state();
  const std::uint64_t sequence = desk.view().sequence();
  const std::int64_t refusals = desk.controller().refusals();
  EXPECT_EQ(desk.tell(fact), sentence);
  EXPECT_EQ(difference(before, desk.state()), "") << sentence;
  EXPECT_EQ(desk.view().sequence(), sequence);
  EXPECT_EQ(desk.controller().refusals(), refusals + 1);
  ASSERT_FALSE(desk.log().refusals.empty());
  EXPECT_EQ(desk.log().refusals.back(), sentence);
}

TEST(Controller, AJobThatWasNeverSubmittedIsUnknown) {
  Desk desk("easy");
  const JobId unknown{7};
  const std::string rest = ", and there is none: it has ended before or was never submitted; nothing was changed.";
  const std::string it = "the job with id 7 is ";
  expect_refused(desk, Finished{unknown}, fmt::format("{}said to have ended{}", it, rest));
  expect_refused(desk, Overdue{unknown}, fmt::format("{}said to be overdue{}", it, rest));
  expect_refused(desk, Vacated{unknown}, fmt::format("{}said to have given way{}", it, rest));
  expect_refused(desk, Requeued{unknown, seconds(1)}, fmt::format("{}queued again{}", it, rest));
  expect_refused(desk, Cancelled{unknown}, fmt::format("{}cancelled{}", it, rest));
  expect_refused(desk, CancelAsked{unknown}, fmt::format("{}cancelled{}", it, rest));
  expect_refused(desk, Launched{unknown}, fmt::format("{}said to run{}", it, rest));
  expect_refused(desk, LaunchFailed{unknown}, fmt::format("{}said not to have started{}", it, rest));
  expect_refused(desk, Held{unknown}, fmt::format("{}held{}", it, rest));
  expect_refused(desk, Released{unknown}, fmt::format("{}released{}", it, rest));
  expect_refused(desk, Amended{unknown, Desk::terms(1)}, fmt::format("{}amended{}", it, rest));
  EXPECT_EQ(desk.controller().refusals(), 11);
}

TEST(Controller, AJobThatWasForgottenIsUnknown) {
  Desk desk("easy");
  const JobId first = desk.run(1, 10);
  EXPECT_EQ(desk.tell_and_decide(Finished{first}), "");
  ASSERT_FALSE(desk.view().knows(first));
  expect_refused(
      desk, Finished{first},
      "the job with id 0 is said to have ended, and there is none: it has ended before or was never submitted; "
      "nothing was changed.");
}

TEST(Controller, EndsThatComeTwiceCountOnce) {
  Desk desk("easy");
  const JobId job = desk.run(1, 10);
  EXPECT_EQ(desk.tell(Finished{job}), "");
  expect_refused(desk, Finished{job}, "job 1 is said to have ended, and it has ended; nothing was changed.");
  expect_refused(desk, Overdue{job}, "job 1 is said to be overdue, and it has ended; nothing was changed.");
  expect_refused(desk, Requeued{job, seconds(1)}, "job 1 is queued again, and it has ended; nothing was changed.");
  expect_refused(desk, Vacated{job}, "job 1 is said to have given way, and it has ended; nothing was changed.");
  expect_refused(desk, Cancelled{job}, "job 1 is cancelled, and it has ended; nothing was changed.");
  EXPECT_EQ(desk.decide(), "");
  EXPECT_EQ(desk.left().size(), 1U);
}

TEST(Controller, AWaitingJobDoesWhatOnlyARunningOneCan) {
  Desk desk("easy");
  desk.run(4, 10);
  const JobId job = desk.run(1, 10);
  ASSERT_TRUE(desk.waits(job));
  expect_refused(desk, Finished{job}, "job 2 is said to have ended, and it waits; nothing was changed.");
  expect_refused(desk, Overdue{job}, "job 2 is said to be overdue, and it waits; nothing was changed.");
  expect_refused(desk, Vacated{job}, "job 2 is said to have given way, and it waits; nothing was changed.");
  expect_refused(desk, Requeued{job, seconds(1)}, "job 2 is queued again, and it waits; nothing was changed.");
  expect_refused(desk, Launched{job}, "job 2 is said to run, and it waits; nothing was changed.");
  expect_refused(desk, LaunchFailed{job}, "job 2 is said not to have started, and it waits; nothing was changed.");
  expect_refused(desk, CancelAsked{job}, "job 2 is cancelled, and it waits; nothing was changed.");
  expect_refused(desk, Released{job}, "job 2 is released and was not held; nothing was changed.");
}

TEST(Controller, AHeldJobDoesNotRunEither) {
  Desk desk("easy");
  desk.run(4, 10);
  const JobId job = desk.run(1, 10);
  EXPECT_EQ(desk.tell(Held{job}), "");
  expect_refused(desk, Finished{job},
                 "job 2 is said to have ended, and it is held or not eligible; nothing was changed.");
  expect_refused(desk, Overdue{job},
                 "job 2 is said to be overdue, and it is held or not eligible; nothing was changed.");
  expect_refused(desk, Released{job, kHeldByOperator}, "job 2 is released and was not held; nothing was changed.");
  expect_refused(desk, Held{job, kNoBars}, "a job is held by no user; nothing was changed.");
  expect_refused(desk, Held{job, kDependency}, "a job is held by no user; nothing was changed.");
}

TEST(Controller, ARunningJobIsNeitherHeldNorAmended) {
  Desk desk("easy");
  const JobId job = desk.run(1, 10);
  expect_refused(desk, Held{job}, "job 1 is held, and it runs; nothing was changed.");
  expect_refused(desk, Released{job}, "job 1 is released, and it runs; nothing was changed.");
  expect_refused(desk, Amended{job, Desk::terms(5)}, "job 1 is amended, and it runs; nothing was changed.");
  expect_refused(desk, Launched{job}, "job 1 is said to run, and it runs; nothing was changed.");
  expect_refused(desk, LaunchFailed{job}, "job 1 is said not to have started, and it runs; nothing was changed.");
  expect_refused(desk, Vacated{job}, "job 1 is said to have given way, and it runs; nothing was changed.");
}

TEST(Controller, ARejectedJobIsGone) {
  Desk desk("easy");
  EXPECT_FALSE(desk.submit(5, 10).valid());
  const JobId job{0};
  expect_refused(desk, Finished{job}, "job 1 is said to have ended, and it was rejected; nothing was changed.");
  expect_refused(desk, Cancelled{job}, "job 1 is cancelled, and it was rejected; nothing was changed.");
  expect_refused(desk, Held{job}, "job 1 is held, and it was rejected; nothing was changed.");
  EXPECT_EQ(desk.decide(), "");
  ASSERT_EQ(desk.left().size(), 1U);
  EXPECT_EQ(desk.left()[0].second.state, JobState::rejected);
}

TEST(Controller, AJobThatAsksForNothingOrForEverIsRejected) {
  Desk desk("easy");
  EXPECT_FALSE(desk.submit(0, 10).valid());
  EXPECT_FALSE(desk.submit(1, 0).valid());
  EXPECT_FALSE(desk.submit(1, -5).valid());
  JobSpec endless = desk.asking(1, 1);
  endless.limit = kLongest + Duration{1};
  EXPECT_FALSE(desk.controller().submit(endless).valid());
  EXPECT_EQ(desk.decide(), "");
  EXPECT_EQ(desk.left().size(), 4U);
}

TEST(Controller, AJobThatNamesWhatTheClusterDoesNotHaveIsRejected) {
  Desk desk("easy", on_two_nodes());
  JobSpec spec = desk.asking(1, 10);
  spec.partition = PartitionId{2};
  EXPECT_FALSE(desk.controller().submit(spec).valid());
  spec.partition = {};
  spec.licence = LicenceId{1};
  spec.licences = 1;
  EXPECT_FALSE(desk.controller().submit(spec).valid());
  spec.licence = {};
  spec.licences = 0;
  spec.accelerators = 1;
  spec.accelerator_type = AcceleratorTypeId{0};
  EXPECT_FALSE(desk.controller().submit(spec).valid());
  EXPECT_EQ(desk.decide(), "");
  EXPECT_EQ(desk.left().size(), 3U);
}

// A job of which 10 s are expected, because the two before it took so long: it starts at second 20.
JobId predicted_job(Desk& desk) {
  JobSpec spec = desk.asking(1, 100);
  spec.user = 3;
  for (int i = 0; i < 2; ++i) {
    const JobId id = desk.controller().submit(spec);
    EXPECT_EQ(desk.decide(), "");
    desk.at(10 * (i + 1));
    EXPECT_EQ(desk.tell_and_decide(Finished{id}), "");
  }
  const JobId job = desk.controller().submit(spec);
  EXPECT_EQ(desk.decide(), "");
  return job;
}

TEST(Controller, OverdueAndEndOfOneJobCanComeTogether) {
  Desk desk("easy+predict=tsafrir");
  const JobId predicted = predicted_job(desk);
  ASSERT_EQ(desk.job(predicted).expected, seconds(10));
  desk.at(30);
  EXPECT_EQ(desk.tell(Overdue{predicted}), "");
  EXPECT_EQ(desk.tell(Finished{predicted}), "");
  EXPECT_EQ(desk.decide(), "");
  EXPECT_FALSE(desk.view().knows(predicted));
  EXPECT_EQ(desk.engine().commands.back().kind, Command::Kind::start);  // nothing about it was corrected
}

TEST(Controller, AJobThatOutranItsPredictionIsExpectedAnewAfterATakeover) {
  Desk desk("easy+predict=tsafrir");
  const JobId job = predicted_job(desk);
  ASSERT_EQ(desk.job(job).expected_end(), at_seconds(30));
  desk.at(40);
  EXPECT_EQ(desk.take_over(), "");
  EXPECT_TRUE(desk.controller().resume());
  EXPECT_GT(desk.job(job).expected_end(), at_seconds(40));
  EXPECT_EQ(desk.job(job).corrections, 1);
}

// Its start was on its way, and so was what told it to stop: then the controller went away, and neither came.
TEST(Controller, AJobThatWasToStopAndNeverBeganIsQueuedAgain) {
  Desk desk("strict");
  const JobId first = desk.run(3, 10);
  const JobId head = desk.run(4, 10);
  const JobId beside = desk.run(1, 10);
  ASSERT_TRUE(desk.runs(beside));
  desk.at(10);
  EXPECT_EQ(desk.tell(Finished{first}), "");
  EXPECT_EQ(desk.tell_and_decide(Overdue{beside}), "");
  ASSERT_TRUE(desk.job(beside).stopping);
  EXPECT_EQ(desk.take_over(), "");
  EXPECT_TRUE(desk.controller().resume());
  EXPECT_TRUE(desk.waits(beside));
  EXPECT_EQ(desk.job(beside).kills, 1);
  EXPECT_TRUE(desk.runs(head));
}

TEST(Controller, AJobThatWasToGiveWayAndNeverBeganIsQueuedAgain) {
  Desk desk("easy+preempt=requeue");
  const JobId low = desk.run(4, 10);
  JobSpec spec = desk.asking(4, 10);
  spec.priority = 1;
  const JobId high = desk.controller().submit(spec);
  EXPECT_EQ(desk.decide(), "");
  ASSERT_TRUE(desk.job(low).leaving);
  EXPECT_EQ(desk.take_over(), "");
  EXPECT_TRUE(desk.controller().resume());
  EXPECT_TRUE(desk.waits(low));
  EXPECT_EQ(desk.job(low).preemptions, 1);
  EXPECT_TRUE(desk.runs(high));
}

TEST(Controller, AJobIsNotOverdueBeforeItsTimeNorTwice) {
  Desk desk("easy+overrun=grace");
  const JobId job = desk.run(1, 10);
  desk.at(9);
  expect_refused(desk, Overdue{job}, "job 1 is said to be overdue, and it has time left; nothing was changed.");
  desk.at(10);
  EXPECT_EQ(desk.tell(Overdue{job}), "");
  expect_refused(desk, Overdue{job}, "job 1 is said to be overdue, and that is known; nothing was changed.");
  EXPECT_EQ(desk.view().overdue().size(), 1U);
}

TEST(Controller, AClockThatGoesBackStandsStill) {
  Desk desk("easy");
  desk.at(100);
  const JobId job = desk.run(1, 10);
  desk.at(50);
  const JobId later = desk.run(1, 10);
  EXPECT_EQ(desk.view().now(), at_seconds(100));
  EXPECT_EQ(desk.job(later).start, at_seconds(100));
  EXPECT_EQ(desk.tell_and_decide(Finished{job}), "");
  ASSERT_EQ(desk.left().size(), 1U);
  EXPECT_EQ(desk.left()[0].second.run_time(), Duration{0});
  desk.controller().ring();
  EXPECT_TRUE(desk.controller().health());
  EXPECT_EQ(desk.view().now(), at_seconds(100));
}

TEST(Controller, NoJobKeepsMoreWorkThanItHasDone) {
  Desk desk("fcfs+preempt=suspend");
  const JobId low = desk.run(4, 100);
  desk.at(10);
  const JobId high = desk.run(4, 10, 1);
  ASSERT_TRUE(desk.job(low).leaving);
  const std::string sentence = "job 1 is said to keep more work than it can have done; nothing was changed.";
  expect_refused(desk, Vacated{low, Duration{-1}}, sentence);
  EXPECT_EQ(desk.tell_and_decide(Vacated{low, seconds(11)}), "");
  EXPECT_EQ(desk.job(low).done, seconds(10));
  EXPECT_TRUE(desk.runs(high));
  expect_refused(desk, Vacated{low, seconds(10)},
                 "job 1 is said to have given way, and it waits; nothing was changed.");
}

TEST(Controller, NoJobIsQueuedAgainWithoutTime) {
  Desk desk("easy");
  const JobId job = desk.run(1, 10);
  const std::string sentence = "job 1 is queued again with no time to run, or too much; nothing was changed.";
  expect_refused(desk, Requeued{job, Duration{0}}, sentence);
  expect_refused(desk, Requeued{job, Duration{-5}}, sentence);
  expect_refused(desk, Requeued{job, kLongest + Duration{1}}, sentence);
  EXPECT_EQ(desk.tell_and_decide(Requeued{job, seconds(20)}), "");
  EXPECT_TRUE(desk.runs(job));
  EXPECT_EQ(desk.job(job).expected, seconds(20));
  EXPECT_EQ(desk.view().request(job).limit, seconds(10));
}

TEST(Controller, NodesThatAreNotThereAreSaidToBeSo) {
  Desk counted("easy");
  const std::string none =
      "something is said of the node with id 0, and the cluster has 0 described nodes; nothing was changed.";
  expect_refused(counted, PowerChanged{NodeId{0}, PowerState::off}, none);
  expect_refused(counted, HealthChanged{NodeId{0}, Health::down}, none);
  expect_refused(counted, Serving{NodeId{0}, true}, none);
  Desk desk("easy", on_two_nodes());
  const std::string two =
      "something is said of the node with id 2, and the cluster has 2 described nodes; nothing was changed.";
  expect_refused(desk, PowerChanged{NodeId{2}, PowerState::off}, two);
  expect_refused(desk, HealthChanged{NodeId{2}, Health::down}, two);
  expect_refused(desk, Serving{NodeId{2}, true}, two);
}

TEST(Controller, PowerAndHealthAreToldOnce) {
  Desk desk("easy", on_two_nodes());
  const NodeId n1{1};
  const std::string again = "node n1 is said to be what it is already; nothing was changed.";
  expect_refused(desk, PowerChanged{n1, PowerState::on}, again);
  EXPECT_EQ(desk.tell(PowerChanged{n1, PowerState::off}), "");
  expect_refused(desk, PowerChanged{n1, PowerState::off}, again);
  expect_refused(desk, PowerChanged{n1, PowerState::booting},
                 "node n1 is said to be on its way, which only who ordered it can know; nothing was changed.");
  expect_refused(desk, HealthChanged{n1, Health::up}, again);
  EXPECT_EQ(desk.tell(HealthChanged{n1, Health::draining}), "");
  expect_refused(desk, HealthChanged{n1, Health::draining}, again);
  EXPECT_EQ(desk.tell(PowerChanged{n1, PowerState::on}), "");
  EXPECT_FALSE(desk.view().nodes().available(n1));
  EXPECT_EQ(desk.tell(HealthChanged{n1, Health::up}), "");
  EXPECT_TRUE(desk.view().nodes().available(n1));
}

TEST(Controller, ABusyNodeIsNotOffBeforeItsJobsAre) {
  Desk desk("easy", on_two_nodes());
  const JobId job = desk.run(4, 10);
  expect_refused(desk, PowerChanged{NodeId{0}, PowerState::off},
                 "node n0 is said to be off while jobs run there; what became of these must be said first.");
  EXPECT_EQ(desk.tell_and_decide(HealthChanged{NodeId{0}, Health::down}), "");
  EXPECT_TRUE(desk.runs(job));
  EXPECT_EQ(desk.tell(Requeued{job, seconds(10)}), "");
  EXPECT_EQ(desk.tell_and_decide(PowerChanged{NodeId{0}, PowerState::off}), "");
  EXPECT_TRUE(desk.waits(job));
  EXPECT_EQ(desk.view().free(), 2);
  EXPECT_EQ(desk.tell(PowerChanged{NodeId{0}, PowerState::on}), "");
  EXPECT_EQ(desk.tell_and_decide(HealthChanged{NodeId{0}, Health::up}), "");
  EXPECT_TRUE(desk.runs(job));
}

TEST(Controller, LicencesAreCountedThatThereAre) {
  Desk desk("easy", on_two_nodes());
  expect_refused(desk, LicencesCounted{LicenceId{1}, 1},
                 "licences are counted that the cluster does not have; nothing was changed.");
  expect_refused(desk, LicencesCounted{{}, 1},
                 "licences are counted that the cluster does not have; nothing was changed.");
  const std::string sentence = "of licence solver fewer than none or too many are counted; nothing was changed.";
  expect_refused(desk, LicencesCounted{LicenceId{0}, -1}, sentence);
  expect_refused(desk, LicencesCounted{LicenceId{0}, INT64_MAX}, sentence);
  EXPECT_EQ(desk.tell(LicencesCounted{LicenceId{0}, 5}), "");
  EXPECT_EQ(desk.view().nodes().licences_free(LicenceId{0}), -2);
  Desk counted("easy");
  expect_refused(counted, LicencesCounted{LicenceId{0}, 1},
                 "licences are counted that the cluster does not have; nothing was changed.");
}

// The new policy would never take them back, and every job that starts would break them.
TEST(Controller, PromisesOfThePolicyBeforeEndWithIt) {
  Desk before("conservative", {.processors = 12});
  before.run(8, 100);
  before.run(10, 20);
  before.run(12, 20);
  ASSERT_EQ(before.view().promised().size(), 2U);
  Desk after("fcfs-skip", {.processors = 12});
  for (const Fact& fact : before.controller().snapshot()) ASSERT_TRUE(after.controller().replay(fact));
  after.controller().under_other_rules(true);
  EXPECT_TRUE(after.controller().resume());
  EXPECT_TRUE(after.view().promised().empty());
  EXPECT_TRUE(after.runs(after.run(3, 2000)));
  for (int i = 0; i < 40; ++i) {  // until the referee has looked at all promises together
    const JobId small = after.run(1, 5);
    EXPECT_TRUE(after.runs(small));
    EXPECT_EQ(after.tell_and_decide(Finished{small}), "");
  }
}

TEST(Controller, TermsThatMakeNoSenseAreRefused) {
  Desk desk("easy", on_two_nodes());
  desk.run(4, 10);
  const JobId job = desk.run(1, 10);
  const auto refused = [&](const auto& change, const std::string& sentence) {
    JobTerms terms = desk.terms_of(job);
    change(terms);
    expect_refused(desk, Amended{job, terms}, sentence);
  };
  const std::string time = "job 2 is to have no time to run, or too much; give a limit above 0.";
  refused([](JobTerms& t) { t.limit = Duration{0}; }, time);
  refused([](JobTerms& t) { t.limit = Duration{-1}; }, time);
  refused([](JobTerms& t) { t.limit = kLongest + Duration{1}; }, time);
  refused([](JobTerms& t) { t.partition = PartitionId{2}; },
          "job 2 is to go to a partition that the cluster does not have; nothing was changed.");
  refused([](JobTerms& t) { t.partition = PartitionId{1}, t.limit = seconds(61); },
          "job 2 asks for a time limit of 01:01; partition short allows 01:00; nothing was changed.");
  refused([&](JobTerms& t) { t.after = {{job, Dependency::When::ended}}; },
          "job 2 is to wait for itself; nothing was changed.");
  refused([](JobTerms& t) { t.after = {{JobId{9}, Dependency::When::ended}}; },
          "the job with id 9 is waited for, and there is none: it has ended before or was never submitted; nothing was "
          "changed.");
}

TEST(Controller, NoJobWaitsForAJobThatHasEnded) {
  Desk desk("easy");
  const JobId first = desk.run(4, 10);
  const JobId job = desk.run(1, 10);
  EXPECT_EQ(desk.tell(Finished{first}), "");
  JobTerms terms = desk.terms_of(job);
  terms.after = {{first, Dependency::When::ended}};
  expect_refused(desk, Amended{job, terms}, "job 1 is waited for, and it has ended; nothing was changed.");
}

TEST(Controller, NoJobWaitsForItselfByWayOfOthers) {
  Desk desk("easy");
  desk.run(4, 10);
  std::vector<JobId> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(desk.run(1, 10));
  const auto waits_for = [&](std::size_t which, std::size_t on) {
    JobTerms terms = desk.terms_of(jobs[which]);
    terms.after = {{jobs[on], Dependency::When::started}};
    return Amended{jobs[which], terms};
  };
  EXPECT_EQ(desk.tell(waits_for(0, 1)), "");
  EXPECT_EQ(desk.tell(waits_for(1, 2)), "");
  expect_refused(desk, waits_for(2, 0), "job 4 is to wait for itself, by way of others; nothing was changed.");
  expect_refused(desk, waits_for(1, 0), "job 3 is to wait for itself, by way of others; nothing was changed.");
}

}  // namespace
}  // namespace rota
