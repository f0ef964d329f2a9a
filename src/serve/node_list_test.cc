#include "serve/node_list.h"

#include <gtest/gtest.h>

namespace rota::serve {
namespace {

TEST(NodeList, names_are_told_in_order_of_their_numbers_however_they_come) {
  Machine machine;
  for (const char* name : {"n10", "n2", "login", "n9", "n11", "8", "rack1-n3", "n1"}) {
    Node node;
    node.name = name;
    machine.nodes.push_back(std::move(node));
  }
  std::vector<NodeId> all;
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) all.push_back(NodeId{n});
  EXPECT_EQ(node_list(machine, all), "8,login,n[1-2],n9,n[10-11],rack1-n3");
  EXPECT_EQ(node_list(machine, {}), "");
  const std::vector<std::pair<NodeId, int>> pairs{{NodeId{4}, 1}, {NodeId{0}, 2}};
  EXPECT_EQ(node_list(machine, pairs, [](const auto& pair) { return pair.first; }), "n[10-11]");
}

}  // namespace
}  // namespace rota::serve
