// The referee and nodes that are not fit for use, licences that others use, and states that were taken over.
#include <gtest/gtest.h>

#include "model/snapshot.h"
#include "model/world_test.h"
#include "plan/referee.h"
#include "plan/watched_fold.h"

namespace rota {
namespace {

const Machine& two_nodes() {
  static const Machine kMachine = [] {
    Machine machine;
    for (int i = 0; i < 2; ++i) {
      Node& node = machine.nodes.emplace_back();
      node.name = "n" + std::to_string(i);
      node.processors = 2;
      node.memory = 8;
      machine.processors += 2;
    }
    machine.licences = {{"solver", 2}, {"mesher", 1}};
    return machine;
  }();
  return kMachine;
}

class RefereeHealthTest : public testing::Test {
 protected:
  static ClusterOptions options() {
    ClusterOptions options = World::counted(4);
    options.machine = &two_nodes();
    options.by_priority = true;
    return options;
  }
  template <class Kind>
  void tell(const Kind& what) {
    watched_fold(world_.cluster(), referee_, world_.cluster().sequence() + 1, what);
  }
  JobId waiting(std::uint32_t processors, std::int32_t priority = 0, std::uint32_t licences = 0) {
    JobSpec spec;
    spec.restart = Restart::from_start;
    spec.number = ++numbers_;
    spec.processors = processors;
    spec.memory = 1;  // so that counting does not suffice
    spec.limit = seconds(10);
    spec.priority = priority;
    if (licences > 0) spec.licence = LicenceId{0}, spec.licences = licences;
    const JobId id = world_.cluster().next_job();
    tell(Submitted{id, spec, spec.limit});
    return id;
  }
  static Placement on(std::uint32_t node, std::uint32_t processors) { return {{{NodeId{node}, processors}}, {1, 0}}; }
  Placement with_licences(Placement where, std::uint32_t count) {
    where.licence = LicenceId{0};
    where.licences = count;
    return where;
  }
  JobId running(std::uint32_t node, std::uint32_t processors, std::int32_t priority = 0) {
    const JobId id = waiting(processors, priority);
    tell(Started{id, false, on(node, processors)});
    return id;
  }
  Plan& plan_at(std::int64_t second) {
    world_.at(second);
    plan_.open(world_.cluster());
    return plan_;
  }
  std::string breach() { return referee_.check(world_.cluster(), plan_).value_or("none"); }

  World world_{options()};
  Referee referee_;
  Plan plan_;
  std::int64_t numbers_ = 0;
};

TEST_F(RefereeHealthTest, WhatIsUnusedOnADrainingNodeIsNotFree) {
  running(0, 1);
  const JobId job = waiting(3);
  tell(HealthChanged{NodeId{0}, Health::draining});
  plan_at(1);
  const Placement both{{{NodeId{1}, 2}, {NodeId{0}, 1}}, {1, 0}};
  plan_.start_at(job, both, {}, false);
  EXPECT_NE(breach(), "none");
  tell(HealthChanged{NodeId{0}, Health::up});
  plan_at(1);
  plan_.start_at(job, both, {}, false);
  EXPECT_EQ(breach(), "none");
}

TEST_F(RefereeHealthTest, RoomOnADrainingNodeIsNoReasonNotToPreempt) {
  const JobId low = running(1, 2);
  tell(HealthChanged{NodeId{0}, Health::draining});
  const JobId high = waiting(2, 1);
  plan_at(1).preempt(low, {Rule::outranked, high, kNever, 0, 0});
  EXPECT_EQ(breach(), "none");
  tell(HealthChanged{NodeId{0}, Health::up});
  plan_at(1).preempt(low, {Rule::outranked, high, kNever, 0, 0});
  EXPECT_EQ(breach(), "job 1 is preempted needlessly: job 2 has room without that");
}

TEST_F(RefereeHealthTest, APromiseOnANodeThatIsNoLongerFitMayMove) {
  running(0, 2);
  running(1, 2);
  const JobId head = waiting(2, 1);
  tell(Promised{head, at_seconds(10), on(0, 2)});
  plan_at(1).promise(head, at_seconds(20));
  EXPECT_NE(breach(), "none");
  tell(HealthChanged{NodeId{0}, Health::down});
  plan_at(1).promise(head, at_seconds(20));
  EXPECT_EQ(breach(), "none");
}

TEST_F(RefereeHealthTest, APromiseOfLicencesThatOthersTookMayBeWithdrawn) {
  running(0, 2);
  running(1, 2);
  const JobId head = waiting(2, 1, 2);
  tell(Promised{head, at_seconds(10), with_licences(on(0, 2), 2)});
  plan_at(1).promise(head, kNever);
  EXPECT_EQ(breach(), "job 3 is first in the queue and loses its promise");
  tell(LicencesCounted{LicenceId{0}, 1});
  plan_at(1).promise(head, kNever);
  EXPECT_EQ(breach(), "none");
}

TEST_F(RefereeHealthTest, AJobThatMovesNeedsNoLicenceHoweverManyOthersHaveTaken) {
  const JobId job = waiting(2, 0, 2);
  tell(Started{job, false, with_licences(on(0, 2), 2)});
  tell(LicencesCounted{LicenceId{0}, 2});
  plan_at(1).migrate(job, with_licences(on(1, 2), 2), {});
  EXPECT_EQ(breach(), "none");
  const JobId next = waiting(2, 0, 1);
  plan_at(1).start_at(next, with_licences(on(1, 2), 1), {}, false);
  EXPECT_EQ(breach(), "job 2 is started without a licence of solver");
}

TEST_F(RefereeHealthTest, NoJobStartsWithoutLicencesOfEveryKind) {
  const auto both = [&] {
    JobSpec spec;
    spec.number = ++numbers_;
    spec.memory = 1;
    spec.limit = seconds(10);
    set_licences(spec, {{LicenceId{0}, 1}, {LicenceId{1}, 1}});
    const JobId id = world_.cluster().next_job();
    tell(Submitted{id, spec, spec.limit});
    return id;
  };
  const auto with_both = [&](std::uint32_t node) {
    Placement where = with_licences(on(node, 1), 1);
    where.more_licences = {{LicenceId{1}, 1}};
    return where;
  };
  const JobId job = both();
  const JobId next = both();
  plan_at(1).start_at(job, with_both(0), {}, false);
  EXPECT_EQ(breach(), "none");
  tell(Started{job, false, with_both(0)});
  plan_at(1).start_at(next, on(1, 1), {}, false);
  EXPECT_EQ(breach(), "job 2 is started without a licence of mesher");
  tell(Finished{job, Outcome::completed});
  plan_at(2).start_at(next, with_both(1), {}, false);
  EXPECT_EQ(breach(), "none");
}

TEST_F(RefereeHealthTest, AStateThatWasTakenOverIsJudgedAsBefore) {
  running(0, 1);
  const JobId low = running(1, 2);
  tell(HealthChanged{NodeId{0}, Health::draining});
  tell(LicencesCounted{LicenceId{0}, 1});
  const JobId high = waiting(2, 1, 1);
  const JobId greedy = waiting(2, 1, 2);
  Cluster same(options());
  Referee after;
  for (const Fact& fact : Snapshot::facts_of(world_.cluster())) watched_fold(same, after, fact);
  Plan plan;
  const auto judged = [&](JobId beneficiary) {
    plan.open(same);
    plan.preempt(low, {Rule::outranked, beneficiary, kNever, 0, 0});
    return after.check(same, plan).value_or("none");
  };
  EXPECT_EQ(judged(high), "none");
  EXPECT_EQ(judged(greedy), "job 2 is preempted in vain: what is made free is not where job 4 can run");
}

}  // namespace
}  // namespace rota
