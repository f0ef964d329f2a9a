#include "report/reserved.h"

#include <gtest/gtest.h>

namespace rota::report {
namespace {

TEST(Reserved, NamesNodesProcessorsAndTimes) {
  Machine machine = Machine::counted(64);
  EXPECT_TRUE(reservations_of(machine, 0).empty());
  EXPECT_EQ(reserved_text({}), "");
  for (const char* name : {"n1", "n2", "n3"}) {
    Node& node = machine.nodes.emplace_back();
    node.name = name;
    node.processors = 8;
  }
  machine.reservations = {
      {.id = ReservationId{0}, .from = at_seconds(3600), .until = at_seconds(7200), .nodes = {NodeId{0}, NodeId{2}}},
      {.id = ReservationId{1}, .from = at_seconds(86'400), .until = kNever, .processors = 5}};
  EXPECT_EQ(reserved_text(reservations_of(machine, 0)),
            "Reserved, so that no job is given it: n1 to n3 (2 nodes, 16 processors) from day 0, 01:00:00 to day 0, "
            "02:00:00; 5 processors from day 1, 00:00:00 to the end.");
}

TEST(Reserved, CountsTheRestOfALongList) {
  const std::vector<std::string> many(25, "x");
  EXPECT_TRUE(reserved_text(many).ends_with("; x; and 5 more."));
}

}  // namespace
}  // namespace rota::report
