// Jobs that run in a reservation: when they start, where, and what becomes of those that it is over for.
#include <gtest/gtest.h>

#include "control/controller.h"
#include "control/desk_test.h"

namespace rota {
namespace {

Reserved reserved(std::uint32_t id, std::int64_t from, std::int64_t until, const std::vector<NodeId>& nodes) {
  return {ReservationId{id}, at_seconds(from), at_seconds(until), nodes, 0};
}

JobId submit_within(Desk& desk, std::uint32_t reservation, std::uint32_t processors, std::int64_t limit,
                    std::int32_t priority = 0) {
  JobSpec spec = desk.asking(processors, limit, priority);
  run_within(spec, ReservationId{reservation});
  const JobId id = desk.controller().submit(spec);
  desk.decide();
  return id;
}

// Rings whenever that is asked for until then: policy slurm looks at the queue each second at most.
void pass_until(Desk& desk, std::int64_t second) {
  while (desk.loop().next() < at_seconds(second)) {
    desk.loop().go_to(desk.loop().next());
    EXPECT_TRUE(desk.ring());
  }
  desk.at(second);
}

constexpr auto kPolicies = {"fcfs", "fcfs-skip", "easy", "easy++", "easy+depth=2", "conservative", "slurm"};

TEST(WithinReservations, JobsStartOnItsNodesAloneOnceItHasBegun) {
  for (const char* policy : kPolicies) {
    Desk desk(policy, on_nodes(3));
    EXPECT_EQ(desk.tell_and_decide(reserved(0, 10, 50, {NodeId{1}, NodeId{2}})), "") << policy;
    const JobId job = submit_within(desk, 0, 3, 20);
    const JobId other = desk.run(2, 100);
    pass_until(desk, 9);
    EXPECT_TRUE(desk.runs(other)) << policy;  // the job of the reservation is in the way of none
    EXPECT_TRUE(desk.waits(job)) << policy;
    desk.at(10);
    EXPECT_TRUE(desk.ring()) << policy;
    EXPECT_TRUE(desk.runs(job)) << policy;
    for (const Share& share : desk.view().placement(job).shares) EXPECT_GE(share.node, NodeId{1}) << policy;
    EXPECT_TRUE(desk.waits(desk.run(1, 5))) << policy;  // which is not of it, although a processor is free there
    EXPECT_TRUE(desk.runs(submit_within(desk, 0, 1, 5))) << policy;
  }
}

TEST(WithinReservations, TheFirstThatHasNoRoomIsWaitedForByPriority) {
  Desk desk("easy", on_nodes(2));
  EXPECT_EQ(desk.tell_and_decide(reserved(0, 0, 100, {NodeId{0}, NodeId{1}})), "");
  const JobId runs = submit_within(desk, 0, 3, 20);
  const JobId wide = submit_within(desk, 0, 4, 20);
  const JobId narrow = submit_within(desk, 0, 1, 20);
  EXPECT_TRUE(desk.runs(runs));
  EXPECT_TRUE(desk.waits(wide) && desk.waits(narrow));
  EXPECT_TRUE(desk.runs(submit_within(desk, 0, 1, 20, 5)));
}

TEST(WithinReservations, AJobThatNeverHasRoomThereShutsOutNone) {
  for (const char* policy : kPolicies) {
    Desk desk(policy, on_nodes(3));
    EXPECT_EQ(desk.tell_and_decide(reserved(0, 0, 50, {NodeId{0}, NodeId{1}})), "") << policy;
    const JobId wide = submit_within(desk, 0, 5, 20);
    const JobId narrow = submit_within(desk, 0, 1, 20);
    EXPECT_TRUE(desk.waits(wide)) << policy;
    EXPECT_TRUE(desk.runs(narrow)) << policy;
  }
}

TEST(WithinReservations, AJobThatWouldOutlastItIsPassedOverAndLaterWaitsLikeAllOthers) {
  for (const char* policy : kPolicies) {
    if (policy == std::string_view("slurm")) continue;
    Desk desk(policy, on_nodes(2));
    EXPECT_EQ(desk.tell_and_decide(reserved(0, 0, 50, {NodeId{0}})), "") << policy;
    const JobId longer = submit_within(desk, 0, 1, 51);
    const JobId shorter = submit_within(desk, 0, 1, 50);
    EXPECT_TRUE(desk.waits(longer)) << policy;
    EXPECT_TRUE(desk.runs(shorter)) << policy;
    EXPECT_EQ(desk.view().waiting().size(), 0) << policy;
    EXPECT_EQ(all_waiting(desk.view()), 1) << policy;
    desk.at(50);
    EXPECT_TRUE(desk.ring()) << policy;
    EXPECT_TRUE(desk.runs(longer)) << policy;
  }
}

TEST(WithinReservations, UnderSlurmAJobMayOutlastItWhereNoOtherOneFollows) {
  Desk desk("slurm", on_nodes(3));
  EXPECT_EQ(desk.tell_and_decide(reserved(0, 0, 50, {NodeId{0}})), "");
  EXPECT_EQ(desk.tell_and_decide(reserved(1, 0, 50, {NodeId{1}})), "");
  EXPECT_EQ(desk.tell_and_decide(reserved(2, 60, 70, {NodeId{1}})), "");
  EXPECT_TRUE(desk.runs(submit_within(desk, 0, 1, 200)));
  EXPECT_TRUE(desk.waits(submit_within(desk, 1, 1, 61)));
  EXPECT_TRUE(desk.runs(submit_within(desk, 1, 1, 60)));
}

TEST(WithinReservations, TakenBackItsJobsWaitLikeAllOthers) {
  Desk desk("easy", on_nodes(2));
  EXPECT_EQ(desk.tell_and_decide(reserved(0, 10, 50, {NodeId{0}})), "");
  const JobId job = submit_within(desk, 0, 1, 20);
  EXPECT_TRUE(desk.waits(job));
  EXPECT_EQ(desk.tell_and_decide(Unreserved{ReservationId{0}}), "");
  EXPECT_TRUE(desk.runs(job));
  EXPECT_TRUE(desk.runs(submit_within(desk, 0, 1, 20)));  // that reservation is no more
}

TEST(WithinReservations, OneAtATimeEachKeepsToItsOwn) {
  Desk desk("easy", on_nodes(3));
  EXPECT_EQ(desk.tell_and_decide(reserved(0, 0, 100, {NodeId{0}})), "");
  EXPECT_EQ(desk.tell_and_decide(reserved(1, 0, 100, {NodeId{1}})), "");
  EXPECT_TRUE(desk.runs(submit_within(desk, 0, 2, 20)));
  EXPECT_TRUE(desk.waits(submit_within(desk, 0, 1, 20)));
  EXPECT_TRUE(desk.runs(submit_within(desk, 1, 2, 20)));
}

TEST(WithinReservations, AreKeptWhenAControllerTakesOver) {
  Desk desk("easy", on_nodes(2));
  EXPECT_EQ(desk.tell_and_decide(reserved(0, 10, 100, {NodeId{0}})), "");
  const JobId job = submit_within(desk, 0, 1, 20);
  const std::string before = desk.state();
  EXPECT_EQ(desk.take_over(), "");
  EXPECT_EQ(difference(before, desk.state()), "");
  EXPECT_TRUE(desk.controller().resume());
  EXPECT_EQ(all_waiting(desk.view()), 1);
  EXPECT_EQ(desk.view().waiting().size(), 0);
  desk.at(10);
  EXPECT_TRUE(desk.ring());
  EXPECT_TRUE(desk.runs(job));
}

TEST(WithinReservations, JobsThatAreHeldOrCancelledLeaveItsQueue) {
  Desk desk("easy", on_nodes(2));
  EXPECT_EQ(desk.tell_and_decide(reserved(0, 0, 100, {NodeId{0}})), "");
  const JobId runs = submit_within(desk, 0, 2, 20);
  const JobId held = submit_within(desk, 0, 1, 20);
  const JobId cancelled = submit_within(desk, 0, 1, 20);
  EXPECT_TRUE(desk.runs(runs));
  EXPECT_EQ(desk.tell_and_decide(Held{held, kHeldByUser}), "");
  EXPECT_EQ(desk.tell_and_decide(Cancelled{cancelled}), "");
  EXPECT_EQ(all_waiting(desk.view()), 0);
  EXPECT_EQ(desk.tell_and_decide(Finished{runs, Outcome::completed, desk.job(runs).dispatch}), "");
  EXPECT_EQ(desk.tell_and_decide(Released{held, kHeldByUser}), "");
  EXPECT_TRUE(desk.runs(held));
}

}  // namespace
}  // namespace rota
