// Preemption on nodes and beside promises, and boots that fail: plans that are broken on purpose, one breach each.
#include <gtest/gtest.h>

#include "model/world_test.h"
#include "plan/watched_fold.h"

#include "model/cluster.h"
#include "plan/referee.h"

namespace rota {
namespace {

constexpr std::uint32_t kFirst = 0;
constexpr std::uint32_t kSecond = 1;

// Two nodes of two processors, of which the second alone is in partition 1; one licence.
Machine two_nodes() {
  Machine machine = Machine::counted(4);
  machine.partitions.resize(2);
  machine.default_partition = PartitionId{0};
  for (std::uint32_t i = 0; i < 2; ++i) {
    Node& node = machine.nodes.emplace_back();
    node.name = i == 0 ? "one" : "two";
    node.processors = 2;
    node.partitions = {PartitionId{0}};
    node.power.boot = seconds(10);
  }
  machine.nodes[1].partitions.push_back(PartitionId{1});
  machine.licences = {{"solver", 1}};
  return machine;
}

ClusterOptions options_of(const Machine& machine) {
  ClusterOptions options;
  options.processors = machine.processors;
  options.machine = &machine;
  options.waiting.by_queue = true;
  options.by_priority = true;
  options.wakes_for_promises = true;
  return options;
}

class RefereeOfPreemption : public testing::Test {
 protected:
  static JobSpec asks(std::uint32_t processors, std::int32_t priority, std::uint32_t partition = 0) {
    JobSpec spec;
    spec.processors = processors;
    spec.nodes = 1;
    spec.limit = seconds(100);
    spec.priority = priority;
    spec.partition = PartitionId{partition};
    return spec;
  }
  static JobSpec with_licence(JobSpec spec) {
    spec.licence = LicenceId{0};
    spec.licences = 1;
    return spec;
  }
  static Placement on(std::uint32_t node, const JobSpec& spec) {
    return {{{NodeId{node}, spec.processors}}, spec.per_node(), spec.licence, spec.licences};
  }

  template <class Kind>
  void tell(const Kind& what) {
    watched_fold(cluster_, referee_, cluster_.sequence() + 1, what);
  }
  JobId told(const JobSpec& spec) {
    const JobId id = cluster_.next_job();
    tell(Submitted{id, spec, spec.limit});
    return id;
  }
  JobId waiting(JobSpec spec) {
    spec.number = ++numbers_;
    return told(spec);
  }
  JobId running(const JobSpec& spec, std::uint32_t node) {
    const JobId id = waiting(spec);
    tell(Started{id, false, on(node, spec)});
    return id;
  }
  void gives_way(JobId job, JobId beneficiary) {
    tell(Preempted{job, beneficiary});
    tell(Vacated{job, seconds(1)});
  }
  void power(std::uint32_t node, PowerState state) {
    if (state == PowerState::booting || state == PowerState::shutting_down) {
      tell(PowerOrdered{NodeId{node}, state == PowerState::booting, at_seconds(10)});
    } else {
      tell(PowerChanged{NodeId{node}, state});
    }
  }
  Plan& plan_at(std::int64_t second) {
    cluster_.open_cycle(at_seconds(second));
    plan_.open(cluster_);
    return plan_;
  }
  std::string breach() { return referee_.check(cluster_, plan_).value_or("none"); }

  static Reason in_favour_of(JobId beneficiary) { return {Rule::outranked, beneficiary, kNever, 0, 0}; }

  Machine machine_ = two_nodes();
  Cluster cluster_{options_of(machine_)};
  Referee referee_;
  Plan plan_;
  std::int64_t numbers_ = 0;
};

TEST_F(RefereeOfPreemption, PassesThatAJobInTheWayGivesWay) {
  running(asks(2, 0), kFirst);
  const JobId there = running(asks(2, 1), kSecond);
  const JobId urgent = waiting(asks(2, 2, 1));
  plan_at(1).preempt(there, in_favour_of(urgent));
  EXPECT_EQ(breach(), "none");
}

TEST_F(RefereeOfPreemption, CatchesThatRoomIsMadeWhereTheBeneficiaryCannotRun) {
  const JobId elsewhere = running(asks(2, 0), kFirst);
  running(asks(2, 1), kSecond);
  const JobId urgent = waiting(asks(2, 2, 1));
  plan_at(1).preempt(elsewhere, in_favour_of(urgent));
  EXPECT_EQ(breach(), "job 1 is preempted in vain: what is made free is not where job 3 can run");
}

TEST_F(RefereeOfPreemption, CatchesThatAJobGivesWayNeedlessly) {
  const JobId elsewhere = running(asks(2, 0), kFirst);
  const JobId there = running(asks(2, 1), kSecond);
  const JobId urgent = waiting(asks(2, 2, 1));
  Plan& plan = plan_at(1);
  plan.preempt(there, in_favour_of(urgent));
  plan.preempt(elsewhere, in_favour_of(urgent));
  EXPECT_EQ(breach(), "job 1 is preempted needlessly: job 3 has room without that");
}

TEST_F(RefereeOfPreemption, PassesThatALicenceComesBackAndCatchesThatItDoesNot) {
  const JobId holder = running(with_licence(asks(1, 0)), kFirst);
  const JobId other = running(asks(1, 0), kFirst);
  const JobId urgent = waiting(with_licence(asks(1, 1)));
  plan_at(1).preempt(holder, in_favour_of(urgent));
  EXPECT_EQ(breach(), "none");
  plan_at(1).preempt(other, in_favour_of(urgent));
  EXPECT_EQ(breach(), "job 2 is preempted in vain: what is made free is not where job 3 can run");
}

TEST_F(RefereeOfPreemption, CatchesThatTheBeneficiaryStartsElsewhere) {
  const JobId there = running(asks(2, 0), kSecond);
  const JobId urgent = waiting(asks(2, 1));
  plan_at(1);
  gives_way(there, urgent);
  plan_at(1).start_at(urgent, on(kFirst, asks(2, 1)), {}, false);
  EXPECT_EQ(breach(), "job 1 was preempted in vain: job 2 starts elsewhere");
  plan_at(1).start_at(urgent, on(kSecond, asks(2, 1)), {}, false);
  EXPECT_EQ(breach(), "none");
}

// Between the two orders another job has come, so that the room of the first may be another's.
TEST_F(RefereeOfPreemption, PassesThatOneOfTwoPlacesIsThatOfAJobThatCameMeanwhile) {
  const JobId first = running(asks(2, 0), kFirst);
  const JobId second = running(asks(2, 0), kSecond);
  const JobId urgent = waiting(asks(2, 1));
  plan_at(1);
  tell(Preempted{first, urgent});
  const JobId other = waiting(asks(2, 1));
  tell(Preempted{second, urgent});
  tell(Vacated{first, seconds(1)});
  tell(Vacated{second, seconds(1)});
  Plan& plan = plan_at(1);
  plan.start_at(urgent, on(kFirst, asks(2, 1)), {}, false);
  plan.start_at(other, on(kSecond, asks(2, 1)), {}, false);
  EXPECT_EQ(breach(), "none");
}

// The plan in which it started was looked at by the controller of before, and not by this one.
TEST_F(RefereeOfPreemption, AsksForNothingThatWasBeforeAControllerTookOver) {
  const JobId there = running(asks(2, 0), kSecond);
  const JobId urgent = waiting(asks(2, 1));
  plan_at(1);
  gives_way(there, urgent);
  tell(Started{urgent, false, on(kSecond, asks(2, 1))});
  plan_at(1);
  EXPECT_EQ(breach(), "job 1 was preempted in vain: job 2 does not start in its place");
  tell(Opened{1});
  plan_at(1);
  EXPECT_EQ(breach(), "none");
}

TEST_F(RefereeOfPreemption, CatchesThatAnEqualLosesItsPromise) {
  const JobId low = running(asks(2, 0), kFirst);
  running(asks(2, 5), kSecond);
  const JobId urgent = waiting(asks(2, 1));
  const JobId equal = waiting(asks(2, 1, 1));
  tell(Promised{urgent, at_seconds(100), on(kFirst, asks(2, 1))});
  tell(Promised{equal, at_seconds(100), on(kSecond, asks(2, 1))});
  Plan& plan = plan_at(1);
  plan.preempt(low, in_favour_of(urgent));
  EXPECT_EQ(breach(), "none");
  plan.promise(equal, kNever);
  EXPECT_EQ(breach(), "job 4 loses its promise to job 3, whose priority is no higher");
}

TEST_F(RefereeOfPreemption, CatchesThatAStartTakesWhatAnEqualIsPromised) {
  const JobId low = running(asks(2, 0), kSecond);
  const JobId urgent = waiting(asks(2, 1));
  const JobId equal = waiting(asks(2, 1, 1));
  tell(Promised{urgent, at_seconds(200), on(kFirst, asks(2, 1))});
  tell(Promised{equal, at_seconds(50), on(kSecond, asks(2, 1))});
  plan_at(1);
  gives_way(low, urgent);
  plan_at(1).start_at(urgent, on(kSecond, asks(2, 1)), {}, false);
  EXPECT_EQ(breach(), "others give way to job 2, and a promise that stands cannot be kept beside it");
}

TEST_F(RefereeOfPreemption, CatchesThatANodeIsWokenWhoseBootHasJustFailed) {
  plan_at(0);
  power(kFirst, PowerState::shutting_down);
  power(kFirst, PowerState::off);
  power(kFirst, PowerState::booting);
  plan_at(10);
  power(kFirst, PowerState::off);
  plan_at(69).power_on(NodeId{kFirst}, {});
  EXPECT_EQ(breach(), "node one is woken although its boot has failed just now");
  plan_at(70).power_on(NodeId{kFirst}, {});
  EXPECT_EQ(breach(), "none");
}

}  // namespace
}  // namespace rota
