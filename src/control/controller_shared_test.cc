// A cluster that others use too: what its engine says of it is taken in, and what is not ours is left alone.
#include <gtest/gtest.h>

#include "control/desk_test.h"

namespace rota {
namespace {

std::shared_ptr<const Machine> nodes(std::uint32_t count, std::uint32_t processors) {
  Machine machine;
  for (std::uint32_t i = 0; i < count; ++i) machine.nodes.push_back({"n" + std::to_string(i), processors, 0, {}});
  machine.processors = std::int64_t{count} * processors;
  machine.racks = {""};
  return std::make_shared<const Machine>(std::move(machine));
}

class ControllerShared : public testing::Test {
 protected:
  Desk desk_{"easy", {.machine = nodes(2, 4), .confirms_starts = true, .shared = true}};

  void SetUp() override { desk_.engine().can.confirms_starts = desk_.engine().can.shared = true; }
  std::string resumes() {
    if (std::string why = desk_.take_over(); !why.empty()) return why;
    const auto resumed = desk_.controller().resume();
    return resumed ? "" : resumed.error().message;
  }

  JobId of_others(std::uint32_t processors, std::int64_t limit) {
    return desk_.controller().submit(desk_.asking(processors, limit), kNotOurs);
  }
  std::string found(JobId job, std::int64_t since, const std::vector<Share>& shares) {
    const auto taken = desk_.controller().record(Found{job, {shares}}, at_seconds(since));
    return taken ? desk_.decide() : taken.error().message;
  }
  JobId ours_runs(std::uint32_t processors, std::int64_t limit) {
    const JobId job = desk_.run(processors, limit);
    desk_.tell(Launched{job});
    return job;
  }
  std::size_t commands() { return desk_.engine().commands.size(); }
};

TEST_F(ControllerShared, AnEndThatIsHeardLateCountsFromWhenItCame) {
  const JobId job = ours_runs(1, 100);
  desk_.at(90);
  ASSERT_TRUE(desk_.controller().record(Finished{job}, at_seconds(30)));
  EXPECT_EQ(desk_.job(job).end, at_seconds(30));
  EXPECT_EQ(desk_.log().facts.back().late, seconds(60));
  EXPECT_EQ(desk_.log().facts.back().happened(), at_seconds(30));
}

TEST_F(ControllerShared, NothingHappensBeforeItCouldOrAfterNow) {
  desk_.at(50);
  const JobId early = ours_runs(1, 100);
  const JobId late = ours_runs(1, 100);
  desk_.at(60);
  ASSERT_TRUE(desk_.controller().record(Finished{early}, at_seconds(10)));
  ASSERT_TRUE(desk_.controller().record(Finished{late}, at_seconds(70)));
  EXPECT_EQ(desk_.job(early).end, at_seconds(50)) << "not before its start";
  EXPECT_EQ(desk_.job(late).end, at_seconds(60));
}

TEST_F(ControllerShared, AJobOfOthersIsNeverStartedAndIsFoundToRun) {
  const JobId job = of_others(3, 100);
  desk_.decide();
  EXPECT_EQ(commands(), 0U);
  EXPECT_TRUE(desk_.barred(job));
  desk_.at(20);
  EXPECT_EQ(found(job, 5, {{NodeId{0}, 3}}), "");
  EXPECT_TRUE(desk_.runs(job));
  EXPECT_EQ(desk_.job(job).start, at_seconds(5));
  EXPECT_EQ(desk_.view().nodes().free_on(NodeId{0}), 1);
  EXPECT_EQ(desk_.tell_and_decide(Requeued{job, seconds(100)}), "");
  EXPECT_TRUE(desk_.barred(job)) << "and is not ours now either";
  EXPECT_EQ(commands(), 0U);
}

TEST_F(ControllerShared, ANodeThatOthersOverfillIsWithheldUntilItHasRoom) {
  const JobId first = of_others(4, 100);
  const JobId second = of_others(4, 200);
  EXPECT_EQ(found(first, 0, {{NodeId{0}, 4}}), "");
  EXPECT_EQ(found(second, 0, {{NodeId{0}, 4}}), "") << "no room is no reason to deny what is so";
  EXPECT_EQ(desk_.view().nodes().free_on(NodeId{0}), -4);
  EXPECT_EQ(desk_.view().nodes().overdrawn_count(), 1U);
  const JobId runs = ours_runs(4, 50);
  EXPECT_EQ(desk_.view().placement(runs).shares[0].node, NodeId{1});
  const JobId waits = desk_.run(8, 50);
  EXPECT_EQ(desk_.job(waits).promise, at_seconds(200)) << "all of the first node is free only then";
  desk_.at(100);
  EXPECT_EQ(desk_.tell_and_decide(Finished{first}), "");
  EXPECT_EQ(desk_.view().nodes().overdrawn_count(), 0U);
  EXPECT_EQ(desk_.take_over(), "") << "a snapshot has it too";
}

TEST_F(ControllerShared, WhatAnOperatorStartsByHandIsFoundThoughAPlanWaitedWithIt) {
  ours_runs(8, 100);
  const JobId waits = desk_.run(2, 100);
  EXPECT_EQ(desk_.job(waits).promise, at_seconds(100));
  desk_.at(10);
  EXPECT_EQ(found(waits, 8, {{NodeId{1}, 2}}), "");
  EXPECT_TRUE(desk_.runs(waits));
  EXPECT_EQ(desk_.job(waits).promise, kNever);
  EXPECT_EQ(desk_.view().nodes().free_on(NodeId{1}), -2);
}

TEST_F(ControllerShared, AJobIsFoundElsewhereThanWasThought) {
  const JobId job = ours_runs(2, 100);
  EXPECT_EQ(found(job, 0, {{NodeId{0}, 1}, {NodeId{1}, 1}}), "");
  EXPECT_EQ(desk_.view().nodes().free_on(NodeId{0}), 3);
  EXPECT_EQ(desk_.view().nodes().free_on(NodeId{1}), 3);
  EXPECT_EQ(desk_.job(job).start, at_seconds(0)) << "it runs on all the while";
}

TEST_F(ControllerShared, HowAJobEndedMayBeUnknown) {
  const JobId runs = ours_runs(1, 100);
  const JobId waits = of_others(8, 100);
  desk_.at(500);
  EXPECT_EQ(desk_.tell(Finished{runs, Outcome::unknown}), "");
  EXPECT_EQ(desk_.tell(Finished{waits, Outcome::unknown}), "") << "whether it ever ran, nothing tells";
  EXPECT_NE(desk_.tell(Finished{desk_.submit(1, 10), Outcome::completed}), "");
  desk_.decide();
  ASSERT_EQ(desk_.left().size(), 2U);
  for (const auto& [id, job] : desk_.left()) EXPECT_EQ(job.state, JobState::unknown);
}

TEST_F(ControllerShared, ALostJobIsNotRunAgainWhereTheEngineForgets) {
  desk_.engine().can.remembers = seconds(300);
  JobSpec spec = desk_.asking(1, 100);
  spec.restart = Restart::from_start;
  const JobId job = desk_.controller().submit(spec);
  desk_.decide();
  desk_.tell(Launched{job});
  desk_.at(1000);
  EXPECT_EQ(resumes(), "");
  EXPECT_FALSE(desk_.runs(job));
  ASSERT_EQ(desk_.left().size(), 1U);
  EXPECT_EQ(desk_.left()[0].second.state, JobState::unknown);
}

TEST_F(ControllerShared, WhatTheEngineDoesNotKnowYetIsNotLost) {
  const JobId job = ours_runs(1, 100);
  desk_.engine().seen.complete = false;
  EXPECT_EQ(resumes(), "");
  EXPECT_TRUE(desk_.runs(job));
}

TEST_F(ControllerShared, AnIncompleteLookAtAnotherRunEndsNoJob) {
  const JobId job = ours_runs(1, 100);
  desk_.engine().seen.complete = false;
  desk_.engine().seen.jobs = {{.job = job, .runs = false, .dispatch = desk_.job(job).dispatch + 7}};
  EXPECT_EQ(resumes(), "");
  EXPECT_TRUE(desk_.runs(job));
}

TEST_F(ControllerShared, AnAuthorityMayBreakALawOfOurs) {
  const JobId job = of_others(4, 100);
  EXPECT_EQ(found(job, 0, {{NodeId{0}, 4}}), "");
  desk_.at(60);
  EXPECT_EQ(desk_.tell_and_decide(LimitChanged{job, seconds(30)}), "") << "less than it has run";
  EXPECT_EQ(desk_.job(job).spec.limit, seconds(30));
  EXPECT_EQ(desk_.tell_and_decide(PowerChanged{NodeId{0}, PowerState::off}), "") << "while a job runs there";
  EXPECT_FALSE(desk_.view().nodes().available(NodeId{0}));
  EXPECT_EQ(desk_.tell_and_decide(Finished{job, Outcome::node_failed}), "");
  EXPECT_EQ(commands(), 0U);
}

TEST_F(ControllerShared, AJobThatWasLostWithItsNodeHasEnded) {
  JobSpec spec = desk_.asking(1, 100);
  spec.restart = Restart::from_start;
  const JobId job = desk_.controller().submit(spec);
  EXPECT_EQ(desk_.decide(), "");
  desk_.tell(Launched{job});
  EXPECT_EQ(desk_.tell(Finished{job, Outcome::node_failed}), "");
  EXPECT_EQ(desk_.job(job).state, JobState::node_failed) << "its manager would have said that it waits again";
}

TEST(ControllerAlone, StartsAJobOverThatWasLostWithItsNode) {
  Desk desk("easy", {.machine = nodes(2, 4)});
  JobSpec spec = desk.asking(1, 100);
  spec.restart = Restart::from_start;
  const JobId job = desk.controller().submit(spec);
  EXPECT_EQ(desk.decide(), "");
  EXPECT_EQ(desk.tell(Finished{job, Outcome::node_failed}), "");
  EXPECT_EQ(desk.job(job).state, JobState::waiting);
}

TEST(ControllerAlone, AJobIsCancelledThatAnOperatorHasQueuedAgainMeanwhile) {
  Desk desk("easy", {.machine = nodes(2, 4)});
  JobSpec spec = desk.asking(1, 100);
  spec.restart = Restart::from_start;
  const JobId job = desk.controller().submit(spec);
  EXPECT_EQ(desk.decide(), "");
  EXPECT_TRUE(desk.controller().requeue(job));
  EXPECT_EQ(desk.tell(Finished{job, Outcome::cancelled}), "");
  EXPECT_EQ(desk.job(job).state, JobState::cancelled) << "its owner was first";
}

TEST(ControllerAlone, DeniesWhatBreaksItsLaws) {
  Desk desk("easy", {.machine = nodes(2, 4)});
  const JobId job = desk.run(4, 100);
  desk.at(60);
  EXPECT_NE(desk.tell(LimitChanged{job, seconds(30)}), "");
  EXPECT_NE(desk.tell(PowerChanged{NodeId{0}, PowerState::off}), "");
}

TEST_F(ControllerShared, NothingIsToldAJobOfOthersWhoseTimeIsUp) {
  const JobId job = of_others(4, 100);
  EXPECT_EQ(found(job, 0, {{NodeId{0}, 4}}), "");
  desk_.at(101);
  EXPECT_EQ(desk_.tell_and_decide(Overdue{job}), "");
  EXPECT_EQ(commands(), 0U);
  EXPECT_TRUE(desk_.view().overdue().empty());
}

Described described(std::uint32_t id, const std::string& name, std::uint32_t processors) {
  Described node;
  node.node = NodeId{id};
  node.is.name = name;
  node.is.processors = processors;
  return node;
}

TEST_F(ControllerShared, NodesComeAndGrowAndGo) {
  const JobId waits = desk_.controller().submit(desk_.asking(12, 100), kNotOurs);
  EXPECT_EQ(desk_.tell_and_decide(described(2, "n9", 4)), "");
  EXPECT_EQ(desk_.view().options().processors, 12);
  EXPECT_EQ(desk_.tell_and_decide(Released{waits, kNotOurs}), "");
  EXPECT_TRUE(desk_.runs(waits)) << "on the new one too";
  EXPECT_EQ(desk_.tell_and_decide(described(0, "n0", 2)), "");
  EXPECT_EQ(desk_.view().nodes().free_on(NodeId{0}), -2) << "a node that shrinks is overdrawn by what runs there";
  EXPECT_EQ(desk_.tell_and_decide(described(1, "n1", 0)), "");
  EXPECT_EQ(desk_.view().power().health(NodeId{1}), Health::down);
  EXPECT_EQ(desk_.view().options().processors, 6);
  EXPECT_EQ(desk_.take_over(), "") << "the machine is a part of the state";
  EXPECT_EQ(desk_.view().options().processors, 6);
  EXPECT_EQ(desk_.view().options().machine->nodes[2].name, "n9");
  EXPECT_EQ(desk_.machine()->nodes.size(), 2U) << "and the one that it began with is as it was";
}

TEST(ControllerAlone, APromisedPlaceThatLeavesThePartitionIsNoPlace) {
  for (const char* const policy : {"conservative", "easy+depth=3", "easy"}) {
    Machine machine = *nodes(2, 4);
    machine.partitions.resize(1);
    machine.partitions[0].name = "p";
    for (std::uint32_t n = 0; n < 2; ++n) {
      machine.nodes[n].partitions = {PartitionId{0}};
      machine.partitions[0].nodes.push_back(NodeId{n});
    }
    machine.partitions[0].processors = 8;
    Desk desk(policy, {.machine = std::make_shared<const Machine>(machine)});
    const auto in_partition = [&](std::int64_t limit) {
      JobSpec spec = desk.asking(4, limit);
      spec.partition = PartitionId{0};
      const JobId id = desk.controller().submit(spec);
      EXPECT_EQ(desk.decide(), "");
      return id;
    };
    const JobId lasts = in_partition(100);
    const JobId ends = in_partition(50);
    const JobId waits = in_partition(100);
    ASSERT_EQ(desk.job(waits).promise, at_seconds(50));
    Described leaves;
    leaves.node = desk.view().placement(ends).shares.front().node;
    leaves.is = machine.nodes[leaves.node.value];
    leaves.is.partitions.clear();
    EXPECT_EQ(desk.tell_and_decide(leaves), "");
    desk.at(50);
    EXPECT_EQ(desk.tell_and_decide(Finished{ends}), "") << policy;
    EXPECT_TRUE(desk.waits(waits)) << policy;
    desk.at(100);
    EXPECT_EQ(desk.tell_and_decide(Finished{lasts}), "") << policy;
    EXPECT_TRUE(desk.runs(waits)) << policy;
  }
}

TEST_F(ControllerShared, ANodeIsDescribedByItsName) {
  EXPECT_NE(desk_.tell(described(2, "n1", 4)), "") << "that is another's";
  EXPECT_NE(desk_.tell(described(4, "n9", 4)), "") << "not the next";
  EXPECT_NE(desk_.tell(described(2, "", 4)), "");
}

TEST_F(ControllerShared, UpToWhenTheEngineHasToldIsPartOfTheState) {
  EXPECT_EQ(desk_.tell(Surveyed{at_seconds(40)}), "");
  EXPECT_NE(desk_.tell(Surveyed{at_seconds(30)}), "");
  EXPECT_EQ(desk_.take_over(), "");
  EXPECT_EQ(desk_.view().surveyed(), at_seconds(40));
}

}  // namespace
}  // namespace rota
