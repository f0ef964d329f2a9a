#include "report/nodes_file.h"

#include <gtest/gtest.h>

#include <sstream>

namespace rota::report {
namespace {

NodeTotal slept_for_a_while() {
  NodeTotal node;
  node.name = "n1";
  node.processors = 4;
  node.work = 8000;
  node.idle = 1500;
  node.off = 30'000;
  node.cycles = 2;
  node.energy = 123'456'789;
  node.cost.millionths = 250'000;
  return node;
}

std::string written(const Outcome& outcome) {
  std::ostringstream out;
  write_nodes_csv(out, outcome);
  return out.str();
}

TEST(NodesFile, says_what_each_node_did) {
  Outcome outcome;
  outcome.nodes = {slept_for_a_while()};
  EXPECT_EQ(written(outcome), "node,processors,work_s,idle_s,off_s,cycles\nn1,4,8,1.500,30,2\n");
}

TEST(NodesFile, tells_energy_and_cost_where_they_are_known) {
  Outcome outcome;
  outcome.nodes = {slept_for_a_while()};
  outcome.power = PowerUse{};
  outcome.power->energy = 123'457;
  EXPECT_EQ(written(outcome), "node,processors,work_s,idle_s,off_s,cycles,energy_j\nn1,4,8,1.500,30,2,123.457\n");
  outcome.power->cost = 0.25;
  EXPECT_EQ(written(outcome),
            "node,processors,work_s,idle_s,off_s,cycles,energy_j,cost\nn1,4,8,1.500,30,2,123.457,0.25\n");
}

TEST(NodesFile, names_the_site_of_each) {
  Outcome outcome;
  outcome.sites = {"texel", "vlieland, west"};
  outcome.nodes = {slept_for_a_while()};
  outcome.nodes[0].site = SiteId{1};
  EXPECT_EQ(written(outcome),
            "node,processors,work_s,idle_s,off_s,cycles,site\nn1,4,8,1.500,30,2,\"vlieland, west\"\n");
}

}  // namespace
}  // namespace rota::report
