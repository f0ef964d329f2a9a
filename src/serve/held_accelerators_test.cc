#include "serve/held_accelerators.h"

#include <gtest/gtest.h>

namespace rota::serve {
namespace {

TEST(HeldAccelerators, stand_with_their_nodes) {
  Machine machine;
  for (const std::uint32_t accelerators : {2U, 0U, 3U}) {
    Node node;
    node.accelerators = accelerators;
    machine.nodes.push_back(node);
  }
  const auto held = held_accelerators(machine, {4, 1, 3});
  EXPECT_EQ(held, (HeldAccelerators{{NodeId{0}, {1}}, {NodeId{2}, {3, 4}}}));
  EXPECT_TRUE(held_accelerators(machine, {}).empty());
}

}  // namespace
}  // namespace rota::serve
