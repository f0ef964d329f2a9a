// Plans that take what is reserved, and those that leave it alone.
#include <gtest/gtest.h>

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
      machine.processors += 2;
    }
    return machine;
  }();
  return kMachine;
}

class RefereeReservedTest : public testing::TestWithParam<bool> {
 protected:
  bool on_nodes() const { return GetParam(); }
  static ClusterOptions options(bool nodes) {
    ClusterOptions options = World::counted(4);
    if (nodes) options.machine = &two_nodes();
    return options;
  }
  template <class Kind>
  void tell(const Kind& what) {
    watched_fold(world_.cluster(), referee_, world_.cluster().sequence() + 1, what);
  }
  // Half of the cluster, from second 10 to second 20.
  void reserve_half() {
    Reserved half{ReservationId{0}, at_seconds(10), at_seconds(20), {}, 2};
    if (on_nodes()) half.nodes = {NodeId{1}}, half.processors = 0;
    tell(half);
  }
  Placement on(std::uint32_t node, std::uint32_t processors) const {
    if (!on_nodes()) return {};
    return {{{NodeId{node}, processors}}};
  }
  JobId waiting(std::uint32_t processors, std::int64_t limit) {
    const JobId id = world_.waiting({processors, limit});
    referee_.judge(world_.cluster(), Submitted{id, world_.job(id).spec});
    return id;
  }
  JobId running(std::uint32_t node, std::uint32_t processors, std::int64_t limit) {
    const JobId id = waiting(processors, limit);
    tell(Started{id, false, on(node, processors)});
    return id;
  }
  Plan& plan_at(std::int64_t second) {
    world_.at(second);
    plan_.open(world_.cluster());
    return plan_;
  }
  void start(JobId job, std::uint32_t node, std::uint32_t processors) {
    if (on_nodes()) return plan_.start_at(job, on(node, processors), {}, false);
    plan_.start(job, {}, false);
  }
  void promise(JobId job, std::int64_t second, std::uint32_t node, std::uint32_t processors) {
    if (on_nodes()) return plan_.promise_at(job, at_seconds(second), on(node, processors));
    plan_.promise(job, at_seconds(second));
  }
  std::string breach() { return referee_.check(world_.cluster(), plan_).value_or("none"); }

  World world_{options(GetParam())};
  Referee referee_;
  Plan plan_;
};

TEST_P(RefereeReservedTest, PassesAJobThatIsOverBefore) {
  reserve_half();
  const JobId job = waiting(2, 10);
  plan_at(0);
  start(job, 1, 2);
  EXPECT_EQ(breach(), "none");
}

TEST_P(RefereeReservedTest, PassesAJobThatRunsBesideIt) {
  reserve_half();
  const JobId job = waiting(2, 15);
  plan_at(0);
  start(job, 0, 2);
  EXPECT_EQ(breach(), "none");
}

TEST_P(RefereeReservedTest, CatchesAStartThatReachesIntoIt) {
  reserve_half();
  running(0, 2, 30);
  const JobId job = waiting(1, 11);
  plan_at(0);
  start(job, 1, 1);
  EXPECT_EQ(breach(), on_nodes() ? "job 2 is started until 11 s on node n1, which is reserved from 10 s to 20 s"
                                 : "job 2 is started until 11 s and takes what is reserved from 10 s to 20 s");
}

// A job that ran before the reservation was known keeps what it has, and no job takes more.
TEST_P(RefereeReservedTest, CatchesAStartWhileARunningJobHoldsWhatIsReserved) {
  running(1, 2, 15);
  running(0, 1, 15);
  reserve_half();
  const JobId job = waiting(1, 11);
  Plan& plan = plan_at(0);
  EXPECT_EQ(breach(), "none");
  (void)plan;
  start(job, 0, 1);
  EXPECT_EQ(breach(), on_nodes() ? "none" : "job 3 is started until 11 s and takes what is reserved from 10 s to 20 s");
}

TEST_P(RefereeReservedTest, CatchesAPromiseThatLiesWithinIt) {
  running(0, 2, 30);
  running(1, 2, 5);
  reserve_half();
  const JobId job = waiting(2, 6);
  plan_at(0);
  promise(job, 5, 1, 2);
  EXPECT_EQ(breach(), on_nodes() ? "job 3 is promised 5 s on node n1, which is reserved from 10 s to 20 s"
                                 : "job 3 is promised 5 s and takes what is reserved from 10 s to 20 s");
  plan_at(0);
  promise(job, 20, 1, 2);
  EXPECT_EQ(breach(), "none");
}

TEST_P(RefereeReservedTest, CatchesAPromiseThatStandsAsBefore) {
  running(0, 2, 30);
  running(1, 2, 5);
  const JobId job = waiting(2, 6);
  tell(Promised{job, at_seconds(5), on(1, 2)});
  plan_at(0);
  EXPECT_EQ(breach(), "none");
  reserve_half();
  plan_at(0);
  EXPECT_NE(breach(), "none");
  tell(Unreserved{ReservationId{0}});
  plan_at(0);
  EXPECT_EQ(breach(), "none");
}

TEST_P(RefereeReservedTest, PassesAPromiseThatAReservationPutsOff) {
  running(0, 2, 30);
  running(1, 2, 5);
  const JobId job = waiting(2, 6);
  tell(Promised{job, at_seconds(5), on(1, 2)});
  reserve_half();
  plan_at(0);
  promise(job, 20, 1, 2);
  EXPECT_EQ(breach(), "none");
}

TEST_P(RefereeReservedTest, ForgetsWhatIsOver) {
  reserve_half();
  const JobId job = waiting(4, 10);
  plan_at(20);
  if (on_nodes()) {
    plan_.start_at(job, {{{NodeId{0}, 2}, {NodeId{1}, 2}}}, {}, false);
  } else {
    plan_.start(job, {}, false);
  }
  EXPECT_EQ(breach(), "none");
}

INSTANTIATE_TEST_SUITE_P(CountedAndOnNodes, RefereeReservedTest, testing::Bool());

}  // namespace
}  // namespace rota
