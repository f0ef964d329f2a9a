#include "policy/bind/bind.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

constexpr RackId kRack{0};
constexpr NodeId kNone{};

std::vector<std::uint32_t> ids(std::span<const NodeId> nodes) {
  std::vector<std::uint32_t> values;
  for (const NodeId node : nodes) values.push_back(node.value);
  return values;
}
using Ids = std::vector<std::uint32_t>;
using Moves = std::vector<NodeBinding::Move>;
Moves moves(std::span<const NodeBinding::Move> span) { return {span.begin(), span.end()}; }

// Accelerator nodes 0, 1, ... with plain nodes 10, 11, ... dealt to them.
NodeBinding rack_with(std::uint32_t accelerator_nodes, std::uint32_t plain_nodes,
                      NodeBinding::Stop stop = NodeBinding::Stop::balanced) {
  NodeBinding binding(stop);
  for (std::uint32_t i = 0; i < accelerator_nodes; ++i) binding.join(NodeId{i}, kRack, true);
  for (std::uint32_t i = 0; i < plain_nodes; ++i) binding.join(NodeId{10 + i}, kRack, false);
  return binding;
}

TEST(NodeBinding, a_node_joins_the_smallest_stack_and_of_equal_ones_that_of_the_lowest_id) {
  const NodeBinding binding = rack_with(2, 3);
  EXPECT_EQ(ids(binding.stack(NodeId{0})), (Ids{10, 12}));
  EXPECT_EQ(ids(binding.stack(NodeId{1})), (Ids{11}));
  EXPECT_EQ(binding.bound_to(NodeId{0}), NodeId{0});
}

TEST(NodeBinding, without_an_accelerator_in_its_rack_a_node_waits_until_one_comes) {
  NodeBinding binding;
  binding.join(NodeId{5}, RackId{1}, true);  // in another rack
  EXPECT_TRUE(binding.join(NodeId{12}, kRack, false).empty());
  binding.join(NodeId{11}, kRack, false);
  EXPECT_EQ(binding.bound_to(NodeId{12}), kNone);
  EXPECT_EQ(moves(binding.join(NodeId{0}, kRack, true)),
            (Moves{{NodeId{11}, kNone, NodeId{0}}, {NodeId{12}, kNone, NodeId{0}}}));
  EXPECT_EQ(binding.bound_to(NodeId{12}), NodeId{0});
}

TEST(NodeBinding, a_new_accelerator_node_takes_from_the_tops_of_the_largest_stacks) {
  NodeBinding binding = rack_with(2, 8);  // 0: 10 12 14 16, 1: 11 13 15 17
  EXPECT_EQ(moves(binding.join(NodeId{2}, kRack, true)),
            (Moves{{NodeId{16}, NodeId{0}, NodeId{2}}, {NodeId{17}, NodeId{1}, NodeId{2}}}));
  EXPECT_EQ(ids(binding.stack(NodeId{2})), (Ids{16, 17}));
}

TEST(NodeBinding, the_printed_stop_test_is_passed_by_and_empties_the_other_stacks) {
  NodeBinding binding = rack_with(2, 8, NodeBinding::Stop::literal);
  EXPECT_EQ(binding.join(NodeId{2}, kRack, true).size(), 8U);
  EXPECT_TRUE(binding.stack(NodeId{0}).empty());
  EXPECT_TRUE(binding.stack(NodeId{1}).empty());
}

TEST(NodeBinding, the_printed_stop_test_is_right_where_it_is_hit) {
  NodeBinding binding = rack_with(1, 4, NodeBinding::Stop::literal);
  EXPECT_EQ(binding.join(NodeId{1}, kRack, true).size(), 2U);
}

TEST(NodeBinding, nodes_of_a_dead_accelerator_node_are_bound_anew) {
  NodeBinding binding = rack_with(3, 7);  // 0: 10 13 16, 1: 11 14, 2: 12 15
  EXPECT_EQ(moves(binding.leave(NodeId{0})), (Moves{{NodeId{10}, NodeId{0}, NodeId{1}},
                                                    {NodeId{13}, NodeId{0}, NodeId{2}},
                                                    {NodeId{16}, NodeId{0}, NodeId{1}}}));
}

TEST(NodeBinding, they_are_bound_in_order_of_their_ids_however_they_lay_in_the_stack) {
  NodeBinding binding = rack_with(1, 4);
  binding.join(NodeId{1}, kRack, true);
  EXPECT_EQ(ids(binding.stack(NodeId{1})), (Ids{13, 12}));
  binding.leave(NodeId{1});
  EXPECT_EQ(ids(binding.stack(NodeId{0})), (Ids{10, 11, 12, 13}));
}

TEST(NodeBinding, when_the_last_accelerator_node_of_a_rack_dies_its_nodes_are_unbound) {
  NodeBinding binding = rack_with(1, 2);
  EXPECT_EQ(moves(binding.leave(NodeId{0})), (Moves{{NodeId{10}, NodeId{0}, kNone}, {NodeId{11}, NodeId{0}, kNone}}));
  EXPECT_EQ(binding.bound_to(NodeId{10}), kNone);
  EXPECT_TRUE(binding.leave(NodeId{10}).empty());
}

TEST(NodeBinding, one_node_moves_when_deaths_would_leave_the_stacks_two_apart) {
  NodeBinding binding = rack_with(2, 6);  // 0: 10 12 14, 1: 11 13 15
  EXPECT_EQ(moves(binding.leave(NodeId{11})), (Moves{{NodeId{11}, NodeId{1}, kNone}}));
  EXPECT_EQ(moves(binding.leave(NodeId{15})),
            (Moves{{NodeId{15}, NodeId{1}, kNone}, {NodeId{14}, NodeId{0}, NodeId{1}}}));
}

TEST(NodeBinding, under_the_printed_rule_deaths_leave_the_stacks_as_they_are) {
  NodeBinding binding = rack_with(2, 6, NodeBinding::Stop::literal);
  for (const std::uint32_t node : {11U, 13U, 15U}) EXPECT_EQ(binding.leave(NodeId{node}).size(), 1U);
  EXPECT_EQ(binding.stack(NodeId{0}).size(), 3U);
}

TEST(NodeBinding, a_node_can_come_back_elsewhere) {
  NodeBinding binding = rack_with(1, 1);
  binding.join(NodeId{1}, RackId{1}, true);
  binding.leave(NodeId{10});
  binding.join(NodeId{10}, RackId{1}, false);
  EXPECT_EQ(binding.bound_to(NodeId{10}), NodeId{1});
  EXPECT_TRUE(binding.stack(NodeId{0}).empty());
}

}  // namespace
}  // namespace rota
