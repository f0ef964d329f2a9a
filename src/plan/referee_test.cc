// Plans that are broken on purpose, one breach each.
#include "plan/referee.h"

#include <gtest/gtest.h>

#include "model/world_test.h"
#include "plan/watched_fold.h"

namespace rota {
namespace {

constexpr Reason kBeside{Rule::beside_promise, {}, kNever, 0, 0};
constexpr Reason kInTime{Rule::ends_before_promise, {}, kNever, 0, 0};

// A world, the referee that has watched it come about, and a plan to be judged.
class RefereeTest : public testing::Test {
 protected:
  template <class Kind>
  void tell(const Kind& what) {
    watched_fold(world_.cluster(), referee_, world_.cluster().sequence() + 1, what);
  }
  JobId waiting(const Asking& asks) {
    const JobId id = world_.waiting(asks);
    referee_.judge(world_.cluster(), Submitted{id, world_.job(id).spec});
    return id;
  }
  JobId running(const Asking& asks) {
    const JobId id = waiting(asks);
    tell(Started{id});
    return id;
  }
  void ends(JobId id) { tell(Finished{id}); }
  void preempted(JobId job, JobId beneficiary) { tell(Preempted{job, beneficiary}); }
  void vacated(JobId job) { tell(Vacated{job, seconds(1)}); }
  Plan& plan_at(std::int64_t second) {
    world_.at(second);
    plan_.open(world_.cluster());
    return plan_;
  }
  std::string breach() { return referee_.check(world_.cluster(), plan_).value_or("none"); }
  // The sweep over everything is paid from a credit that each plan earns.
  std::string breach_found_in_time() {
    std::string found = breach();
    for (int i = 0; i < 100 && found == "none"; ++i) found = breach();
    return found;
  }

  World world_{4};
  Referee referee_;
  Plan plan_;
};

TEST_F(RefereeTest, PassesASoundPlanOfEasy) {
  running({3, 10});
  const JobId head = waiting({4, 5});
  const JobId short_one = waiting({1, 8});
  Plan& plan = plan_at(2);
  plan.promise(head, at_seconds(10));
  plan.start(short_one, kInTime, true);
  EXPECT_EQ(breach_found_in_time(), "none");
  EXPECT_GT(referee_.checks(), 0);
}

TEST_F(RefereeTest, CatchesAJobThatPassesOneWhoseStartCanBeForeseen) {
  constexpr std::int64_t kNoLimit = kLongest / seconds(1);
  const JobId endless = running({3, kNoLimit});
  const JobId head = waiting({4, 5});
  const JobId other = waiting({1, kNoLimit});
  const JobId short_one = waiting({1, 5});
  const Reason passes{Rule::passes_unforeseen, head, kNever, 1, 4};
  const auto plan = [&](JobId passer, Instant promise) {
    Plan& draft = plan_at(2);
    draft.start(passer, passes, true);
    draft.promise(head, promise);
    return breach();
  };
  const Instant far = at_seconds(2) + kLongest;
  EXPECT_EQ(plan(other, far), "none");
  EXPECT_EQ(plan(short_one, far), "job 4 passes another job and has an end in sight");
  EXPECT_EQ(plan(other, at_seconds(10)), "job 3 passes job 2, whose start can be foreseen");
  tell(CycleClosed{});
  ends(endless);
  plan_at(3).start(head, {}, false);
  EXPECT_EQ(breach(), "none");
}

Reason in_favour_of(JobId beneficiary) { return {Rule::outranked, beneficiary, kNever, 0, 0}; }

TEST_F(RefereeTest, PassesThatALowerPriorityGivesWay) {
  const JobId low = running({4, 10});
  const JobId high = waiting({4, 10, 1});
  plan_at(1).preempt(low, in_favour_of(high));
  EXPECT_EQ(breach(), "none");
}

TEST_F(RefereeTest, CatchesThatAnEqualGivesWay) {
  const JobId one = running({4, 10, 1});
  const JobId other = waiting({4, 10, 1});
  plan_at(1).preempt(one, in_favour_of(other));
  EXPECT_EQ(breach(), "job 1 is preempted for job 2, whose priority is no higher");
}

TEST_F(RefereeTest, CatchesThatAJobGivesWayToNoWaitingJob) {
  const JobId low = running({2, 10});
  const JobId high = running({2, 10, 1});
  plan_at(1).preempt(low, in_favour_of(high));
  EXPECT_EQ(breach(), "job 1 is preempted for no job that waits");
  plan_at(1).preempt(low, in_favour_of({}));
  EXPECT_EQ(breach(), "job 1 is preempted for no job that waits");
}

TEST_F(RefereeTest, CatchesThatTooLittleIsFreed) {
  const JobId low = running({1, 10});
  running({2, 10, 2});
  const JobId high = waiting({3, 10, 1});
  plan_at(1).preempt(low, in_favour_of(high));
  EXPECT_EQ(breach(), "jobs are preempted in vain: job 3 and those before it need 1 processor more than that frees");
}

TEST_F(RefereeTest, CatchesThatAJobIsPreemptedTwice) {
  const JobId low = running({4, 10});
  const JobId high = waiting({4, 10, 1});
  Plan& plan = plan_at(1);
  plan.preempt(low, in_favour_of(high));
  plan.preempt(low, in_favour_of(high));
  EXPECT_EQ(breach(), "job 1 is preempted twice");
}

TEST_F(RefereeTest, CatchesThatALeavingJobIsPreemptedAgain) {
  const JobId low = running({4, 10});
  const JobId high = waiting({4, 10, 1});
  plan_at(1);
  preempted(low, high);
  plan_at(1).preempt(low, in_favour_of(high));
  EXPECT_EQ(breach(), "job 1 is preempted and is leaving already");
}

TEST_F(RefereeTest, CatchesThatTheBeneficiaryDoesNotStart) {
  const JobId low = running({4, 10});
  const JobId high = waiting({4, 10, 1});
  plan_at(1);
  preempted(low, high);
  vacated(low);
  plan_at(1);
  EXPECT_EQ(breach(), "job 1 was preempted in vain: job 2 does not start in its place");
  plan_at(1).start(high, {}, false);
  EXPECT_EQ(breach(), "none");
}

TEST_F(RefereeTest, CatchesThatAJobThatGaveWayStartsAgainAtOnce) {
  const JobId low = running({1, 10});
  const JobId larger = running({3, 10});
  const JobId high = waiting({3, 10, 1});
  plan_at(1);
  preempted(low, high);
  preempted(larger, high);
  vacated(low);
  vacated(larger);
  Plan& plan = plan_at(1);
  plan.start(high, {}, false);
  plan.start(low, {Rule::skipped_ahead, {}, kNever, 0, 0}, false);
  EXPECT_EQ(breach(), "job 1 is preempted and started again at one instant");
}

TEST_F(RefereeTest, CatchesAStartThatDoesNotFit) {
  running({3, 10});
  const JobId two = waiting({2, 5});
  plan_at(2).start(two, {}, false);
  EXPECT_EQ(breach(),
            "job 2 is started although it does not fit: the starts at 2 s need 1 processor more than are free");
}

TEST_F(RefereeTest, CatchesTheFirstOfSeveralStartsThatNoLongerFits) {
  const JobId one = waiting({3, 5}), two = waiting({2, 5}), three = waiting({1, 5});
  Plan& plan = plan_at(2);
  for (const JobId id : {one, two, three}) plan.start(id, {}, false);
  EXPECT_EQ(breach(),
            "job 2 is started although it does not fit: the starts at 2 s need 2 processors more than are free");
}

TEST_F(RefereeTest, CatchesAJobThatIsStartedTwice) {
  const JobId one = waiting({1, 5});
  Plan& plan = plan_at(2);
  plan.start(one, {}, false);
  plan.start(one, {}, false);
  EXPECT_EQ(breach(), "job 1 is started but is not waiting");
}

TEST_F(RefereeTest, CatchesTheStartOfAJobThatRuns) {
  const JobId one = running({1, 5});
  plan_at(2).start(one, {}, false);
  EXPECT_EQ(breach(), "job 1 is started but is not waiting");
}

TEST_F(RefereeTest, CatchesTheStartOfAJobThatHasEnded) {
  const JobId one = running({1, 5});
  ends(one);
  plan_at(2).start(one, {}, false);
  EXPECT_EQ(breach(), "job 1 is started but is not waiting");
}

TEST_F(RefereeTest, CatchesAKillOfAJobThatWaits) {
  const JobId one = waiting({1, 5});
  plan_at(2).kill(one, {Rule::harms_nobody, {}, kNever, 0, 0});
  EXPECT_EQ(breach(), "job 1 is killed, extended or moved but is not running");
}

TEST_F(RefereeTest, CatchesAKillBeforeTheLimitWhateverReasonIsGiven) {
  const JobId one = running({1, 5});
  plan_at(4).kill(one, {Rule::harms_nobody, {}, kNever, 0, 0});
  EXPECT_EQ(breach(), "job 1 is killed before its time is up");
  plan_at(4).kill(one, {Rule::promise_due, {}, kNever, 0, 0});
  EXPECT_EQ(breach(), "job 1 is killed before its time is up");
  plan_at(5).kill(one, {Rule::harms_nobody, {}, kNever, 0, 0});
  EXPECT_EQ(breach(), "none");
}

TEST_F(RefereeTest, CatchesAKillByPredictionAlone) {
  const JobId one = running({1, 50});
  tell(Expected{one, seconds(10)});
  plan_at(10).kill(one, {Rule::harms_nobody, {}, kNever, 0, 0});
  EXPECT_EQ(breach(), "job 1 is killed before its limit, and no promise is due");
}

TEST_F(RefereeTest, CatchesAStartFromBehindAsIfItWereItsTurn) {
  waiting({1, 5});
  const JobId two = waiting({1, 5});
  plan_at(2).start(two, {}, false);
  EXPECT_EQ(breach(), "job 2 is started as if it were its turn, and it is not");
}

TEST_F(RefereeTest, CatchesABackfillThatTakesWhatThePromisedJobNeeds) {
  running({3, 10});
  const JobId head = waiting({4, 5}), long_one = waiting({1, 100});
  world_.promise(head, 10);
  plan_at(2).start(long_one, kBeside, true);
  EXPECT_EQ(breach(), "job 2 was promised 10 s, and the plan's starts take what it needs then");
}

TEST_F(RefereeTest, CatchesAPromiseThatTheSamePlanSpoils) {
  running({3, 10});
  const JobId head = waiting({4, 5}), long_one = waiting({1, 100});
  Plan& plan = plan_at(2);
  plan.promise(head, at_seconds(10));
  plan.start(long_one, kBeside, true);
  EXPECT_EQ(breach(), "job 2 is promised 10 s, when too few processors are free");
}

TEST_F(RefereeTest, CatchesABackfillThatPutsTheHeadOff) {
  running({3, 10});
  const JobId head = waiting({4, 5}), long_one = waiting({1, 100});
  world_.promise(head, 10);
  Plan& plan = plan_at(2);
  plan.start(long_one, kBeside, true);
  plan.promise(head, at_seconds(102));
  EXPECT_EQ(breach(),
            "job 2 was promised 10 s and is put off to 102 s although nothing but the plan stands in its way");
}

TEST_F(RefereeTest, CatchesAPromiseOfAnImpossibleTime) {
  running({3, 10});
  const JobId head = waiting({4, 5});
  plan_at(2).promise(head, at_seconds(9));
  EXPECT_EQ(breach(), "job 2 is promised 9 s, when too few processors are free");
  plan_at(3).promise(head, at_seconds(2));
  EXPECT_EQ(breach(), "job 2 is promised a start that is already past");
}

TEST_F(RefereeTest, CatchesAPromiseThatIsPutOffForNoReason) {
  running({3, 10});
  const JobId head = waiting({4, 5});
  world_.promise(head, 10);
  plan_at(2).promise(head, at_seconds(11));
  EXPECT_EQ(breach(), "job 2 was promised 10 s and is put off to 11 s although nothing but the plan stands in its way");
}

TEST_F(RefereeTest, ExcusesAPromiseThatAnOverrunHasBroken) {
  const JobId one = running({3, 10});
  const JobId head = waiting({4, 5});
  world_.promise(head, 10);
  world_.at(10);
  tell(Overdue{one});
  plan_at(10).promise(head, at_seconds(10) + Duration{1});
  EXPECT_EQ(breach(), "none");
}

TEST_F(RefereeTest, CatchesThatTheHeadLosesItsPromise) {
  running({3, 10});
  const JobId head = waiting({4, 5});
  world_.promise(head, 10);
  plan_at(2).promise(head, kNever);
  EXPECT_EQ(breach(), "job 2 is first in the queue and loses its promise");
}

TEST_F(RefereeTest, ExcusesThatAJobLosesItsPromiseToOneOfHigherPriority) {
  running({3, 10});
  const JobId two = waiting({4, 5});
  world_.promise(two, 10);
  const JobId three = waiting({4, 5, 1});
  Plan& plan = plan_at(2);
  plan.promise(two, kNever);
  plan.promise(three, at_seconds(10));
  EXPECT_EQ(breach(), "none");
}

TEST_F(RefereeTest, CatchesTwoPromisesThatTogetherNeedTooMuch) {
  running({3, 10});
  const JobId two = waiting({3, 5}), three = waiting({2, 5});
  world_.promise(two, 10);
  world_.promise(three, 12);
  plan_at(2);
  EXPECT_EQ(breach_found_in_time(),
            "job 3 is promised 12 s, when promises and running jobs together need 5 processors");
}

TEST_F(RefereeTest, CatchesAStateThatItsOwnLedgerContradicts) {
  running({3, 10});
  world_.fold(Started{waiting({1, 5})});  // the referee was not told that it started
  plan_at(2);
  EXPECT_EQ(breach_found_in_time(), "the index of running jobs contradicts the jobs themselves");
}

// Two nodes of two processors; jobs that ask for so many nodes.
class RefereeOnNodes : public testing::Test {
 protected:
  static Machine two_nodes() {
    Machine machine = Machine::counted(4);
    machine.nodes = {{"a", 2, 0, {}}, {"b", 2, 0, {}}};
    machine.accelerator_types = {"gpu", "fpga"};
    for (Node& node : machine.nodes) {
      node.accelerators = 2;
      node.accelerator_type = AcceleratorTypeId{static_cast<std::uint8_t>(node.name == "b" ? 1 : 0)};
    }
    return machine;
  }
  static ClusterOptions options(const Machine& machine) {
    ClusterOptions options = World::counted(4);
    options.machine = &machine;
    return options;
  }
  static Placement on(std::uint32_t node, std::uint32_t processors) { return {{{NodeId{node}, processors}}, {}}; }

  JobId waiting(std::uint32_t processors, std::uint32_t nodes, std::int64_t limit) {
    return submitted(processors, nodes, limit, 0, {});
  }
  JobId with_accelerators(std::uint8_t accelerators, std::int64_t limit, AcceleratorTypeId type = {}) {
    return submitted(1, 1, limit, accelerators, type);
  }
  JobId submitted(std::uint32_t processors, std::uint32_t nodes, std::int64_t limit, std::uint8_t accelerators,
                  AcceleratorTypeId type) {
    JobSpec spec;
    spec.number = ++numbers_;
    spec.processors = processors;
    spec.nodes = nodes;
    spec.limit = seconds(limit);
    spec.accelerators = accelerators;
    spec.accelerator_type = type;
    return told(spec);
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
  JobId running(std::uint32_t processors, std::int64_t limit, const Placement& where) {
    return starts(waiting(processors, 0, limit), where);
  }
  JobId starts(JobId id, const Placement& where) {
    tell(Started{id, false, where});
    return id;
  }
  Plan& plan_at(std::int64_t second) {
    cluster_.open_cycle(at_seconds(second));
    plan_.open(cluster_);
    return plan_;
  }
  std::string breach_found_in_time() {
    std::string found;
    for (int i = 0; i < 100 && found.empty(); ++i) found = referee_.check(cluster_, plan_).value_or("");
    return found;
  }

  Machine machine_ = two_nodes();
  Cluster cluster_{options(machine_)};
  Referee referee_;
  Plan plan_;
  std::int64_t numbers_ = 0;
};

TEST_F(RefereeOnNodes, CatchesAJobThatIsNotSpreadAsItAsks) {
  const JobId pair = waiting(2, 2, 5);
  plan_at(1).start_at(pair, on(0, 2), {}, false);
  EXPECT_EQ(breach_found_in_time(), "job 1 is not spread evenly over as many nodes as it asks for");
}

TEST_F(RefereeOnNodes, CatchesAPlaceThatNamesANodeTwice) {
  const JobId pair = waiting(2, 2, 5);
  plan_at(1).start_at(pair, {{{NodeId{0}, 1}, {NodeId{0}, 1}}, {}}, {}, false);
  EXPECT_EQ(breach_found_in_time(), "job 1 is given node a twice");
}

TEST_F(RefereeOnNodes, CatchesABackfillOnTheNodeThatIsSetAside) {
  running(1, 10, on(0, 1));
  const JobId head = waiting(2, 1, 5);
  const JobId long_one = waiting(1, 1, 100);
  running(2, 10, on(1, 2));
  Plan& plan = plan_at(2);
  plan.promise_at(head, at_seconds(10), on(0, 2));
  EXPECT_EQ(breach_found_in_time(), "");
  plan.start_at(long_one, on(0, 1), kBeside, true);
  EXPECT_EQ(breach_found_in_time(), "running jobs and what is set aside together need more than node a has at 10 s");
}

// The plan itself is told that nothing is held there: only the referee's ledger knows of the accelerators.
TEST_F(RefereeOnNodes, CatchesAStartOnAcceleratorsThatAreHeld) {
  starts(with_accelerators(1, 10), on(0, 1));
  const JobId two = with_accelerators(2, 5);
  plan_at(1).start_at(two, on(0, 1), {}, false);
  EXPECT_EQ(breach_found_in_time(), "job 2 is started on node a, which has no room for it");
  plan_at(1).start_at(two, on(1, 1), {}, false);
  EXPECT_EQ(breach_found_in_time(), "");
}

TEST_F(RefereeOnNodes, CatchesAcceleratorsOfAnotherType) {
  const JobId picky = with_accelerators(1, 5, AcceleratorTypeId{1});
  plan_at(1).start_at(picky, on(0, 1), {}, false);
  EXPECT_EQ(breach_found_in_time(), "job 1 is given node a, which has no accelerators of the type that it asks for");
}

TEST_F(RefereeOnNodes, CatchesAPromiseOnAcceleratorsThatAreSetAside) {
  starts(with_accelerators(2, 10), on(0, 1));
  starts(with_accelerators(2, 20), on(1, 1));
  const JobId head = with_accelerators(2, 5);
  const JobId second = with_accelerators(1, 5);
  Plan& plan = plan_at(2);
  plan.promise_at(head, at_seconds(10), on(0, 1));
  EXPECT_EQ(breach_found_in_time(), "");
  plan.promise_at(second, at_seconds(12), on(0, 1));
  EXPECT_EQ(breach_found_in_time(), "running jobs and what is set aside together need more than node a has at 12 s");
}

TEST_F(RefereeOnNodes, CatchesAPromiseThatMovesLaterForNoReason) {
  running(1, 10, on(0, 1));
  running(2, 20, on(1, 2));
  const JobId head = waiting(2, 1, 5);
  tell(Promised{head, at_seconds(10), on(0, 2)});
  Plan& plan = plan_at(2);
  plan.promise_at(head, at_seconds(20), on(1, 2));
  EXPECT_EQ(breach_found_in_time(),
            "job 3 loses the place that it was promised although nothing but the plan stands in its way");
}

TEST_F(RefereeOnNodes, LetsAPromiseMoveThatAnOverrunHasBroken) {
  const JobId late = running(1, 10, on(0, 1));
  running(2, 20, on(1, 2));
  const JobId head = waiting(2, 1, 5);
  tell(Promised{head, at_seconds(10), on(0, 2)});
  tell(Expected{late, seconds(15)});
  Plan& plan = plan_at(2);
  plan.promise_at(head, at_seconds(15), on(0, 2));
  EXPECT_EQ(breach_found_in_time(), "");
}

}  // namespace
}  // namespace rota
