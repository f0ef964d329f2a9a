// What an operator reserves, takes back, and what is refused; and when that is looked at.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "control/controller.h"
#include "control/desk_test.h"

namespace rota {
namespace {

Reserved counted(std::uint32_t id, std::int64_t from, std::int64_t until, std::int64_t processors) {
  return {ReservationId{id}, at_seconds(from), at_seconds(until), {}, processors};
}
Reserved of_nodes(std::uint32_t id, std::int64_t from, std::int64_t until, const std::vector<NodeId>& nodes) {
  return {ReservationId{id}, at_seconds(from), at_seconds(until), nodes, 0};
}

TEST(Reservations, ThatMakeNoSenseAreRefused) {
  Desk desk("easy");
  desk.at(10);
  EXPECT_EQ(desk.tell(counted(1, 20, 30, 1)), "reservation 1 is made, and the next id is 0; nothing was changed.");
  EXPECT_EQ(desk.tell(counted(0, 30, 30, 1)),
            "reservation 0 ends before it begins, or at once; give an end after its beginning.");
  EXPECT_EQ(desk.tell(counted(0, 5, 10, 1)), "reservation 0 is over before it is made; give an end that is to come.");
  EXPECT_EQ(desk.tell({Reserved{ReservationId{0}, at_seconds(20), kNever, {}, 1}}),
            "reservation 0 is made for a time that cannot be.");
  EXPECT_EQ(desk.tell(counted(0, 20, 30, 0)), "reservation 0 reserves nothing; say how many processors.");
  EXPECT_EQ(desk.tell(counted(0, 20, 30, 5)),
            "reservation 0 asks for 5 processors, and the cluster has 4; reserve fewer.");
  EXPECT_EQ(desk.tell(of_nodes(0, 20, 30, {NodeId{0}})),
            "reservation 0 names nodes, and here processors are only counted; say how many of them.");
  EXPECT_EQ(desk.tell(counted(0, 20, 30, 3)), "");
  EXPECT_EQ(desk.tell(counted(0, 20, 30, 1)), "reservation 0 is made, and the next id is 1; nothing was changed.");
  EXPECT_EQ(desk.tell(counted(1, 10, 21, 2)),
            "reservation 1 asks for 2 processors when 3 are reserved already, and the cluster has 4; reserve fewer.");
  EXPECT_EQ(desk.tell(counted(1, 10, 20, 2)), "");
  EXPECT_EQ(desk.tell(counted(2, 30, 40, 4)), "");
}

TEST(Reservations, OfNodesNameNodesThatAreFree) {
  Desk desk("easy", on_nodes(2));
  EXPECT_EQ(desk.tell(counted(0, 20, 30, 1)),
            "reservation 0 counts processors, and here nodes are described; name the nodes.");
  EXPECT_EQ(desk.tell(of_nodes(0, 20, 30, {})), "reservation 0 reserves nothing; name its nodes.");
  EXPECT_EQ(desk.tell(of_nodes(0, 20, 30, {NodeId{2}})),
            "something is said of the node with id 2, and the cluster has 2 described nodes; nothing was changed.");
  EXPECT_EQ(desk.tell(of_nodes(0, 20, 30, {NodeId{1}, NodeId{1}})), "reservation 0 names node n1 twice; name it once.");
  EXPECT_EQ(desk.tell(of_nodes(0, 20, 30, {NodeId{1}})), "");
  EXPECT_EQ(desk.tell(of_nodes(1, 29, 40, {NodeId{0}, NodeId{1}})),
            "reservation 1 names node n1, which reservation 0 has for a part of that time; take another node or "
            "another time.");
  EXPECT_EQ(desk.tell(of_nodes(1, 30, 40, {NodeId{0}, NodeId{1}})), "");
}

TEST(Reservations, AreLookedAtWhenTheyBeginAndWhenTheyEndAndThenForgotten) {
  Desk desk("fcfs");
  EXPECT_EQ(desk.tell_and_decide(counted(0, 10, 20, 4)), "");
  EXPECT_EQ(desk.loop().next(), at_seconds(10));
  const JobId job = desk.run(2, 11);
  EXPECT_TRUE(desk.waits(job));
  desk.at(10);
  EXPECT_TRUE(desk.ring());
  EXPECT_EQ(desk.loop().next(), at_seconds(20));
  EXPECT_TRUE(desk.waits(job));
  desk.at(20);
  EXPECT_TRUE(desk.ring());
  EXPECT_TRUE(desk.runs(job));
  EXPECT_TRUE(desk.view().reservations().empty());
  EXPECT_EQ(desk.loop().next(), kNever);
  EXPECT_EQ(desk.tell(counted(0, 30, 40, 1)), "reservation 0 is made, and the next id is 1; nothing was changed.");
}

TEST(Reservations, ThatAreTakenBackLeaveTheirRoom) {
  Desk desk("easy");
  EXPECT_EQ(desk.tell_and_decide(counted(0, 0, 100, 3)), "");
  const JobId job = desk.run(2, 10);
  EXPECT_EQ(desk.job(job).promise, at_seconds(100));
  EXPECT_EQ(desk.tell_and_decide(Unreserved{ReservationId{0}}), "");
  EXPECT_TRUE(desk.runs(job));
  EXPECT_EQ(desk.tell(Unreserved{ReservationId{0}}),
            "reservation 0 is taken back, and there is none: it is over or was never made; nothing was changed.");
}

TEST(Reservations, ThatComeLaterMovePromises) {
  for (const char* policy : {"easy", "easy+depth=2", "conservative"}) {
    Desk desk(policy);
    desk.run(4, 10);
    const JobId job = desk.run(4, 10);
    EXPECT_EQ(desk.job(job).promise, at_seconds(10)) << policy;
    EXPECT_EQ(desk.tell_and_decide(counted(0, 15, 30, 1)), "") << policy;
    EXPECT_EQ(desk.job(job).promise, at_seconds(30)) << policy;
  }
}

TEST(Reservations, OnNodesThatComeLaterMovePromises) {
  for (const char* policy : {"easy", "easy+depth=2", "conservative"}) {
    Desk desk(policy, on_nodes(2));
    desk.run(4, 10);
    const JobId job = desk.run(4, 10);
    EXPECT_EQ(desk.job(job).promise, at_seconds(10)) << policy;
    EXPECT_EQ(desk.tell_and_decide(of_nodes(0, 15, 30, {NodeId{1}})), "") << policy;
    EXPECT_EQ(desk.job(job).promise, at_seconds(30)) << policy;
  }
}

// A controller that takes over goes on with what was reserved.
TEST(Reservations, AreKeptWhenAControllerTakesOver) {
  Desk desk("easy");
  EXPECT_EQ(desk.tell_and_decide(counted(0, 5, 100, 3)), "");
  const std::string before = desk.state();
  EXPECT_EQ(desk.take_over(), "");
  EXPECT_EQ(difference(before, desk.state()), "");
  EXPECT_TRUE(desk.controller().resume());
  const JobId job = desk.run(2, 10);
  EXPECT_EQ(desk.job(job).promise, at_seconds(100));
}

TEST(Reservations, ArePlainlyRefusedUnderPoliciesThatDoNotKeepThem) {
  const auto said_by = [](const std::string& policy) {
    Desk desk(policy);
    return desk.tell(counted(0, 10, 20, 1));
  };
  const auto sentence = [](const std::string& policy, const std::string& why) {
    return fmt::format("policy \"{}\" does not go with reservations, because {}. Leave that out, or the reservations.",
                       policy, why);
  };
  EXPECT_EQ(said_by("strict"),
            sentence("strict", "its overrun rule stops jobs for a promise without looking at what is reserved"));
  EXPECT_EQ(said_by("easy+preempt=suspend"),
            sentence("easy+preempt=suspend", "preempt makes room without looking at what is reserved"));
  EXPECT_EQ(said_by("easy+fixed=yes"),
            sentence("easy+fixed=yes", "fixed=yes keeps a promise as first made, whatever is reserved later"));
  for (const char* policy : {"rb-har", "grace", "easy+migrate=gain", "easy+power=demand", "easy+bind=node"}) {
    EXPECT_NE(said_by(policy), "") << policy;
  }
  for (const char* policy : {"fcfs", "fcfs-skip", "easy++", "conservative", "easy+overrun=run-on", "easy+overrun=5"}) {
    EXPECT_EQ(said_by(policy), "") << policy;
  }
}

}  // namespace
}  // namespace rota
