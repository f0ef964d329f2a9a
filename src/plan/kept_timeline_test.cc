#include "plan/kept_timeline.h"

#include <gtest/gtest.h>

#include "model/moment.h"
#include "model/world_test.h"

namespace rota {
namespace {

// Two nodes of four processors each. Jobs ask for so many processors of one node.
class KeptTimelines : public testing::Test {
 protected:
  using Promises = KeptTimeline::Promises;

  static Machine two_nodes() {
    Machine machine = Machine::counted(8);
    machine.racks = {""};
    machine.nodes = {{"a", 4, 0, {}}, {"b", 4, 0, {}}};
    return machine;
  }
  static ClusterOptions options(const Machine& machine) {
    ClusterOptions options = World::counted(8);
    options.machine = &machine;
    return options;
  }

  static JobSpec asks(std::uint32_t processors, std::int64_t limit) {
    JobSpec spec;
    spec.processors = processors;
    spec.nodes = 1;
    spec.limit = seconds(limit);
    return spec;
  }
  static Placement on(std::uint32_t node, std::uint32_t processors) { return {{{NodeId{node}, processors}}}; }
  JobId runs(std::uint32_t node, std::uint32_t processors, std::int64_t limit) {
    const JobId id = submit(world_.cluster(), asks(processors, limit));
    world_.fold(Started{id, false, on(node, processors)});
    return id;
  }
  JobId promised(std::uint32_t node, std::uint32_t processors, std::int64_t limit, std::int64_t second) {
    const JobId id = submit(world_.cluster(), asks(processors, limit));
    world_.fold(Promised{id, at_seconds(second), on(node, processors)});
    return id;
  }
  Instant earliest(std::uint32_t processors, std::int64_t limit) {
    Placement where;
    return kept_.timeline().earliest(asks(processors, limit), seconds(limit), where);
  }

  Machine machine_ = two_nodes();
  World world_{options(machine_)};
  const View& view_ = world_.cluster();
  KeptTimeline kept_;
};

TEST_F(KeptTimelines, WhatRunsAndWhatIsPromisedIsNotFree) {
  runs(0, 4, 100);
  runs(1, 4, 50);
  promised(1, 4, 30, 50);
  EXPECT_TRUE(kept_.follow(view_, Promises::drawn));
  EXPECT_EQ(earliest(1, 10), at_seconds(80));
}

TEST_F(KeptTimelines, WhatEndsEarlyIsFreeFromThenOn) {
  runs(0, 4, 100);
  const JobId ends = runs(1, 4, 50);
  EXPECT_TRUE(kept_.follow(view_, Promises::drawn));
  world_.at(20);
  world_.ends(ends);
  EXPECT_TRUE(kept_.follow(view_, Promises::drawn));
  EXPECT_EQ(earliest(4, 10), at_seconds(20));
}

TEST_F(KeptTimelines, APromiseBehindAJobThatOutstaysItsTimeCannotBeKept) {
  runs(0, 4, 100);
  runs(1, 4, 50);
  promised(1, 4, 30, 50);
  EXPECT_TRUE(kept_.follow(view_, Promises::drawn));
  world_.at(50);
  EXPECT_FALSE(kept_.follow(view_, Promises::drawn));
}

TEST_F(KeptTimelines, OnlyPromisesThatSomethingNewIsInTheWayOfLackRoom) {
  runs(0, 4, 100);
  runs(1, 4, 50);
  const JobId next = promised(1, 4, 30, 50);
  const JobId later = promised(1, 4, 30, 80);
  const JobId elsewhere = promised(0, 4, 30, 100);
  world_.at(50);
  EXPECT_FALSE(kept_.follow(view_, Promises::drawn));
  EXPECT_TRUE(kept_.lacks_room(kept_.hold_of(next)));
  EXPECT_FALSE(kept_.lacks_room(kept_.hold_of(later)));
  EXPECT_FALSE(kept_.lacks_room(kept_.hold_of(elsewhere)));
  kept_.lift(kept_.hold_of(next));
  EXPECT_EQ(earliest(4, 10), at_seconds(50) + kMoment) << "once the job that is overdue has ended";
}

TEST_F(KeptTimelines, APromiseWithoutAPlaceDoesNotStandYet) {
  world_.fold(Promised{submit(world_.cluster(), asks(1, 10)), at_seconds(5), {}});
  EXPECT_FALSE(kept_.follow(view_, Promises::drawn));
}

TEST_F(KeptTimelines, ReservedNodesAreNotFreeUntilTheReservationIsRemoved) {
  world_.fold(Reserved{view_.reservations().next_id(), at_seconds(5), at_seconds(60), {NodeId{0}, NodeId{1}}});
  EXPECT_TRUE(kept_.follow(view_, Promises::drawn));
  EXPECT_EQ(earliest(1, 10), at_seconds(60));
  world_.fold(Unreserved{view_.reservations().all().front().id});
  EXPECT_TRUE(kept_.follow(view_, Promises::drawn));
  EXPECT_EQ(earliest(1, 10), at_seconds(0));
}

TEST_F(KeptTimelines, AJobThatIsPromisedNothingAnyMoreLeavesItsPlace) {
  runs(0, 4, 100);
  const JobId waits = promised(1, 4, 30, 0);
  EXPECT_TRUE(kept_.follow(view_, Promises::drawn));
  EXPECT_EQ(earliest(1, 10), at_seconds(30));
  world_.fold(Promised{waits, kNever, {}});
  EXPECT_TRUE(kept_.follow(view_, Promises::drawn));
  EXPECT_EQ(earliest(1, 10), at_seconds(0));
}

TEST_F(KeptTimelines, APlanWithoutPromisesFindsNoneDrawn) {
  runs(0, 4, 100);
  promised(1, 4, 30, 0);
  EXPECT_TRUE(kept_.follow(view_, Promises::drawn));
  EXPECT_TRUE(kept_.follow(view_, Promises::left_out));
  EXPECT_EQ(earliest(1, 10), at_seconds(0));
  EXPECT_TRUE(kept_.follow(view_, Promises::drawn));
  EXPECT_EQ(earliest(1, 10), at_seconds(30));
}

TEST_F(KeptTimelines, ANodeThatIsDrainedIsNotFreeUntilItIsUpAgain) {
  runs(0, 4, 100);
  promised(1, 4, 30, 0);
  EXPECT_TRUE(kept_.follow(view_, Promises::drawn));
  world_.fold(HealthChanged{NodeId{1}, Health::draining});
  EXPECT_FALSE(kept_.follow(view_, Promises::drawn)) << "the promise is in the way";
  EXPECT_EQ(earliest(1, 10), at_seconds(100));
  world_.fold(HealthChanged{NodeId{1}, Health::up});
  EXPECT_TRUE(kept_.follow(view_, Promises::drawn));
  EXPECT_EQ(earliest(1, 10), at_seconds(30));
}

}  // namespace
}  // namespace rota
