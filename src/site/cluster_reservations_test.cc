#include <gtest/gtest.h>

#include "site/cluster_file.h"

namespace rota::site {
namespace {

std::string on_nodes(const std::string& reservations) {
  std::string text = "[[nodes]]\nnames = \"n[1-4]\"\nprocessors = 2\n";
  text += reservations;
  return text;
}

std::string counted(const std::string& reservation) {
  std::string text = "processors = 8\n[[reservations]]\n";
  text += reservation;
  return text;
}

std::string complaint(const std::string& text) {
  const auto machine = parse_cluster(text, "c.toml");
  return machine ? "taken" : machine.error().message;
}

TEST(ClusterReservations, name_nodes_where_there_are_some) {
  const auto machine = parse_cluster(on_nodes("[[reservations]]\nstart = \"1h\"\nend = 7200\nnodes = \"n[2-3]\"\n"
                                              "[[reservations]]\nstart = 0\nend = \"1-00:00:00\"\nnodes = \"n4\"\n"),
                                     "c.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->reservations.size(), 2U);
  const Reservation& first = machine->reservations[0];
  EXPECT_EQ(first.id, ReservationId{0});
  EXPECT_EQ(first.from, at_seconds(3600));
  EXPECT_EQ(first.until, at_seconds(7200));
  EXPECT_EQ(first.nodes, (std::vector{NodeId{1}, NodeId{2}}));
  EXPECT_EQ(machine->reservations[1].id, ReservationId{1});
  EXPECT_EQ(machine->reservations[1].until, at_seconds(86'400));
}

TEST(ClusterReservations, count_processors_where_these_are_counted) {
  const auto machine = parse_cluster("processors = 8\n[[reservations]]\nstart = 10\nend = 20\nprocessors = 8\n", "c");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->reservations.at(0).processors, 8);
}

TEST(ClusterReservations, that_cannot_be_are_told_with_their_line) {
  EXPECT_EQ(complaint(counted("start = 20\nend = 20\nprocessors = 1\n")),
            "c.toml:2: reservation 0 ends before it begins, or at once; give an end after its beginning.");
  EXPECT_EQ(complaint(counted("start = 20\nend = 30\nprocessors = 9\n")),
            "c.toml:2: reservation 0 asks for 9 processors, and the cluster has 8; reserve fewer.");
  EXPECT_EQ(complaint(counted("start = 20\nend = 30\n")),
            "c.toml:2: reservation 0 reserves nothing; say how many processors.");
  EXPECT_EQ(complaint(counted("start = 20\nend = 30\nnodes = \"n1\"\n")),
            "c.toml:5: `nodes` speaks of nodes, and this cluster only counts processors. Say how many with "
            "`processors`.");
  EXPECT_EQ(complaint(counted("start = 20\nprocessors = 3\n")),
            "c.toml:2: [[reservations]] lacks `end`: when jobs can run there again.");
  EXPECT_EQ(complaint(counted("start = \"soon\"\nend = 30\nprocessors = 3\n")),
            "c.toml:3: `start` in [[reservations]] takes a time from second 0 of the log on, in seconds such as 86400 "
            "or as text such as \"1d\" or \"1-12:00:00\", or for a service a date such as \"2026-12-01T08:00Z\" or "
            "\"2026-12-01T08:00+01:00\", not \"soon\".");
  EXPECT_EQ(complaint(on_nodes("[[reservations]]\nstart = 20\nend = 30\nnodes = \"n5\"\n")),
            "c.toml:7: the reservation names node \"n5\", which no [[nodes]] table describes.");
  EXPECT_EQ(complaint(on_nodes("[[reservations]]\nstart = 20\nend = 30\nprocessors = 2\n")),
            "c.toml:4: reservation 0 counts processors, and here nodes are described; name the nodes.");
  EXPECT_EQ(complaint(on_nodes("[[reservations]]\nstart = 20\nend = 30\nnodes = \"n1,n1\"\n")),
            "c.toml:4: reservation 0 names node n1 twice; name it once.");
  EXPECT_EQ(complaint(on_nodes("[[reservations]]\nstart = 20\nend = 30\nnodes = \"n1\"\n[[reservations]]\nstart = "
                               "29\nend = 31\nnodes = \"n1\"\n")),
            "c.toml:8: reservation 1 names node n1, which reservation 0 has for a part of that time; take another node "
            "or another time.");
}

TEST(ClusterReservations, are_for_one_site) {
  EXPECT_EQ(
      complaint("[[sites]]\nname = \"a\"\nprocessors = 4\n[[reservations]]\nstart = 1\nend = 2\nprocessors = 1\n"),
      "c.toml:4: [[reservations]] are for one site, and there are [[sites]]. Remove one of the two.");
}

}  // namespace
}  // namespace rota::site
